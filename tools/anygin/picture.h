// SPDX-License-Identifier: Apache-2.0
// What is drawn of a run: groups of lanes with slices on them, arrows between slices, spans of time on links. And the
// two forms it is written in.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace anygin::tools {

class Picture {
 public:
  // Times in microseconds.
  struct Place {
    int group = 0, lane = 0;
    double at = 0;
  };
  struct Slice {
    int group, lane;
    std::string name;
    double from, duration;
  };
  struct Arrow {
    Place from, to;
  };
  // On a link, by its name in the group; spans of one link may overlap.
  struct Span {
    int group;
    std::string name;
    double from, to;
  };

  static constexpr double kInstant = 0.05;  // how wide things without duration are drawn

  void group(int group, const std::string& name) { groups_.emplace(group, name); }
  // The number of the lane `name` in `group`, from 1 on; made when first used.
  int lane(int group, const std::string& name);
  void slice(Place where, const std::string& name, double duration = kInstant);
  // Both ends lie on slices; the second is not before the first.
  void arrow(Place from, Place to);
  void span(int group, const std::string& name, double from, double to) { spans_.push_back({group, name, from, to}); }

  // The Trace Event Format that ui.perfetto.dev and chrome://tracing read.
  std::string json() const;
  // A still picture.
  std::string svg() const;

 private:
  std::map<int, std::string> groups_;
  std::map<std::pair<int, std::string>, int> lanes_;
  std::vector<std::pair<int, std::string>> lane_names_;  // by number - 1, with their group
  std::vector<Slice> slices_;
  std::vector<Arrow> arrows_;
  std::vector<Span> spans_;
};

}  // namespace anygin::tools
