// SPDX-License-Identifier: Apache-2.0
// The option table. nvcc accepts one and two dashes, and a value behind `=` or as the next argument.
#include "driver_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace anygin::driver {
namespace {

using Strings = std::vector<std::string>;

std::string extension_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return "";
  return path.substr(dot + 1);
}

Strings split(const std::string& text, char separator) {
  Strings parts;
  std::string part;
  std::istringstream stream(text);
  while (std::getline(stream, part, separator)) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// Digits behind "sm_" or "compute_", times 10; 0 if there are none (`native`, `all`).
int architecture_in(const std::string& text, bool* specific) {
  int best = 0;
  for (const char* word : {"sm_", "compute_", "lto_"}) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      size_t end = at + std::char_traits<char>::length(word);
      int number = 0;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') number = number * 10 + (text[end++] - '0');
      best = std::max(best, number * 10);
      if (end < text.size() && text[end] == 'a') *specific = true;
    }
  }
  return best;
}

class Parser {
 public:
  explicit Parser(const Strings& arguments) : arguments_(arguments) { describe(); }

  ParsedCommand run() {
    for (at_ = 0; at_ < arguments_.size() && command_.error.empty(); ++at_) one(arguments_[at_]);
    if (command_.error.empty()) check();
    return std::move(command_);
  }

 private:
  using Action = std::function<void(const std::string& value)>;

  Options& options() { return command_.options; }
  void fail(std::string text) {
    if (command_.error.empty()) command_.error = std::move(text);
  }

  void flag(std::initializer_list<const char*> names, std::function<void()> action) {
    for (const char* name : names) flags_[name] = action;
  }
  void value(std::initializer_list<const char*> names, Action action) {
    for (const char* name : names) values_[name] = action;
  }
  // An option with a value, also glued to it: -Ipath, -I path.
  void glued(const char* name, Action action) { glued_[name] = std::move(action); }

  void describe() {
    describe_modes();
    describe_cuda();
    describe_host();
    describe_glued();
    describe_ignored();
  }

  void describe_modes() {
    flag({"c", "compile", "dc", "device-c"}, [this] { options().mode = Mode::kCompile; });
    flag({"E", "preprocess"}, [this] { options().mode = Mode::kPreprocess; });
    flag({"M", "MM"}, [this] {
      options().mode = Mode::kDependencies;
      options().dependencies.push_back(arguments_[at_]);
    });
    flag({"lib"}, [this] { options().mode = Mode::kArchive; });
    flag({"dlink", "device-link"}, [this] { options().mode = Mode::kDeviceLink; });
    flag({"shared"}, [this] { options().shared = true; });
    flag({"version", "V"}, [this] { options().mode = Mode::kVersion; });
    flag({"help", "h"}, [this] { options().mode = Mode::kHelp; });
    for (const char* name : {"ptx", "cubin", "fatbin", "optix-ir"}) {
      flag({name}, [this, name] {
        fail(fmt::format("-{}: the cpu target makes no GPU code; compile with -c, or link a program", name));
      });
    }
  }

  void describe_cuda() {
    value({"gencode", "generate-code", "arch", "gpu-architecture", "code", "gpu-code"},
          [this](const std::string& text) {
            options().architecture = std::max(seen_architecture_, architecture_in(text, &options().arch_specific));
            seen_architecture_ = options().architecture;
            if (options().architecture == 0) options().architecture = 900;
          });
    value({"ccbin", "compiler-bindir"}, [this](const std::string& text) { options().host_compiler = text; });
    value({"cudart"}, [this](const std::string& text) { options().link_cudart = text != "none"; });
    value({"default-stream"}, [this](const std::string& text) {
      if (text == "per-thread") options().preprocess.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
    });
    value({"ticks"}, [this](const std::string& text) { set_ticks(text); });
    flag({"keep", "save-temps"}, [this] { options().keep = true; });
    value({"keep-dir"}, [this](const std::string& text) { options().keep_dir = text; });
    flag({"v", "verbose"}, [this] { options().verbose = true; });
    flag({"dryrun"}, [this] { options().dry_run = true; });
    value({"x", "x-language"}, [this](const std::string& text) { language_ = text; });
    value({"optf", "options-file"}, [this](const std::string& text) { read_options_file(text); });
  }

