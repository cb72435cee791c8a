// SPDX-License-Identifier: Apache-2.0
// A C++ source as words, and the functions, classes and tests that it consists of. Reads what stands there: macros are
// not expanded, conditions not decided.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace anygin::coverage {

struct Word {
  std::string text;  // an identifier, a number, or one character
  int line = 0;
  bool is_identifier = false;
  bool is_member = false;     // behind . -> or ::
  bool is_condition = false;  // of #if and its like
};

struct Marker {
  int line = 0;
  std::vector<std::string> names;
};

struct Source {
  std::vector<Word> words;  // without comments and literals; of preprocessor lines the conditions
  std::vector<Marker> markers;
  std::vector<std::string> includes;           // of "..."
  std::vector<std::vector<Word>> definitions;  // of macros; the name comes first
};
Source read_source(const std::string& text);

// Something at namespace scope that has a body.
struct Unit {
  std::set<std::string> names;  // by which others call it
  std::string test;             // its name, if it is one
  std::vector<Word> words;      // head and body
  int first_line = 0, last_line = 0;
};
std::vector<Unit> units_of(const Source& source);

}  // namespace anygin::coverage
