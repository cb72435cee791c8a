// SPDX-License-Identifier: Apache-2.0
// api_coverage [--write]: makes docs/api-coverage.md, or says how it differs. Exit code 1: a name has no test.
#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include "coverage/coverage_table.h"

int main(int argc, char** argv) {
  const bool writes = argc > 1 && std::strcmp(argv[1], "--write") == 0;
  const anygin::coverage::Tree tree = anygin::coverage::read_tree(ANYGIN_SOURCE_DIR);
  const anygin::coverage::Table table = anygin::coverage::make_table(tree);
  for (const std::string& error : table.errors) fmt::print(stderr, "{}\n", error);
  if (writes) std::ofstream(ANYGIN_SOURCE_DIR "/docs/api-coverage.md") << table.document;
  fmt::print(
      "{} names are called at run time, {} compiled only, {} refused, {} have no test yet; {} findings; the document "
      "{}\n",
      table.run, table.compiled, table.refused, table.missing, table.errors.size(),
      writes                            ? "is written"
      : table.document == tree.document ? "is current"
                                        : "is not current");
  return table.errors.empty() ? 0 : 1;
}
