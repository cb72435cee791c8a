// SPDX-License-Identifier: Apache-2.0
// The option table: what each option of nvcc means for the cpu target.
#include <fmt/format.h>

#include <algorithm>

#include "option_parser.h"
#include "option_words.h"

namespace anygin::driver {

void OptionParser::describe() {
  describe_modes();
  describe_inputs();
  describe_architectures();
  describe_cuda();
  describe_host();
  describe_preprocessor();
  describe_dependencies();
  describe_glued();
  describe_ignored();
}

void OptionParser::describe_modes() {
  flag({"c", "compile", "dc", "device-c", "dw", "device-w"}, [this] { options().mode = Mode::kCompile; });
  flag({"E", "preprocess"}, [this] { options().mode = Mode::kPreprocess; });
  flag({"M", "MM", "generate-dependencies", "generate-nonsystem-dependencies"}, [this] {
    options().mode = Mode::kDependencies;
    const bool all = arguments_[at_] == "-M" || arguments_[at_] == "--generate-dependencies";
    options().dependencies.push_back(all ? "-M" : "-MM");
  });
  flag({"lib"}, [this] { options().mode = Mode::kArchive; });
  flag({"dlink", "device-link"}, [this] { options().mode = Mode::kDeviceLink; });
  flag({"link"}, [this] { options().mode = Mode::kLink; });
  flag({"rewrite"}, [this] { options().mode = Mode::kRewrite; });
  flag({"shared"}, [this] { options().shared = true; });
  flag({"version", "V"}, [this] { options().mode = Mode::kVersion; });
  flag({"help", "h"}, [this] { options().mode = Mode::kHelp; });
  flag({"run"}, [this] { options().run = true; });
  value({"run-args"}, [this](const std::string& text) {
    for (std::string& part : split_list(text)) options().run_arguments.push_back(std::move(part));
  });
  for (const char* name : {"ptx", "cubin", "fatbin", "optix-ir", "ltoir"}) {
    flag({name}, [this, name] {
      fail(fmt::format("-{}: the cpu target makes no GPU code; compile with -c, or link a program", name));
    });
  }
}

void OptionParser::describe_inputs() {
  value({"o", "output-file"}, [this](const std::string& text) { options().output = text; });
  value({"odir", "output-directory"}, [this](const std::string& text) { options().output_folder = text; });
  value({"x", "x-language"}, [this](const std::string& text) { language_ = text; });
  value({"optf", "options-file"}, [this](const std::string& text) {
    Strings files = split_list(text);  // each goes in behind this option, so the last first
    for (auto file = files.rbegin(); file != files.rend(); ++file) insert_file("--options-file ", *file);
  });
  flag({"keep", "save-temps"}, [this] { options().keep = true; });
  value({"keep-dir"}, [this](const std::string& text) { options().keep_dir = text; });
  flag({"v", "verbose"}, [this] { options().verbose = true; });
  flag({"dryrun"}, [this] { options().dry_run = true; });
}

void OptionParser::describe_architectures() {
  value({"gencode", "generate-code", "arch", "gpu-architecture", "code", "gpu-code"},
        [this](const std::string& text) { set_architecture(text); });
  flag({"list-gpu-code", "code-ls"}, [this] {
    options().mode = Mode::kListArchitectures;
    options().list_prefix = "sm_";
  });
  flag({"list-gpu-arch", "arch-ls"}, [this] {
    options().mode = Mode::kListArchitectures;
    options().list_prefix = "compute_";
  });
}

void OptionParser::describe_cuda() {
  value({"ccbin", "compiler-bindir"}, [this](const std::string& text) { options().host_compiler = text; });
  value({"cudart"}, [this](const std::string& text) { set_cudart(text); });
  value({"default-stream"}, [this](const std::string& text) {
    if (text == "per-thread") options().preprocess.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  });
  value({"ticks"}, [this](const std::string& text) { set_ticks(text); });
  value({"rdc", "relocatable-device-code"}, [this](const std::string& text) {
    if (text != "true" && text != "false") fail(fmt::format("-rdc={}: right is true or false", text));
  });
  flag({"forward-unknown-to-host-compiler", "forward-unknown-opts"}, [this] { forwards_unknown_ = true; });
}

void OptionParser::describe_host() {
  value({"std"}, [this](const std::string& text) { options().standard = usable_standard(text); });
  value({"Xcompiler", "compiler-options"}, [this](const std::string& text) {
    for (std::string& part : split_list(text)) host_option(std::move(part));
  });
  value({"Xlinker", "linker-options"}, [this](const std::string& text) {
    for (const std::string& part : split_list(text)) add_link("-Wl," + part);
  });
  flag({"g", "debug", "G", "device-debug"}, [this] { options().compile.push_back("-g"); });
  flag({"w", "disable-warnings"}, [this] { options().compile.push_back("-w"); });
  flag({"profile"}, [this] { options().compile.push_back("-pg"); });
  value({"Werror"}, [this](const std::string& text) { set_werror(text); });
}

void OptionParser::describe_preprocessor() {
  const auto pass = [this](const char* name) {
    return [this, name](const std::string& text) {
      options().preprocess.insert(options().preprocess.end(), {name, text});
    };
  };
  for (const char* name : {"include", "pre-include"}) value({name}, pass("-include"));
  for (const char* name : {"isystem", "system-include"}) value({name}, pass("-isystem"));
  value({"idirafter"}, pass("-idirafter"));
  value({"iquote"}, pass("-iquote"));
  value({"imacros"}, pass("-imacros"));
}

void OptionParser::describe_dependencies() {
  const auto with_compile = [this](const char* option) {
    return [this, option] {
      options().dependencies.push_back(option);
      options().generates_dependencies = true;
    };
  };
  flag({"MD", "generate-dependencies-with-compile"}, with_compile("-MD"));
  flag({"MMD", "generate-nonsystem-dependencies-with-compile"}, with_compile("-MMD"));
  flag({"MP", "generate-dependency-targets"}, [this] { options().dependencies.push_back("-MP"); });
  value({"MF", "dependency-output"}, [this](const std::string& text) {
    options().dependencies.insert(options().dependencies.end(), {"-MF", text});
  });
  value({"MT", "dependency-target-name", "MQ"}, [this](const std::string& text) {
    options().dependencies.insert(options().dependencies.end(), {last_name_ == "MQ" ? "-MQ" : "-MT", text});
    options().names_dependency_target = true;
  });
}

void OptionParser::describe_glued() {
  for (const char* name : {"I", "D", "U"}) {
    glued(name,
          [this, name](const std::string& text) { options().preprocess.push_back(fmt::format("-{}{}", name, text)); });
  }
  for (const char* name : {"L", "l"}) {
    glued(name, [this, name](const std::string& text) { add_link(fmt::format("-{}{}", name, text)); });
  }
  glued("O", [this](const std::string& text) { options().compile.push_back("-O" + text); });
  const std::initializer_list<std::pair<const char*, const char*>> kLong = {
      {"include-path", "I"}, {"define-macro", "D"}, {"undefine-macro", "U"},
      {"library-path", "L"}, {"library", "l"},      {"optimize", "O"}};
  for (const auto& [name, letter] : kLong) values_[name] = glued_[letter];
}

// They mean nothing for kernels that are host code.
void OptionParser::describe_ignored() {
  for (const char* name : {"lineinfo",
                           "generate-line-info",
                           "expt-relaxed-constexpr",
                           "expt-extended-lambda",
                           "extended-lambda",
                           "use_fast_math",
                           "m64",
                           "restrict",
                           "forward-unknown-to-host-linker",
                           "forward-unknown-linker-opts",
                           "res-usage",
                           "resource-usage",
                           "source-in-ptx",
                           "no-compress",
                           "Wext-lambda-captures-this",
                           "Wdefault-stream-launch",
                           "Wno-deprecated-gpu-targets",
                           "Wmissing-launch-bounds",
                           "Wreorder",
                           "extra-device-vectorization",
                           "dlto",
                           "dlink-time-opt",
                           "gen-opt-lto",
                           "display-error-number",
                           "no-display-error-number",
                           "clean-targets",
                           "clean",
                           "no-align-double",
                           "allow-unsupported-compiler",
                           "no-host-device-initializer-list",
                           "no-host-device-move-forward",
                           "nohdinitlist",
                           "nohdmoveforward",
                           "no-exceptions",
                           "expt-unsupported-features",
                           "extensible-whole-program",
                           "ewp",
                           "no-device-link",
                           "nodlink",
                           "astoolspatch",
                           "relocatable-ptx",
                           "device-entity-has-hidden-visibility",
                           "disable-optimizer-constants",
                           "objtemp",
                           "objdir-as-tempdir",
                           "noprof",
                           "no-device-debug"}) {
    flag({name}, [] {});
  }
  for (const char* name : {"ftz",
                           "prec-div",
                           "prec-sqrt",
                           "fmad",
                           "maxrregcount",
                           "Xptxas",
                           "ptxas-options",
                           "Xcudafe",
                           "cudafe-options",
                           "Xnvlink",
                           "nvlink-options",
                           "Xfatbin",
                           "fatbin-options",
                           "Xarchive",
                           "archive-options",
                           "diag-suppress",
                           "diag-error",
                           "diag-warn",
                           "threads",
                           "t",
                           "split-compile",
                           "split-compile-extended",
                           "compress-mode",
                           "cudadevrt",
                           "machine",
                           "time",
                           "maxrregcount",
                           "static-global-template-stub",
                           "jump-table-density",
                           "device-stack-protector",
                           "fdevice-time-trace",
                           "brief-diagnostics",
                           "libdevice-directory",
                           "ldir",
                           "target-directory",
                           "target-dir",
                           "input-drive-prefix",
                           "dependency-drive-prefix",
                           "opt-info",
                           "Ofast-compile",
                           "Ofc",
                           "ident"}) {
    value({name}, [](const std::string&) {});
  }
}

void OptionParser::set_architecture(const std::string& text) {
  const Architecture named = architecture_in(text);
  if (!named.known) {
    return fail(fmt::format("-{}={}: right is sm_NN, compute_NN, native, all, or arch=compute_NN,code=sm_NN",
                            last_name_, text));
  }
  seen_architecture_ = std::max(seen_architecture_, named.number);
  options().architecture = seen_architecture_ != 0 ? seen_architecture_ : 900;
  options().arch_specific |= named.specific;
}

void OptionParser::set_ticks(const std::string& text) {
  static const std::map<std::string, rewriter::Ticks> kChoices = {
      {"all", rewriter::Ticks::kAll}, {"none", rewriter::Ticks::kNone}, {"auto", rewriter::Ticks::kAuto}};
  const auto found = kChoices.find(text);
  if (found == kChoices.end()) return fail(fmt::format("--ticks={}: right is all, none or auto", text));
  options().ticks = found->second;
}

// Static means nothing: all state is in libanygin.so.
void OptionParser::set_cudart(const std::string& text) {
  if (text != "none" && text != "shared" && text != "static") {
    return fail(fmt::format("-cudart={}: right is none, shared or static", text));
  }
  options().link_cudart = text != "none";
}

void OptionParser::set_werror(const std::string& text) {
  for (const std::string& kind : split_list(text)) {
    if (kind == "all-warnings") options().compile.push_back("-Werror");
  }
}

}  // namespace anygin::driver
