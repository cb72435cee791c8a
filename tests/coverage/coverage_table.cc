// SPDX-License-Identifier: Apache-2.0
#include "coverage/coverage_table.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace anygin::coverage {
namespace {

constexpr char kPreface[] = R"(# Every name of the API, and the test that calls it

The contract is NCCL 2.30.7. This document is made by `./dev api-coverage` from `tests/coverage/names.txt` and from the tests
themselves; `ctest -L tidy` fails where a name has no test or the document is not the one that would be made.

- **run by**: this test calls the name at run time, itself or through a function of its file, and compares what comes of it.
  A kernel's test runs on the arms of its suite (`tests/README.md`).
- **compiled only**: there is nothing at run time that a test could compare; why is said.
- **refused**: a call returns this code, or a kernel that calls it does not compile; the test beside it shows that. "not yet"
  means that `ncclGetLastError` says so, too.

How a test says which of several forms of a function it calls: `tests/coverage/test_cases.h`.
)";

constexpr char kNewer[] = R"(
## Newer names (2.31, 2.32)

Seen when a program is compiled with `-DANYGIN_NCCL_VERSION=23102` or `23203`: timed `wait`, `flush`, `waitCounter`, `waitSignal`;
`NCCL_GIN_TYPE_EFA_GDA`, `NCCL_GIN_MAX_TYPES`, `NCCL_GIN_MAX_ACTIVE_BACKENDS`; from 23203 `ncclDevCommCanGetPeerPointer`,
`NCCL_WIN_GIN_ONLY` (a window like any other here: peers of the LSA team could still load from it), `NCCL_WIN_CFT_COUNTED` (refused);
`nccl_device/host.h`; the fields that those releases append to `ncclDevCommRequirements`, `ncclCommProperties` and `ncclConfig_t`; connections at a stride or
to a list of ranks, beyond which kernels report what they send; `sigIdx` below `numRmaSig` and `ctx` below `numRmaCtx` in host one-sided calls. The tests
are `CApiNewer` (c_api_newer_test.cc). `ncclGinBarrierOptions_t` is a type only: barriers own a signal for each rank of their team.
)";

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}
std::string label(const Case& test) {
  return fmt::format("`{}` ({})", test.name, file_name(test.file));
}

// How far from the test's body the name is called; -1: it is not.
int distance_of(const Name& name, const Case& test, const Names& names) {
  if (!test.checks) return -1;
  if (name.expected == Expected::kRefused && test.distance(name.code) < 0) return -1;
  const auto marker = test.markers.find(name.text);
  if (marker != test.markers.end()) return marker->second;
  if (name.is_form) return -1;
  const int called = test.distance((name.is_member ? "." : "") + name.token);
  if (name.owner.empty() || called < 0) return called;
  if (test.distance(name.owner) >= 0) return called;
  const auto aliases = names.aliases.find(name.owner);
  if (aliases == names.aliases.end()) return -1;
  for (const std::string& alias : aliases->second) {
    if (test.distance(alias) >= 0) return called;
  }
  return -1;
}

class Maker {
 public:
  explicit Maker(const Tree& tree)
      : tree_(tree), names_(parse_names(tree.names)), cases_(find_cases(tree.tests, table_.errors)) {
    mark_not_yet(names_, tree.not_yet);
    table_.errors.insert(table_.errors.end(), names_.errors.begin(), names_.errors.end());
  }

  Table make() {
    read_choices();
    table_.document = kPreface;
    for (const Heading& heading : names_.headings) {
      table_.document += fmt::format(
          "\n## {}\n\n| name | run by | compiled only | refused | note |\n|---|---|---|---|---|\n", heading.title);
      for (const Name& name : heading.names) table_.document += row(name);
    }
    table_.document += kNewer;
    check_headers();
    check_markers();
    return std::move(table_);
  }

