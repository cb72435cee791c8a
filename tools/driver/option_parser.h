// SPDX-License-Identifier: Apache-2.0
// Reads a command line against a table of options (option_table.cc fills it). nvcc accepts one and two dashes, and a
// value behind `=` or as the next argument.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "driver_options.h"

namespace anygin::driver {

class OptionParser {
 public:
  explicit OptionParser(const std::vector<std::string>& arguments);
  ParsedCommand run();

 private:
  using Strings = std::vector<std::string>;
  using Action = std::function<void(const std::string& value)>;

  Options& options() { return command_.options; }
  // The first error stands.
  void fail(std::string text);

  // The table.
  void flag(std::initializer_list<const char*> names, const std::function<void()>& action);
  void value(std::initializer_list<const char*> names, const Action& action);
  void glued(const char* name, Action action);  // also -Ipath
  void describe();
  void describe_modes();
  void describe_inputs();
  void describe_architectures();
  void describe_cuda();
  void describe_host();
  void describe_preprocessor();
  void describe_dependencies();
  void describe_glued();
  void describe_ignored();

  // What the table does.
  void set_architecture(const std::string& text);
  void set_ticks(const std::string& text);
  void set_cudart(const std::string& text);
  void set_werror(const std::string& text);
  void insert_file(const std::string& option, const std::string& path);
  void host_option(std::string option);
  void add_link(std::string text) { options().link.push_back({std::move(text), -1}); }

  // The walk.
  void one(const std::string& argument);
  bool known_option(const std::string& argument);
  bool glued_option(const std::string& argument);
  bool next(std::string* text);
  void input(const std::string& path);
  void resolve_inputs();
  void check();

  Strings arguments_;
  size_t at_ = 0;
  std::string last_name_;  // of the option whose value is being handled
  std::string language_;
  bool forwards_unknown_ = false;
  int seen_architecture_ = 0;
  std::map<std::string, std::function<void()>> flags_;
  std::map<std::string, Action> values_;
  std::map<std::string, Action> glued_;
  ParsedCommand command_;
};

}  // namespace anygin::driver
