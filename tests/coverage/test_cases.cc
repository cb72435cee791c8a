// SPDX-License-Identifier: Apache-2.0
#include "coverage/test_cases.h"

#include <fmt/format.h>

#include <deque>
#include <regex>

#include "coverage/source_words.h"

namespace anygin::coverage {
namespace {

constexpr int kLinesOfMarker = 6;  // how far below it the call may stand

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}
std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

struct File {
  std::string path;
  Source source;
  std::vector<Unit> units;
  std::map<const Unit*, std::vector<std::string>> marked;
};
using ReadFiles = std::map<std::string, File>;

// "ncclGin.put(ncclSymPtr)" -> "put"; "ncclSymPtr.operator(+=)" -> "+"
std::string called_by(const std::string& marked) {
  const std::string path = marked.substr(0, marked.find('('));
  if (ends_with(path, ".operator")) return marked.substr(path.size() + 1, 1);
  const size_t end = path.find_last_of(".:");
  return end == std::string::npos ? path : path.substr(end + 1);
}

bool names_near(const Unit& unit, const std::string& word, int line) {
  for (const Word& w : unit.words) {
    if (w.text == word && w.line >= line && w.line <= line + kLinesOfMarker) return true;
  }
  return false;
}

void place_markers(File& file, std::vector<std::string>& errors) {
  for (const Marker& marker : file.source.markers) {
    for (const std::string& name : marker.names) {
      const Unit* owner = nullptr;
      for (const Unit& unit : file.units) {
        if (unit.first_line <= marker.line + 1 && marker.line <= unit.last_line &&
            names_near(unit, called_by(name), marker.line))
          owner = &unit;
      }
      if (owner != nullptr) {
        file.marked[owner].push_back(name);
      } else {
        errors.push_back(fmt::format("{}:{}: says that it covers {}, and the next {} lines do not call {}", file.path,
                                     marker.line, name, kLinesOfMarker, called_by(name)));
      }
    }
  }
}

// The file and the test headers that it includes, one by the other.
std::vector<const File*> with_headers(const File& file, const ReadFiles& files) {
  std::vector<const File*> found = {&file};
  for (size_t i = 0; i < found.size(); ++i) {
    for (const std::string& include : found[i]->source.includes) {
      for (const auto& [path, other] : files) {
        if (file_name(path) != file_name(include)) continue;
        bool known = false;
        for (const File* f : found) known = known || f == &other;
        if (!known) found.push_back(&other);
      }
    }
  }
  return found;
}

bool compares(const std::string& word) {
  static const std::regex kChecks(R"((EXPECT|ASSERT)_\w+|expect_\w+|fail|ADD_FAILURE|FAIL)");
  return std::regex_match(word, kChecks);
}

struct Reached {
  const File* file;
  const Unit* unit;
  int distance;
};

Case read_case(const File& file, const Unit& body, const std::vector<const File*>& sources) {
  Case found;
  found.file = file.path;
  found.name = body.test;
  std::set<const Unit*> seen = {&body};
  std::deque<Reached> open = {{&file, &body, 0}};
  for (const Unit& unit : file.units) {
    if (unit.names.empty() && unit.test.empty()) open.push_back({&file, &unit, 0});  // using nccl::utility::divUp;
  }
  while (!open.empty()) {
    const Reached at = open.front();
    open.pop_front();
    const auto marked = at.file->marked.find(at.unit);
    if (marked != at.file->marked.end()) {
      for (const std::string& name : marked->second) found.markers.emplace(name, at.distance);
    }
    std::set<std::string> calls;
    for (const Word& word : at.unit->words) {
      if (!word.is_identifier) continue;
      if (word.is_member) found.words.emplace("." + word.text, at.distance);
      found.words.emplace(word.text, at.distance);
      calls.insert(word.text);
      found.checks = found.checks || (at.file == &file && compares(word.text));
    }
    for (const File* source : sources) {
      for (const Unit& unit : source->units) {
        if (!unit.test.empty() || seen.count(&unit) != 0) continue;
        for (const std::string& name : unit.names) {
          if (calls.count(name) == 0 || !seen.insert(&unit).second) continue;
          open.push_back({source, &unit, at.distance + 1});
        }
      }
    }
  }
  return found;
}

// Does a CMake list of the tests name the source?
bool is_built(const std::string& path, const std::string& lists) {
  const std::string name = file_name(path);
  const std::string wanted = ends_with(name, ".cu") ? name.substr(0, name.size() - 3) : name;
  for (size_t at = lists.find(wanted); at != std::string::npos; at = lists.find(wanted, at + 1)) {
    const auto continues = [&](size_t i) {
      return i < lists.size() && (std::isalnum(static_cast<unsigned char>(lists[i])) || lists[i] == '_');
    };
    if (!(at > 0 && continues(at - 1)) && !continues(at + wanted.size())) return true;
  }
  return false;
}

}  // namespace

std::vector<Case> find_cases(const Files& tests, std::vector<std::string>& errors) {
  ReadFiles files;
  std::string lists;
  for (const auto& [path, contents] : tests) {
    if (ends_with(path, ".cmake") || ends_with(path, "CMakeLists.txt")) lists += contents;
    if (!ends_with(path, ".cc") && !ends_with(path, ".cu") && !ends_with(path, ".h")) continue;
    File& file = files[path];
    file.path = path;
    file.source = read_source(contents);
    file.units = units_of(file.source);
    place_markers(file, errors);
  }
  std::vector<Case> cases;
  for (const auto& [path, file] : files) {
    if (ends_with(path, ".h") || !is_built(path, lists)) continue;
    const std::vector<const File*> sources = with_headers(file, files);
    for (const Unit& unit : file.units) {
      if (!unit.test.empty()) cases.push_back(read_case(file, unit, sources));
    }
  }
  return cases;
}

std::set<std::string> identifiers_of(const std::string& text) {
  std::set<std::string> found;
  const Source source = read_source(text);
  for (const Word& word : source.words) {
    if (word.is_identifier) found.insert(word.text);
  }
  for (const std::vector<Word>& definition : source.definitions) {
    for (const Word& word : definition) {
      if (word.is_identifier) found.insert(word.text);
    }
  }
  return found;
}

}  // namespace anygin::coverage