 private:
  // The tests that the document names now.
  void read_choices() {
    static const std::regex kRow(R"(\| `([^`]+)` \|.*?(`[^`]+` \([\w.]+\)).*)");
    std::istringstream lines(tree_.document);
    std::string line;
    std::smatch match;
    while (std::getline(lines, line)) {
      if (std::regex_match(line, match, kRow)) choices_[match[1]] = match[2];
    }
  }
  const Case* best(const Name& name) const {
    const Case* found = nullptr;
    int least = 0;
    const auto choice = choices_.find(name.text);
    for (const Case& test : cases_) {
      const int distance = distance_of(name, test, names_);
      if (distance < 0) continue;
      if (choice != choices_.end() && choice->second == label(test)) return &test;
      if (found != nullptr && distance >= least) continue;
      found = &test;
      least = distance;
    }
    return found;
  }
  bool is_compiled(const Name& name) const {
    for (const auto& [path, contents] : tree_.compile) {
      if (identifiers_of(contents).count(name.token) != 0) return true;
    }
    return false;
  }
  std::string row(const Name& name) {
    if (name.expected == Expected::kCompile) {
      if (!is_compiled(name)) table_.errors.push_back(fmt::format("{}: no file of tests/compile names it", name.text));
      ++table_.compiled;
      return fmt::format("| `{}` | | {} | | {} |\n", name.text, name.why, name.note);
    }
    const Case* const test = best(name);
    if (name.expected == Expected::kMissing) {
      if (test != nullptr)
        table_.errors.push_back(
            fmt::format("{}: names.txt says that there is no test, and {} is one", name.text, label(*test)));
      ++table_.missing;
      return fmt::format("| `{}` | no test yet: {} | | | {} |\n", name.text, name.why, name.note);
    }
    if (test == nullptr) {
      table_.errors.push_back(fmt::format("{}: no test {}", name.text, wanted(name)));
      return fmt::format("| `{}` | | | | {} |\n", name.text, name.note);
    }
    if (name.expected == Expected::kRefused) {
      ++table_.refused;
      return fmt::format("| `{}` | | | `{}`, {}: {} | {} |\n", name.text, name.code, name.why, label(*test), name.note);
    }
    ++table_.run;
    return fmt::format("| `{}` | {} | | | {} |\n", name.text, label(*test), name.note);
  }
  static std::string wanted(const Name& name) {
    if (name.is_form) return fmt::format("that runs and compares says '// covers: {}' above its call", name.text);
    if (name.expected == Expected::kRefused) return fmt::format("calls it and compares with {}", name.code);
    return "that runs calls it and compares what comes of it";
  }
  // Nothing that our headers declare is missing.
  void check_headers() {
    std::set<std::string> known = names_.ignored;
    for (const Heading& heading : names_.headings) {
      for (const Name& name : heading.names) {
        known.insert(name.is_member ? name.owner : name.token);
      }
    }
    static const std::regex kPublic(R"((nccl[A-Z]\w*|ncclGin_\w+|NCCL_\w+))");
    for (const auto& [path, contents] : tree_.headers) {
      for (const std::string& word : identifiers_of(contents)) {
        if (!std::regex_match(word, kPublic) || !known.insert(word).second) continue;
        table_.errors.push_back(
            fmt::format("{}: {} is a name that tests/coverage/names.txt does not have", path, word));
      }
    }
  }
  // Nothing is said to be covered that is no name.
  void check_markers() {
    std::set<std::string> known;
    for (const Heading& heading : names_.headings) {
      for (const Name& name : heading.names) known.insert(name.text);
    }
    for (const Case& test : cases_) {
      for (const auto& [marker, distance] : test.markers) {
        if (known.insert(marker).second) {
          table_.errors.push_back(fmt::format(
              "{}: says that it covers {}, which tests/coverage/names.txt does not have", test.file, marker));
        }
      }
    }
  }

  const Tree& tree_;
  Table table_;
  Names names_;
  std::vector<Case> cases_;
  std::map<std::string, std::string> choices_;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

void read_folder(const std::filesystem::path& root, const std::string& folder, Files& files) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(root).generic_string()] = read_file(entry.path());
  }
}

}  // namespace

Tree read_tree(const std::string& root_path) {
  const std::filesystem::path root = root_path;
  Tree tree;
  for (const char* folder : {"tests/unit", "tests/conformance", "tests/regress", "tests/support"})
    read_folder(root, folder, tree.tests);
  read_folder(root, "tests/compile", tree.compile);
  read_folder(root, "lib/include", tree.headers);
  tree.names = read_file(root / "tests/coverage/names.txt");
  const std::filesystem::path not_yet = root / "lib/comm/c_api_not_yet.cc";  // while there is such a function
  if (std::filesystem::exists(not_yet)) tree.not_yet = read_file(not_yet);
  tree.document = read_file(root / "docs/api-coverage.md");
  return tree;
}

Table make_table(const Tree& tree) {
  return Maker(tree).make();
}

}  // namespace anygin::coverage
