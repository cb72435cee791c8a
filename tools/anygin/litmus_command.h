// SPDX-License-Identifier: Apache-2.0
// `anygin litmus`: runs litmus files and compares what is possible with what they say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anygin::tools {

struct LitmusRequest {
  std::vector<std::string> files;     // or folders of them
  std::vector<std::string> profiles;  // empty: all
  std::string form = "tabular";       // tabular | stack
  uint64_t runs = 0;                  // random ones; 0: every way (tabular), or 20,000 (stack)
  uint64_t seed = 1;
  std::string why;  // "r=0 q=1": how an outcome like this comes about
};

extern const char* const kLitmusHelp;

// Prints a line a file and profile. 0: all agree; 1: a disagreement; 2: a bad file or request; 4: a hang.
int run_litmus(const LitmusRequest& request);

}  // namespace anygin::tools
