// SPDX-License-Identifier: Apache-2.0
// The Bootstrap of ranks that are threads of one test: each rank calls from a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "anygin/base/bootstrap.h"

namespace anygin::testing {

class LocalBootstrapGroup {
 public:
  explicit LocalBootstrapGroup(int ranks);
  ~LocalBootstrapGroup();

  int size() const;
  // Lives as long as the group. A collective that not all ranks enter within 10 s fails and names who is missing.
  Bootstrap& rank(int rank);
  // From now on every collective fails, and those under way do.
  void abort();
  // Runs `body(rank)` on a thread a rank and joins them.
  void run_on_all(const std::function<void(int rank)>& body);

 private:
  struct State;
  class Member;
  std::unique_ptr<State> state_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace anygin::testing
