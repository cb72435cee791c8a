// SPDX-License-Identifier: Apache-2.0
// Calls of a group that go on streams: launched on the first of these, between what all of them have and what comes
// later.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "anygin/comm/group.h"
#include "anygin/comm/host_queue.h"

namespace anygin::comm {

class StreamRound : public GroupRound {
 public:
  Status launch() final;
  uint64_t capture() const final { return capture_; }

 protected:
  // A call named `name` joins. kInvalidUsage if the streams are not all in the same capture, or all in none.
  Status join(std::string_view name, simt::Stream* stream);

 private:
  virtual Status launch_on(simt::Stream* stream) = 0;
  Status chain(bool before) const;

  std::vector<simt::Stream*> streams_;  // in order of their first calls
  uint64_t capture_ = 0;
};

// Adds the call to the thread's round of this kind, now or at the end of its group. Round: made of the communicator.
template <typename Round, typename Call>
Status submit_to_round(JobKind kind, Communicator& communicator, int device, Call call) {
  const bool alone = !group_active();
  if (alone) group_start();
  auto round = std::static_pointer_cast<Round>(group_round(kind, &communicator));
  Status added;
  if (!round) {
    round = std::make_shared<Round>(communicator);
    added = group_submit({kind, &communicator, device, [round] { return round->launch(); }, round});
  }
  if (added.ok()) added = round->add(std::move(call));
  if (!alone) return added;
  group_note(added);
  return group_end();
}

}  // namespace anygin::comm