  void describe_host() {
    value({"o", "output-file"}, [this](const std::string& text) { options().output = text; });
    value({"std"}, [this](const std::string& text) { options().standard = text; });
    value({"Xcompiler", "compiler-options"}, [this](const std::string& text) {
      for (std::string& part : split(text, ',')) host_option(std::move(part));
    });
    value({"Xlinker", "linker-options"}, [this](const std::string& text) {
      for (const std::string& part : split(text, ',')) options().link.push_back("-Wl," + part);
    });
    value({"isystem", "include", "idirafter", "iquote"}, [this](const std::string& text) {
      options().preprocess.insert(options().preprocess.end(), {"-" + last_name_, text});
    });
    value({"pre-include"}, [this](const std::string& text) {
      options().preprocess.insert(options().preprocess.end(), {"-include", text});
    });
    value({"system-include"}, [this](const std::string& text) {
      options().preprocess.insert(options().preprocess.end(), {"-isystem", text});
    });
    flag({"MD", "MMD", "MP"}, [this] {
      options().dependencies.push_back(arguments_[at_]);
      options().generates_dependencies = true;
    });
    flag({"generate-dependencies-with-compile"}, [this] {
      options().dependencies.push_back("-MD");
      options().generates_dependencies = true;
    });
    value({"MF", "MT", "MQ"}, [this](const std::string& text) {
      options().dependencies.insert(options().dependencies.end(), {"-" + last_name_, text});
      if (last_name_ != "MF") options().names_dependency_target = true;
    });
    flag({"g", "debug", "G", "device-debug"}, [this] { options().compile.push_back("-g"); });
    flag({"w", "disable-warnings"}, [this] { options().compile.push_back("-w"); });
    value({"Werror"}, [](const std::string&) {});
  }

  void describe_glued() {
    for (const char* name : {"I", "D", "U"}) {
      glued(name, [this, name](const std::string& text) {
        options().preprocess.push_back(fmt::format("-{}{}", name, text));
      });
    }
    for (const char* name : {"L", "l"}) {
      glued(name,
            [this, name](const std::string& text) { options().link.push_back(fmt::format("-{}{}", name, text)); });
    }
    glued("O", [this](const std::string& text) { options().compile.push_back("-O" + text); });
    values_["include-path"] = glued_["I"];
    values_["define-macro"] = glued_["D"];
    values_["undefine-macro"] = glued_["U"];
    values_["library-path"] = glued_["L"];
    values_["library"] = glued_["l"];
    values_["optimize"] = glued_["O"];
  }

  // They mean nothing for kernels that are host code.
  void describe_ignored() {
    flag({"lineinfo",
          "generate-line-info",
          "expt-relaxed-constexpr",
          "expt-extended-lambda",
          "extended-lambda",
          "use_fast_math",
          "m64",
          "restrict",
          "Wno-deprecated-gpu-targets",
          "forward-unknown-to-host-compiler",
          "forward-unknown-to-host-linker",
          "res-usage",
          "resource-usage",
          "source-in-ptx",
          "no-compress",
          "Wext-lambda-captures-this",
          "Wdefault-stream-launch",
          "extra-device-vectorization",
          "dlto",
          "display-error-number",
          "no-display-error-number",
          "Wreorder",
          "clean-targets",
          "no-align-double"},
         [] {});
    value({"rdc",
           "relocatable-device-code",
           "ftz",
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
           "Xarchive",
           "diag-suppress",
           "diag-error",
           "diag-warn",
           "threads",
           "t",
           "split-compile",
           "compress-mode",
           "cudadevrt",
           "machine"},
          [](const std::string&) {});
  }

  void set_ticks(const std::string& text) {
    static const std::map<std::string, rewriter::Ticks> kChoices = {
        {"all", rewriter::Ticks::kAll}, {"none", rewriter::Ticks::kNone}, {"auto", rewriter::Ticks::kAuto}};
    const auto found = kChoices.find(text);
    if (found == kChoices.end()) return fail(fmt::format("--ticks={}: right is all, none or auto", text));
    options().ticks = found->second;
  }

