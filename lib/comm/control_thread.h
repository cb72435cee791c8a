// SPDX-License-Identifier: Apache-2.0
// The one thread of a process that reads the control connections of all its communicators, and beats for the hang
// monitor. Everything it calls is short and never blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "anygin/base/net_socket.h"
#include "anygin/comm/control_carrier.h"

namespace anygin::comm {

class ControlThread final : public ControlLoop {
 public:
  // Whose connection became ready. Called on the control thread.
  class Client {
   public:
    virtual ~Client() = default;
    virtual void on_readable() = 0;
    virtual void on_writable() = 0;
  };
  using ClientId = uint64_t;

  ControlThread();
  ~ControlThread() override;

  // The client is called from now on, whenever its descriptor can be read. Any thread.
  ClientId add(int fd, Client& client);
  void want_writable(ClientId id, bool wanted);
  // On return the client is not called any more; may be called by the client itself. The caller holds no lock that
  // clients take.
  void remove(ClientId id);

  void post(std::function<void()> work) override;
  void drain() override;
  void set_beat(uint64_t period_ns, std::function<void()> beat) override;

 private:
  struct Entry {
    int fd = -1;
    Client* client = nullptr;
  };
  void loop();
  void run_posted();
  void dispatch(const Poller::Event& event);

  Poller poller_;
  std::mutex mutex_;                     // entries_, posted_, beat_
  std::recursive_mutex dispatch_mutex_;  // held while a client is called
  std::map<ClientId, Entry> entries_;
  std::vector<std::function<void()>> posted_;
  std::function<void()> beat_;
  uint64_t beat_period_ns_ = 1'000'000'000;
  uint64_t next_beat_ = 0;  // of monotonic_ns()
  ClientId next_id_ = 1;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace anygin::comm
