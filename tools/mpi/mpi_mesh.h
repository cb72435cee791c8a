// SPDX-License-Identifier: Apache-2.0
// The connections of one MPI process to all others, and its mailbox. Messages are kept until they are asked for,
// however many there are: sending never blocks. All functions may be called by any thread.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "anygin/comm/control_carrier.h"
#include "anygin/comm/unique_id.h"

namespace anygin::mpi {

inline constexpr int kAny = -1;

// Who a message is for, besides its receiver.
struct Envelope {
  uint32_t context = 0;  // of the communicator
  int from = kAny;       // rank in the world; kAny when asking: anybody
  int tag = kAny;        // kAny when asking: any
};

struct Letter {
  Envelope envelope;
  std::string bytes;
};

class Mesh final : public comm::ControlLink::Receiver {
 public:
  // Collective over the processes that RANK and WORLD_SIZE number; without them a world of one.
  static Result<std::unique_ptr<Mesh>> join();

  int rank() const { return rank_; }
  int size() const { return size_; }
  void send(int to, const Envelope& envelope, std::string bytes);
  // Waits for the first letter that fits. Ends the process with a message if its sender ended before it sent one.
  Letter receive(const Envelope& wanted);
  // The process's end is no death from now on.
  void leave();
  // Tells all ranks to end with this code.
  void tell_abort(int exit_code);

 private:
  Mesh(int rank, int size) : rank_(rank), size_(size), ended_(static_cast<size_t>(size), false) {}
  Status connect(const comm::UniqueId& id, uint64_t hang_timeout_ns);
  void broadcast(const comm::Message& message);
  void on_message(int peer, comm::Message message) override;
  void on_end(int peer) override;
  std::list<Letter>::iterator find(const Envelope& wanted);
  bool can_still_come(const Envelope& wanted) const;

  const int rank_, size_;
  std::vector<std::unique_ptr<comm::ControlLink>> links_;  // null at the own place
  std::mutex mutex_;                                       // all below
  std::condition_variable arrived_;
  std::list<Letter> letters_;  // in order of arrival
  std::vector<bool> ended_;
};

}  // namespace anygin::mpi
