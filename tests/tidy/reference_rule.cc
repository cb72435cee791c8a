// SPDX-License-Identifier: Apache-2.0
// What a comment cites can be looked up in this tree.
#include <fmt/format.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tidy/tidy_rules.h"

namespace anygin::tidy {
namespace {

constexpr const char* kReferences = "docs/references.md";

// One citation of a document: "2.8, 4 and 6" becomes three.
std::vector<std::string> sections(const std::string& cited) {
  static const std::regex kSection(R"((?:[AB]\.)?[0-9]+(?:\.[0-9]+)*)");
  std::vector<std::string> all;
  for (std::sregex_iterator match(cited.begin(), cited.end(), kSection), end; match != end; ++match) {
    all.push_back(match->str());
  }
  return all;
}

using Places = std::map<std::string, std::string>;  // section -> where it is cited first

Places cited_sections(const Tree& tree) {
  static const std::regex kCitation(
      R"(\b[Cc]ontract ((?:[AB]\.)?[0-9][0-9.]*(?:(?:, | and )(?:[AB]\.)?[0-9][0-9.]*)*))");
  Places places;
  for (const auto& [path, contents] : tree) {
    if (path == kReferences || path.rfind("tests/tidy/", 0) == 0) continue;
    std::istringstream stream(contents);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      for (std::sregex_iterator match(line.begin(), line.end(), kCitation), end; match != end; ++match) {
        for (const std::string& section : sections((*match)[1])) {
          places.emplace(section, fmt::format("{}:{}", path, number));
        }
      }
    }
  }
  return places;
}

std::set<std::string> explained_sections(const std::string& page) {
  static const std::regex kRow(R"(^\| contract (\S+) \|)");
  std::set<std::string> rows;
  std::istringstream stream(page);
  std::string line;
  while (std::getline(stream, line)) {
    std::smatch match;
    if (std::regex_search(line, match, kRow)) rows.insert(match[1]);
  }
  return rows;
}

bool is_page(const Tree& tree, const std::string& number) {
  const std::string prefix = "docs/decisions/" + number + "-";
  const auto at = tree.lower_bound(prefix);
  return at != tree.end() && at->first.rfind(prefix, 0) == 0;
}

void check_decisions(const Tree& tree, Findings& findings) {
  static const std::regex kDecisions(R"(decisions/([0-9]{4}(?:, [0-9]{4})*))");
  static const std::regex kDesign(R"(\b[Dd]esign(?:\.md)?,? (?:section |decision )?[0-9])");
  for (const auto& [path, contents] : tree) {
    if (path.rfind("tests/tidy/", 0) == 0) continue;
    std::istringstream stream(contents);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      if (std::regex_search(line, kDesign))
        findings.push_back(fmt::format("{}:{}: cite the page in docs/decisions", path, number));
      for (std::sregex_iterator match(line.begin(), line.end(), kDecisions), end; match != end; ++match) {
        const std::string pages = (*match)[1];
        for (size_t at = 0; at < pages.size(); at += 6) {
          const std::string page = pages.substr(at, 4);
          if (!is_page(tree, page))
            findings.push_back(fmt::format("{}:{}: there is no page docs/decisions/{}", path, number, page));
        }
      }
    }
  }
}

}  // namespace

Findings check_references(const Tree& tree) {
  const auto page = tree.find(kReferences);
  if (page == tree.end()) return {fmt::format("{}:1: the document is missing", kReferences)};
  const std::set<std::string> explained = explained_sections(page->second);
  const Places cited = cited_sections(tree);
  Findings findings;
  for (const auto& [section, place] : cited) {
    if (explained.count(section) == 0)
      findings.push_back(fmt::format("{}: contract {} has no row in {}", place, section, kReferences));
  }
  for (const std::string& section : explained) {
    if (cited.count(section) == 0)
      findings.push_back(fmt::format("{}:1: contract {} is cited nowhere", kReferences, section));
  }
  check_decisions(tree, findings);
  return findings;
}

}  // namespace anygin::tidy
