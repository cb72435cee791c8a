// SPDX-License-Identifier: Apache-2.0
// What the tests that run name. A test case is a TEST, TEST_F, TEST_P or CONFORMANCE_CASE of a source that a CMake list
// names; what it names are the words of its body and of every function, kernel and class of its file and of the test
// headers it includes that it calls, directly or through others. A comment
//
//   // covers: ncclGin.put(ncclSymPtr); ncclGin.signal
//
// says which of several forms the next lines call; it counts only where one of the next lines names the function.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace anygin::coverage {

// Path relative to the root -> contents.
using Files = std::map<std::string, std::string>;

struct Case {
  std::string file, name;
  // Word -> how many calls away from the body; members with what stands in front: ".blocking", "->blocking" as
  // ".blocking".
  std::map<std::string, int> words;
  std::map<std::string, int> markers;
  bool checks = false;  // something in its own file is compared, not only called

  int distance(const std::string& word) const {
    const auto found = words.find(word);
    return found == words.end() ? -1 : found->second;
  }
};

// In the order of paths and lines. `errors`: markers whose function is not called where they stand.
std::vector<Case> find_cases(const Files& tests, std::vector<std::string>& errors);

// All identifiers of a source, without comments and string literals.
std::set<std::string> identifiers_of(const std::string& source);

}  // namespace anygin::coverage
