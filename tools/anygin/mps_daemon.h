// SPDX-License-Identifier: Apache-2.0
// A private MPS daemon: kernels of several processes run on one GPU at the same time instead of in turns.
#pragma once

#include <string>
#include <vector>

namespace anygin::tools {

class MpsDaemon {
 public:
  MpsDaemon() = default;
  // Ends the daemon and removes its folder.
  ~MpsDaemon();
  MpsDaemon(const MpsDaemon&) = delete;
  MpsDaemon& operator=(const MpsDaemon&) = delete;

  // Starts one, unless the environment names one already. False if there is none: why_not() says why.
  bool start();
  const std::string& why_not() const { return why_not_; }
  // What its clients need, NAME=value.
  std::vector<std::string> environment() const;

 private:
  int control(const std::string& command) const;

  std::string folder_;  // pipes and logs; empty: nothing was started
  std::string why_not_;
};

}  // namespace anygin::tools
