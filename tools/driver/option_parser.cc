// SPDX-License-Identifier: Apache-2.0
#include "option_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "option_words.h"

namespace anygin::driver {
namespace {

// nvcc wants these behind -Xcompiler; Makefiles that were written for it have none, ours may.
bool is_host_option(const std::string& argument) {
  for (const char* start : {"-f", "-W", "-m", "-g"}) {
    if (argument.rfind(start, 0) == 0) return true;
  }
  for (const char* whole : {"-pthread", "-pie", "-no-pie", "-static", "-rdynamic", "-pedantic", "-pg", "-p"}) {
    if (argument == whole) return true;
  }
  return false;
}

}  // namespace

OptionParser::OptionParser(const Strings& arguments) : arguments_(arguments) {
  describe();
}

ParsedCommand OptionParser::run() {
  for (at_ = 0; at_ < arguments_.size() && command_.error.empty(); ++at_) one(arguments_[at_]);
  if (command_.error.empty()) resolve_inputs();
  if (command_.error.empty()) check();
  return std::move(command_);
}

void OptionParser::fail(std::string text) {
  if (command_.error.empty()) command_.error = std::move(text);
}

void OptionParser::flag(std::initializer_list<const char*> names, const std::function<void()>& action) {
  for (const char* name : names) flags_[name] = action;
}

void OptionParser::value(std::initializer_list<const char*> names, const Action& action) {
  for (const char* name : names) values_[name] = action;
}

void OptionParser::glued(const char* name, Action action) {
  glued_[name] = std::move(action);
}

void OptionParser::one(const std::string& argument) {
  if (argument.size() > 1 && argument[0] == '@') return insert_file("@", argument.substr(1));
  if (argument.size() < 2 || argument[0] != '-') return input(argument);
  if (known_option(argument)) return;
  if (argument[1] != '-' && glued_option(argument)) return;
  if (forwards_unknown_ || is_host_option(argument)) return host_option(argument);
  fail(fmt::format("unknown option {}; options of the host compiler go behind -Xcompiler", argument));
}

bool OptionParser::known_option(const std::string& argument) {
  std::string name = argument.substr(argument[1] == '-' ? 2 : 1);
  if (const auto found = flags_.find(name); found != flags_.end()) {
    found->second();
    return true;
  }
  std::string text;
  const size_t equals = name.find('=');
  const bool has_value = equals != std::string::npos;
  if (has_value) {
    text = name.substr(equals + 1);
    name.resize(equals);
  }
  const auto found = values_.find(name);
  if (found == values_.end()) return false;
  last_name_ = name;
  if (has_value || next(&text)) found->second(text);
  return true;
}

bool OptionParser::glued_option(const std::string& argument) {
  const auto found = glued_.find(argument.substr(1, 1));
  if (found == glued_.end()) return false;
  std::string text = argument.substr(2);
  if (!text.empty() || next(&text)) found->second(text);
  return true;
}

bool OptionParser::next(std::string* text) {
  if (at_ + 1 >= arguments_.size()) {
    fail(fmt::format("{} needs a value", arguments_[at_]));
    return false;
  }
  *text = arguments_[++at_];
  return true;
}

void OptionParser::insert_file(const std::string& option, const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return fail(fmt::format("{}{}: cannot be read", option, path));
  const Strings words = split_words(text.str());
  arguments_.insert(arguments_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, words.begin(), words.end());
}

// Programs are executable shared objects: what would make them something else is left out.
void OptionParser::host_option(std::string option) {
  for (const char* word : {"-pie", "-no-pie", "-fpie", "-fPIE", "-fno-pie", "-fno-PIE", "-fno-pic", "-fno-PIC"}) {
    if (option == word) return;
  }
  if (option == "-static") return fail("-static: programs load libanygin.so at run time; leave it out");
  options().compile.push_back(std::move(option));
}

void OptionParser::input(const std::string& path) {
  options().link.push_back({"", static_cast<int>(options().inputs.size())});
  options().inputs.push_back({path, InputKind::kObject});
}

// -x holds for all sources, wherever it stands; objects and libraries stay what they are.
void OptionParser::resolve_inputs() {
  static const std::map<std::string, InputKind> kByExtension = {
      {"cu", InputKind::kCuda},  {"cc", InputKind::kCxx},    {"cpp", InputKind::kCxx},   {"cxx", InputKind::kCxx},
      {"c++", InputKind::kCxx},  {"C", InputKind::kCxx},     {"c", InputKind::kC},       {"o", InputKind::kObject},
      {"a", InputKind::kObject}, {"so", InputKind::kObject}, {"obj", InputKind::kObject}};
  static const std::map<std::string, InputKind> kByLanguage = {
      {"cu", InputKind::kCuda}, {"c++", InputKind::kCxx}, {"c", InputKind::kC}};
  const auto language = kByLanguage.find(language_);
  if (!language_.empty() && language == kByLanguage.end()) {
    return fail(fmt::format("-x {}: right is cu, c++ or c", language_));
  }
  if (options().mode == Mode::kRewrite) return;
  for (Input& input : options().inputs) {
    const auto found = kByExtension.find(extension_of(input.path));
    const bool is_object = (found != kByExtension.end() && found->second == InputKind::kObject) ||
                           input.path.find(".so.") != std::string::npos;
    if (is_object) continue;
    if (language != kByLanguage.end()) {
      input.kind = language->second;
    } else if (found != kByExtension.end()) {
      input.kind = found->second;
    } else {
      return fail(
          fmt::format("{}: unknown kind of input; right are .cu .cc .cpp .cxx .c .o .a .so, or -x cu", input.path));
    }
  }
}

void OptionParser::check() {
  const Options& parsed = options();
  if (parsed.mode == Mode::kVersion || parsed.mode == Mode::kHelp || parsed.mode == Mode::kListArchitectures) return;
  if (parsed.inputs.empty()) return fail("no input; right is anygin-c++ program.cu -o program");
  const bool one_output = parsed.mode == Mode::kCompile || parsed.mode == Mode::kPreprocess;
  const auto sources = std::count_if(parsed.inputs.begin(), parsed.inputs.end(),
                                     [](const Input& input) { return input.kind != InputKind::kObject; });
  if (one_output && sources > 1 && !parsed.output.empty()) {
    fail(fmt::format("-o {} with {} sources: with -c, give one source or leave -o out", parsed.output, sources));
  }
  if (parsed.mode == Mode::kRewrite && (parsed.inputs.size() != 1 || parsed.output.empty())) {
    fail("--rewrite: right is anygin-c++ --rewrite preprocessed.ii -o rewritten.ii");
  }
  if (parsed.run && (parsed.mode != Mode::kLink || parsed.shared)) fail("--run: only a linked program can be run");
}

ParsedCommand parse_command_line(const std::vector<std::string>& arguments) {
  return OptionParser(arguments).run();
}

}  // namespace anygin::driver
