// SPDX-License-Identifier: Apache-2.0
#include "tidy/tidy_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace anygin::tidy {
namespace {

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.rfind(prefix, 0) == 0;
}
bool ends_with(const std::string& text, const std::string& suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}
bool is_code(const std::string& path) {
  if (ends_with(path, "CMakeLists.txt") || ends_with(path, ".md")) return false;
  static const char* const kEndings[] = {".h", ".cc", ".cu", ".S", ".def"};
  return std::any_of(std::begin(kEndings), std::end(kEndings), [&](const char* e) { return ends_with(path, e); }) ||
         starts_with(path, "lib/simt/include/") || starts_with(path, "lib/include/");
}
bool is_text(const std::string& path) {
  return ends_with(path, ".md") || ends_with(path, "CMakeLists.txt") || ends_with(path, ".cmake");
}
std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Calls visit(line number, line) for each line of code, comments included.
template <typename Visit>
void for_each_line(const std::string& contents, Visit visit) {
  std::istringstream stream(contents);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) visit(number, line);
}

std::string without_comment(const std::string& line) {
  const size_t at = line.find("//");
  return at == std::string::npos ? line : line.substr(0, at);
}

// What the compiler sees as names: neither comments nor string literals, as messages name the user's calls.
std::string identifiers_of(const std::string& line) {
  static const std::regex kLiteral(R"("(\\.|[^"\\])*")");
  return std::regex_replace(without_comment(line), kLiteral, "\"\"");
}

// The part of the house a file belongs to; empty: not checked.
std::string part_of(const std::string& path) {
  static const std::pair<const char*, const char*> kParts[] = {
      {"lib/base/", "base"},        {"lib/simt/", "simt"},
      {"lib/gpu/", "gpu"},          {"lib/comm/", "comm"},
      {"lib/include/", "include"},  {"backends/verbs/", "verbs"},
      {"backends/proxy/", "proxy"}, {"backends/emulated/", "emulated"},
      {"backends/gdaki/", "gdaki"}, {"backends/gpi/", "gpi"},
      {"backends/", "backends"},    {"sim/", "sim"},
      {"tools/", "tools"}};
  for (const auto& [prefix, part] : kParts) {
    if (starts_with(path, prefix)) return part;
  }
  return "";
}

// What each part may include besides itself; arrows are transitive, so the sets are closed.
const std::map<std::string, std::set<std::string>>& allowed_includes() {
  static const std::map<std::string, std::set<std::string>> kAllowed = {
      {"base", {}},
      {"simt", {"base"}},
      {"gpu", {"base", "simt"}},  // simt: device.h, which it implements for the cuda target
      {"backends", {"base"}},
      {"verbs", {"base", "backends", "emulated"}},  // emulated: its in-process table is one of the two fillers
      {"emulated", {"base", "backends", "verbs"}},
      {"proxy", {"base", "backends", "verbs"}},
      {"gdaki", {"base", "backends", "verbs"}},
      {"gpi", {"base", "backends", "verbs"}},
      {"include", {"base", "backends", "proxy", "gdaki", "gpi"}},
      {"comm", {"base", "backends", "verbs", "proxy", "emulated", "gdaki", "gpi", "include", "nccl_include", "simt"}},
      {"sim", {"base", "backends", "verbs", "proxy", "emulated", "include", "comm", "simt"}},
      {"tools", {"base", "backends", "verbs", "proxy", "emulated", "include", "comm", "simt", "sim"}}};
  return kAllowed;
}

struct Ban {
  const char* pattern;
  const char* reason;
  std::vector<std::string> allowed;  // path prefixes
};

const std::vector<Ban>& bans() {
  static const std::vector<Ban> kBans = {
      {R"(\b(TODO|FIXME|XXX|HACK)\b)", "finish it, or say it in docs/roadmap.md", {}},
      {R"(__threadfence|std::atomic_thread_fence|__sync_synchronize|__atomic_thread_fence)",
       "fences have names: base/order.h",
       {"lib/base/order.h", "lib/base/wake.cc", "lib/simt/include/", "lib/simt/face/", "lib/include/nccl_device/",
        "lib/simt/ptx", "lib/simt/rewriter/", "tests/", "bench/", "examples/"}},
      {R"(std::chrono|clock_gettime|gettimeofday|\brdtsc\b)",
       "time comes from world().clock",
       {"lib/base/env_real.cc", "lib/base/net", "sim/interpose_time.cc", "tools/", "tests/", "bench/", "examples/"}},
      {R"(std::random_device|std::mt19937|\brand\(\)|getrandom|std::(uniform|normal)_\w+_distribution)",
       "choices come from ChoiceSource, secrets from base/env_real",
       {"lib/base/env_real", "tools/", "tests/", "bench/"}},
      {R"(\bgetenv\(|\bsecure_getenv\()",
       "variables are parsed once, in base/options.cc",
       {"lib/base/env_real.cc", "tools/", "tests/", "bench/", "examples/"}},
      {R"(std::this_thread::get_id|\bgettid\()",
       "no decision depends on a thread's id",
       {"lib/base/env_real.cc", "tools/", "tests/"}},
      {R"(std::unordered_(map|set))",
       "iteration order must be defined: std::map, or a sorted vector",
       {"tests/", "tools/"}},
      {R"(boost/asio)", "Asio is included by base/net alone", {"lib/base/net"}},
      {R"(/work/|/home/|/root/)", "no path of one machine", {"tests/tidy/"}}};
  return kBans;
}

bool allowed_at(const std::string& path, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return starts_with(path, p); });
}

}  // namespace

