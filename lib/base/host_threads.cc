// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/host_threads.h"

#include <atomic>
#include <mutex>

#include "anygin/base/env_real.h"

namespace anygin {
namespace {

struct Record;

struct Registry {
  std::mutex mutex;
  Record* first = nullptr;
};

// Never destroyed: threads end after main does.
Registry& registry() {
  static Registry& only = *new Registry;
  return only;
}

// One a thread, in a list. The thread writes, the hang verdict reads.
struct Record {
  const uint32_t id = thread_id();
  std::atomic<const char*> call{nullptr};
  std::atomic<int> depth{0};
  std::atomic<int> waits{0};
  Record* next = nullptr;

  Record() {
    const std::lock_guard lock(registry().mutex);
    next = registry().first;
    registry().first = this;
  }
  ~Record() {
    const std::lock_guard lock(registry().mutex);
    Record** link = &registry().first;
    while (*link != this) link = &(*link)->next;
    *link = next;
  }
};

Record& own_record() {
  thread_local Record record;
  return record;
}

}  // namespace

ApiCall::ApiCall(const char* name) : outer_(own_record().call.load()) {
  own_record().call.store(name);
  own_record().depth.fetch_add(1);
}

ApiCall::~ApiCall() {
  own_record().depth.fetch_sub(1);
  if (outer_ != nullptr) own_record().call.store(outer_);
}

BlockingCall::BlockingCall() {
  own_record().waits.fetch_add(1);
}

BlockingCall::~BlockingCall() {
  own_record().waits.fetch_sub(1);
}

std::vector<HostThread> host_threads() {
  std::vector<HostThread> threads;
  const std::lock_guard lock(registry().mutex);
  for (const Record* record = registry().first; record != nullptr; record = record->next) {
    const char* call = record->call.load();
    threads.push_back({record->id, call != nullptr ? call : "", record->depth.load() > 0, record->waits.load() > 0});
  }
  return threads;
}

}  // namespace anygin
