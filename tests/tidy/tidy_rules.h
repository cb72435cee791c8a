// SPDX-License-Identifier: Apache-2.0
// The rules of the house that a machine can check. Each takes the tree as text and returns findings, so that a test can
// show on small samples that it bites.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace anygin::tidy {

// Path relative to the root -> contents.
using Tree = std::map<std::string, std::string>;
// "path:line: what is wrong, and what would be right"
using Findings = std::vector<std::string>;

Findings check_include_direction(const Tree& tree);  // arrows between folders point one way
Findings check_unique_names(const Tree& tree);
Findings check_first_line(const Tree& tree);         // SPDX line
Findings check_banned_words(const Tree& tree);       // fences, clocks, randomness, left-over marks
Findings check_length(const Tree& tree);             // 600 lines, tests 800
Findings check_named_files_exist(const Tree& tree);  // README.md, ARCHITECTURE.md
Findings check_nccl_names(const Tree& tree);         // only in lib/include and lib/comm/c_api*.cc
Findings check_mutants(const Tree& tree);            // every site is listed, every listed one has a site
Findings check_sources_listed(const Tree& tree);     // every .cc stands in a CMake list
Findings check_causes(const Tree& tree);      // every cause of an error is reached by a test
Findings check_references(const Tree& tree);  // cited sections have a row in docs/references.md, decisions a page

Findings check_promises(const Tree& tree);  // docs/semantics.md and docs/scenarios.md have their conformance cases

struct Rule {
  const char* name;
  Findings (*check)(const Tree&);
};
const std::vector<Rule>& rules();

// Reads the files that git would keep: everything below `root` but build/ and .git/.
Tree read_tree(const std::string& root);

}  // namespace anygin::tidy