Findings check_include_direction(const Tree& tree) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]anygin/([a-z_]+)/)");
  Findings findings;
  for (const auto& [path, contents] : tree) {
    const std::string from = part_of(path);
    const auto allowed = allowed_includes().find(from);
    if (!is_code(path) || allowed == allowed_includes().end()) continue;
    for_each_line(contents, [&, &path = path](int number, const std::string& line) {
      std::smatch match;
      if (!std::regex_search(line, match, kInclude)) return;
      const std::string to = match[1];
      if (to == from || allowed->second.count(to) != 0) return;
      findings.push_back(fmt::format("{}:{}: {} may not include {}", path, number, from, to));
    });
  }
  return findings;
}

Findings check_unique_names(const Tree& tree) {
  static const std::set<std::string> kRepeated = {"CMakeLists.txt", "README.md", "main.cc", "atomic"};
  std::map<std::string, std::string> seen;
  Findings findings;
  for (const auto& [path, contents] : tree) {
    const std::string name = file_name(path);
    const bool installed_name = starts_with(path, "lib/include/") || starts_with(path, "lib/simt/include/");
    if ((!is_code(path) && !is_text(path)) || kRepeated.count(name) != 0 || installed_name) continue;
    if (ends_with(name, ".cmake")) continue;
    const auto [it, fresh] = seen.emplace(name, path);
    if (!fresh)
      findings.push_back(
          fmt::format("{}:1: the name is taken by {}; file names are unique in the tree", path, it->second));
  }
  return findings;
}

Findings check_first_line(const Tree& tree) {
  Findings findings;
  for (const auto& [path, contents] : tree) {
    if (!is_code(path) || ends_with(path, ".def") || starts_with(path, "tests/compile/programs/")) continue;
    const std::string first = contents.substr(0, contents.find('\n'));
    if (first.find("SPDX-License-Identifier: Apache-2.0") == std::string::npos) {
      findings.push_back(fmt::format("{}:1: the first line is '// SPDX-License-Identifier: Apache-2.0'", path));
    }
  }
  return findings;
}

Findings check_banned_words(const Tree& tree) {
  Findings findings;
  for (const Ban& ban : bans()) {
    const std::regex pattern(ban.pattern);
    for (const auto& [path, contents] : tree) {
      if (!is_code(path) || starts_with(path, "tests/tidy/") || allowed_at(path, ban.allowed)) continue;
      for_each_line(contents, [&, &path = path](int number, const std::string& line) {
        std::smatch match;
        const bool marks_count_in_comments = ban.allowed.empty() || std::string(ban.pattern).find("/work/") == 0;
        const std::string text = marks_count_in_comments ? line : without_comment(line);
        if (std::regex_search(text, match, pattern)) {
          findings.push_back(fmt::format("{}:{}: '{}': {}", path, number, match.str(), ban.reason));
        }
      });
    }
  }
  return findings;
}

Findings check_length(const Tree& tree) {
  Findings findings;
  for (const auto& [path, contents] : tree) {
    if (!is_code(path)) continue;
    const auto lines = std::count(contents.begin(), contents.end(), '\n');
    const int most = starts_with(path, "tests/") ? 800 : 600;
    if (lines > most)
      findings.push_back(fmt::format("{}:{}: a file has at most {} lines; is it one idea?", path, lines, most));
  }
  return findings;
}

Findings check_named_files_exist(const Tree& tree) {
  static const std::regex kPath(
      R"(`((?:lib|backends|sim|tests|tools|examples|bench|docs|cmake|\.ci)/[A-Za-z0-9_./-]+)`)");
  Findings findings;
  for (const char* document : {"README.md", "ARCHITECTURE.md", "tests/README.md", "docs/roadmap.md"}) {
    const auto it = tree.find(document);
    if (it == tree.end()) {
      findings.push_back(fmt::format("{}:1: the document is missing", document));
      continue;
    }
    for_each_line(it->second, [&](int number, const std::string& line) {
      for (std::sregex_iterator match(line.begin(), line.end(), kPath), end; match != end; ++match) {
        const std::string named = (*match)[1];
        const bool exists = std::any_of(tree.begin(), tree.end(), [&](const auto& entry) {
          return entry.first == named || starts_with(entry.first, ends_with(named, "/") ? named : named + "/");
        });
        if (!exists) findings.push_back(fmt::format("{}:{}: names {}, which does not exist", document, number, named));
      }
    });
  }
  return findings;
}

