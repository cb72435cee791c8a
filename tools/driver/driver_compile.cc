// SPDX-License-Identifier: Apache-2.0
// .cu: preprocess with CUDA's macros, rewrite in this process, compile the result. Other sources go straight to the
// host compiler.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include "anygin/simt/rewriter/rewriter.h"
#include "driver_process.h"
#include "driver_steps.h"

namespace anygin::driver {
namespace {

void append(std::vector<std::string>* command, const std::vector<std::string>& more) {
  command->insert(command->end(), more.begin(), more.end());
}

std::string stem_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot);
}

const char* language_of(InputKind kind) {
  return kind == InputKind::kC ? "c" : "c++";
}

bool read_file(const std::string& path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  text->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (!file) fmt::print(stderr, "anygin-c++: error: cannot read {}\n", path);
  return static_cast<bool>(file);
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) fmt::print(stderr, "anygin-c++: error: cannot write {}\n", path);
  return static_cast<bool>(file);
}

}  // namespace

// What a program image needs: position independence, and no symbol that the dynamic linker makes one of for all copies
// of the file.
std::vector<std::string> Driver::image_options() const {
  std::vector<std::string> more = {"-fPIC", "-fno-semantic-interposition"};
  if (options_.host_compiler.find("clang") == std::string::npos) {
    // Merged tails would give two calls of the device API one call site: reports would name the wrong line.
    append(&more, {"-fno-gnu-unique", "-fno-crossjumping", "-fno-tree-tail-merge"});
  }
  return more;
}

std::string Driver::in_output_folder(const std::string& name) const {
  return options_.output_folder.empty() ? name : options_.output_folder + "/" + name;
}

std::vector<std::string> Driver::preprocess_command(const Input& input) const {
  std::vector<std::string> command = {options_.host_compiler};
  if (input.kind != InputKind::kC) command.push_back("-std=" + options_.standard);
  append(&command, options_.compile);
  command.push_back("-DANYGIN_TARGET_CPU=1");
  if (input.kind == InputKind::kCuda) {
    append(&command, {"-D__CUDACC__=1", "-D__NVCC__=1", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
                      "-D__CUDACC_VER_BUILD__=0", "-D__CUDACC_RELAXED_CONSTEXPR__=1", "-D__CUDACC_EXTENDED_LAMBDA__=1",
                      fmt::format("-D__CUDA_ARCH__={}", options_.architecture),
                      fmt::format("-D__CUDA_ARCH_LIST__={}", options_.architecture)});
    if (options_.arch_specific) {
      command.push_back(fmt::format("-D__CUDA_ARCH_FEAT_SM{}_ALL=1", options_.architecture / 10));
    }
  }
  append(&command, options_.preprocess);
  append(&command, {"-isystem", prefix_ + "/include"});
  if (input.kind == InputKind::kCuda) {
    append(&command, {"-include", "anygin/simt/launch_syntax.h", "-include", "anygin/simt/ptx.h", "-include",
                      "anygin/simt/device_variable.h", "-include", "cuda_runtime.h"});
  }
  return command;
}

std::vector<std::string> Driver::dependency_options(const std::string& object) const {
  std::vector<std::string> more = options_.dependencies;
  if (options_.generates_dependencies && !options_.names_dependency_target) append(&more, {"-MT", object});
  bool named = false;
  for (const std::string& option : more) named |= option == "-MF";
  const size_t dot = object.rfind('.');
  if (options_.generates_dependencies && !named) append(&more, {"-MF", object.substr(0, dot) + ".d"});
  return more;
}

int Driver::rewrite(const std::string& preprocessed, const std::string& rewritten) const {
  if (options_.verbose || options_.dry_run) {
    fmt::print(stderr, "#$ {}/bin/anygin-c++ --rewrite -arch compute_{} {} -o {}\n", prefix_,
               options_.architecture / 10, preprocessed, rewritten);
  }
  if (options_.dry_run) return 0;
  std::string text;
  if (!read_file(preprocessed, &text)) return 1;
  const rewriter::RewriteResult result = rewriter::rewrite(text, {options_.ticks});
  for (const rewriter::Diagnostic& error : result.errors) {
    fmt::print(stderr, "{}:{}: error: {}\n", error.file, error.line, error.text);
  }
  if (!result.ok() && !options_.keep) return 1;
  if (!write_file(rewritten, result.text)) return 1;
  return result.ok() ? 0 : 1;
}

int Driver::compile_cuda(const Input& input, const std::string& object) {
  const TemporaryFile preprocessed(".ii");
  std::unique_ptr<TemporaryFile> temporary;
  std::string rewritten = fmt::format("{}/{}.cu.ii", options_.keep_dir, stem_of(input.path));
  if (!options_.keep) {
    temporary = std::make_unique<TemporaryFile>(".cu.ii");
    rewritten = temporary->path();
  }
  std::vector<std::string> command = preprocess_command(input);
  append(&command, dependency_options(object));
  append(&command, {"-E", "-x", "c++", input.path, "-o", preprocessed.path()});
  if (const int code = execute(command); code != 0) return code;
  if (const int code = rewrite(preprocessed.path(), rewritten); code != 0) return code;
  if (options_.keep) fmt::print(stderr, "anygin-c++: rewritten source: {}\n", rewritten);
  command = {options_.host_compiler, "-std=" + options_.standard};
  append(&command, {"-Wno-dangling-else", "-Wno-empty-body"});
  command.push_back("-fno-strict-aliasing");  // kernels read vectors as what they contain, and GPU compilers let them
#if defined(__x86_64__)
  command.push_back("-fstack-clash-protection");  // no frame of a kernel jumps over the guard below a lane's stack
#endif
  command.push_back("-g1");  // lines for reports; a -g of the user's comes later and wins
  // The inlined frames that clang writes in version 5 are missed by binutils' addr2line.
  if (options_.host_compiler.find("clang") != std::string::npos) command.push_back("-gdwarf-4");
  append(&command, options_.compile);
  append(&command, image_options());
  append(&command, {"-x", "c++-cpp-output", "-c", rewritten, "-o", object});
  return execute(command);
}

int Driver::compile(const Input& input, const std::string& object) {
  if (input.kind == InputKind::kCuda) return compile_cuda(input, object);
  std::vector<std::string> command = preprocess_command(input);
  append(&command, dependency_options(object));
  append(&command, image_options());
  append(&command, {"-x", language_of(input.kind), "-c", input.path, "-o", object});
  return execute(command);
}

int Driver::compile_all() {
  for (const Input& input : options_.inputs) {
    if (input.kind == InputKind::kObject) continue;
    const std::string object = options_.output.empty() ? in_output_folder(stem_of(input.path) + ".o") : options_.output;
    if (const int code = compile(input, object); code != 0) return code;
  }
  return 0;
}

int Driver::preprocess_all() {
  for (const Input& input : options_.inputs) {
    if (input.kind == InputKind::kObject) continue;
    std::vector<std::string> command = preprocess_command(input);
    append(&command, options_.dependencies);
    append(&command, {"-E", "-x", language_of(input.kind), input.path});
    if (!options_.output.empty()) append(&command, {"-o", options_.output});
    if (const int code = execute(command); code != 0) return code;
  }
  return 0;
}

}  // namespace anygin::driver
