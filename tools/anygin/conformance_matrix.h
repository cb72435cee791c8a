// SPDX-License-Identifier: Apache-2.0
// Which line of the semantics holds on which arm, as a table.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance_arms.h"

namespace anygin::tools {

class ConformanceMatrix {
 public:
  explicit ConformanceMatrix(std::vector<Arm> arms) : arms_(std::move(arms)) {}

  void passed(const ConformanceCase& one, const Arm& arm);
  void failed(const ConformanceCase& one, const Arm& arm, const std::string& why);
  void not_here(const ConformanceCase& one, const Arm& arm, const std::string& why);

  int passes() const { return passes_; }
  int failures() const { return static_cast<int>(failed_.size()); }
  int elsewhere() const { return elsewhere_; }
  // Lines against arms: ok, FAIL, or - where no case of the line runs; then what failed, and what does not run where
  // and why.
  std::string text() const;

 private:
  struct Cell {
    int passed = 0, failed = 0;
  };
  std::vector<std::string> lines() const;

  const std::vector<Arm> arms_;
  std::map<std::pair<std::string, std::string>, Cell> cells_;   // (line, arm)
  std::map<std::pair<std::string, std::string>, int> reasons_;  // (case, reason) -> arms
  std::vector<std::string> failed_;
  int passes_ = 0, elsewhere_ = 0;
};

}  // namespace anygin::tools
