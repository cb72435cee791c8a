// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/control_thread.h"

#include <future>

#include "anygin/base/env_real.h"

namespace anygin::comm {

ControlThread::ControlThread() : thread_([this] { loop(); }) {}

ControlThread::~ControlThread() {
  post([this] { stop_ = true; });
  thread_.join();
}

ControlThread::ClientId ControlThread::add(int fd, Client& client) {
  ClientId id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = next_id_++;
    entries_[id] = {fd, &client};
  }
  poller_.add(fd, id);
  return id;
}

void ControlThread::want_writable(ClientId id, bool wanted) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found != entries_.end()) poller_.want_writable(found->second.fd, id, wanted);
}

void ControlThread::remove(ClientId id) {
  const std::lock_guard dispatching(dispatch_mutex_);
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  poller_.remove(found->second.fd);
  entries_.erase(found);
}

void ControlThread::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  poller_.wake();
}

void ControlThread::drain() {
  std::promise<void> reached;
  post([&reached] { reached.set_value(); });
  reached.get_future().wait();
}

void ControlThread::set_beat(uint64_t period_ns, std::function<void()> beat) {
  post([this, period_ns, beat = std::move(beat)]() mutable {
    beat_period_ns_ = period_ns;
    beat_ = std::move(beat);
    next_beat_ = 0;
  });
}

void ControlThread::run_posted() {
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (const auto& item : work) item();
}

void ControlThread::dispatch(const Poller::Event& event) {
  const std::lock_guard dispatching(dispatch_mutex_);
  const auto client_of = [&]() -> Client* {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(event.cookie);
    return found != entries_.end() ? found->second.client : nullptr;
  };
  if (Client* client = client_of(); client != nullptr && event.writable) client->on_writable();
  if (Client* client = client_of(); client != nullptr && event.readable) client->on_readable();
}

void ControlThread::loop() {
  std::vector<Poller::Event> events;
  while (!stop_) {
    const uint64_t now = monotonic_ns();
    if (now >= next_beat_) {
      if (beat_) beat_();
      next_beat_ = monotonic_ns() + beat_period_ns_;
    }
    poller_.wait(next_beat_ - std::min(next_beat_, monotonic_ns()), events);
    for (const Poller::Event& event : events) dispatch(event);
    run_posted();
  }
}

}  // namespace anygin::comm