  void read_options_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) return fail(fmt::format("--options-file {}: cannot be read", path));
    Strings words;
    for (std::string word; file >> word;) words.push_back(word);
    arguments_.insert(arguments_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, words.begin(), words.end());
  }

  // Programs are executable shared objects: what would make them something else is left out.
  void host_option(std::string option) {
    for (const char* word : {"-pie", "-no-pie", "-fpie", "-fPIE", "-fno-pie", "-fno-PIE", "-fno-pic", "-fno-PIC"}) {
      if (option == word) return;
    }
    if (option == "-static") return fail("-static: programs load libanygin.so at run time; leave it out");
    options().compile.push_back(std::move(option));
  }

  void one(const std::string& argument) {
    if (argument.size() < 2 || argument[0] != '-') return input(argument);
    std::string name = argument.substr(argument[1] == '-' ? 2 : 1);
    if (const auto found = flags_.find(name); found != flags_.end()) return found->second();
    std::string text;
    const size_t equals = name.find('=');
    const bool has_value = equals != std::string::npos;
    if (has_value) {
      text = name.substr(equals + 1);
      name.resize(equals);
    }
    if (const auto found = values_.find(name); found != values_.end()) {
      last_name_ = name;
      if (!has_value && name != "Werror" && !next(&text)) return;
      if (!has_value && name == "Werror") next(&text);
      return found->second(text);
    }
    if (argument[1] != '-' && glued_option(argument)) return;
    if (is_host_option(argument)) return host_option(argument);
    fail(fmt::format("unknown option {}; options of the host compiler go behind -Xcompiler", argument));
  }

  bool glued_option(const std::string& argument) {
    const auto found = glued_.find(argument.substr(1, 1));
    if (found == glued_.end()) return false;
    std::string text = argument.substr(2);
    if (text.empty() && !next(&text)) return true;
    found->second(text);
    return true;
  }

  // nvcc wants these behind -Xcompiler; Makefiles that were written for it have none, ours may.
  static bool is_host_option(const std::string& argument) {
    return argument == "-pthread" || argument.rfind("-f", 0) == 0 || argument.rfind("-W", 0) == 0 ||
           argument.rfind("-m", 0) == 0 || argument.rfind("-g", 0) == 0 || argument == "-pie" ||
           argument == "-no-pie" || argument == "-static" || argument == "-rdynamic" || argument == "-pedantic";
  }

  bool next(std::string* text) {
    if (at_ + 1 >= arguments_.size()) {
      fail(fmt::format("{} needs a value", arguments_[at_]));
      return false;
    }
    *text = arguments_[++at_];
    return true;
  }

  void input(const std::string& path) {
    static const std::map<std::string, InputKind> kByExtension = {
        {"cu", InputKind::kCuda},   {"cc", InputKind::kCxx},    {"cpp", InputKind::kCxx},  {"cxx", InputKind::kCxx},
        {"c", InputKind::kC},       {"c++", InputKind::kCxx},   {"o", InputKind::kObject}, {"a", InputKind::kObject},
        {"so", InputKind::kObject}, {"obj", InputKind::kObject}};
    static const std::map<std::string, InputKind> kByLanguage = {
        {"cu", InputKind::kCuda}, {"c++", InputKind::kCxx}, {"c", InputKind::kC}};
    if (!language_.empty()) {
      const auto found = kByLanguage.find(language_);
      if (found == kByLanguage.end()) return fail(fmt::format("-x {}: right is cu, c++ or c", language_));
      options().inputs.push_back({path, found->second});
      return;
    }
    const auto found = kByExtension.find(extension_of(path));
    if (found != kByExtension.end()) {
      options().inputs.push_back({path, found->second});
    } else if (path.find(".so.") != std::string::npos) {
      options().inputs.push_back({path, InputKind::kObject});
    } else {
      fail(fmt::format("{}: unknown kind of input; right are .cu .cc .cpp .cxx .c .o .a .so, or -x cu", path));
    }
  }

  void check() {
    const Options& parsed = options();
    if (parsed.mode == Mode::kVersion || parsed.mode == Mode::kHelp) return;
    if (parsed.inputs.empty()) return fail("no input; right is anygin-c++ program.cu -o program");
    const bool one_output = parsed.mode == Mode::kCompile || parsed.mode == Mode::kPreprocess;
    const auto sources = std::count_if(parsed.inputs.begin(), parsed.inputs.end(),
                                       [](const Input& input) { return input.kind != InputKind::kObject; });
    if (one_output && sources > 1 && !parsed.output.empty()) {
      fail(fmt::format("-o {} with {} sources: with -c, give one source or leave -o out", parsed.output, sources));
    }
  }

  Strings arguments_;
  size_t at_ = 0;
  std::string last_name_;
  std::string language_;
  int seen_architecture_ = 0;
  std::map<std::string, std::function<void()>> flags_;
  std::map<std::string, Action> values_;
  std::map<std::string, Action> glued_;
  ParsedCommand command_;
};

}  // namespace

ParsedCommand parse_command_line(const std::vector<std::string>& arguments) {
  return Parser(arguments).run();
}

}  // namespace anygin::driver
