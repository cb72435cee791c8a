// SPDX-License-Identifier: Apache-2.0
// The small languages inside options: lists, response files, names of architectures.
#pragma once

#include <string>
#include <vector>

namespace anygin::driver {

// The parts of the value of -Xcompiler and its like: commas and blanks separate, quotes and backslashes protect them.
std::vector<std::string> split_list(const std::string& text);

// The words of a response file: blanks and line ends separate, quotes and backslashes protect them.
std::vector<std::string> split_words(const std::string& text);

// What -arch, -code or -gencode name: the highest number times 10 (sm_90 → 900), `specific` if it ends in a or f.
// `number` is 0 for native, all and all-major; `known` is false if it is no architecture at all.
struct Architecture {
  bool known = false;
  int number = 0;
  bool specific = false;
};
Architecture architecture_in(const std::string& text);

// The standard to compile with: the CUDA face needs C++17, so older ones become that, GNU or not as asked.
std::string usable_standard(const std::string& name);

// Behind the last dot of the file's name; empty if there is none.
std::string extension_of(const std::string& path);

}  // namespace anygin::driver