Findings check_nccl_names(const Tree& tree) {
  static const std::regex kName(R"(\bp?nccl[A-Z]\w*)");
  Findings findings;
  for (const auto& [path, contents] : tree) {
    const bool checked =
        (starts_with(path, "lib/base/") || starts_with(path, "lib/simt/") || starts_with(path, "backends/")) &&
        is_code(path) && path != "backends/gpi/plugin_abi.h" &&
        path != "backends/misuse.cc";  // its reports speak to the program's author in the API's words
    if (!checked) continue;
    for_each_line(contents, [&, &path = path](int number, const std::string& line) {
      std::smatch match;
      const std::string code = identifiers_of(line);
      if (std::regex_search(code, match, kName)) {
        findings.push_back(fmt::format("{}:{}: '{}': NCCL's names stand only in lib/include and lib/comm/c_api*.cc",
                                       path, number, match.str()));
      }
    });
  }
  return findings;
}

Findings check_mutants(const Tree& tree) {
  static const std::regex kSite(R"(\bMUTANT\((\w+)\))");
  static const std::regex kListed(R"(^ANYGIN_MUTANT_SITE\((\w+),)");
  const auto list = tree.find("lib/base/mutants.def");
  if (list == tree.end()) return {"lib/base/mutants.def:1: the list of mutants is missing"};
  std::set<std::string> listed, sites;
  for_each_line(list->second, [&](int, const std::string& line) {
    std::smatch match;
    if (std::regex_search(line, match, kListed)) listed.insert(match[1]);
  });
  Findings findings;
  for (const auto& [path, contents] : tree) {
    if (!is_code(path) || starts_with(path, "tests/") || path == "lib/base/mutant.h" || path == "lib/base/mutants.def")
      continue;
    for_each_line(contents, [&, &path = path](int number, const std::string& line) {
      const std::string code = without_comment(line);
      for (std::sregex_iterator match(code.begin(), code.end(), kSite), end; match != end; ++match) {
        sites.insert((*match)[1]);
        if (listed.count((*match)[1]) == 0) {
          findings.push_back(
              fmt::format("{}:{}: mutant {} is not listed in lib/base/mutants.def", path, number, (*match)[1].str()));
        }
      }
    });
  }
  for (const std::string& name : listed) {
    if (sites.count(name) == 0) findings.push_back(fmt::format("lib/base/mutants.def:1: {} has no site", name));
  }
  return findings;
}

Findings check_sources_listed(const Tree& tree) {
  std::string lists;
  for (const auto& [path, contents] : tree) {
    if (ends_with(path, "CMakeLists.txt") || ends_with(path, ".cmake")) lists += contents;
  }
  Findings findings;
  for (const auto& [path, contents] : tree) {
    if (!ends_with(path, ".cc") && !ends_with(path, ".S")) continue;
    if (starts_with(path, "tests/compile/")) continue;
    if (lists.find(file_name(path)) == std::string::npos)
      findings.push_back(fmt::format("{}:1: stands in no CMakeLists.txt", path));
  }
  return findings;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {{"include_direction", check_include_direction},
                                           {"unique_names", check_unique_names},
                                           {"first_line", check_first_line},
                                           {"banned_words", check_banned_words},
                                           {"length", check_length},
                                           {"named_files_exist", check_named_files_exist},
                                           {"nccl_names", check_nccl_names},
                                           {"mutants", check_mutants},
                                           {"sources_listed", check_sources_listed},
                                           {"causes", check_causes},
                                           {"references", check_references},
                                           {"promises", check_promises}};
  return kRules;
}

Tree read_tree(const std::string& root) {
  namespace fs = std::filesystem;
  Tree tree;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator(); ++it) {
    const std::string name = it->path().filename();
    if (it->is_directory() && (name == "build" || name == ".git" || name == ".cache")) it.disable_recursion_pending();
    const std::string path = fs::relative(it->path(), root);
    if (!it->is_regular_file() || it->is_symlink() || starts_with(path, "docs/measurements/")) continue;
    std::ifstream stream(it->path(), std::ios::binary);
    tree[path] = std::string(std::istreambuf_iterator<char>(stream), {});
  }
  return tree;
}

}  // namespace anygin::tidy
