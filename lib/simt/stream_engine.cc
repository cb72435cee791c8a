// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/stream_engine.h"

#include "anygin/base/world.h"
#include "anygin/simt/stream.h"

namespace anygin::simt {

void StreamEngine::attend_to(std::shared_ptr<Stream> stream) {
  {
    const std::lock_guard lock(mutex_);
    const uint64_t id = stream->id();
    streams_.insert_or_assign(id, std::move(stream));
    waiting_.store(streams_.size(), std::memory_order_release);
  }
  world().executor.kick(*this);
}

void StreamEngine::ready(ActionList& out) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, stream] : streams_) {
    if (stream->attention_due()) out.add(id_, 0, id);
  }
}

void StreamEngine::run(const Action& action, Time) {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(action.name);
    if (found == streams_.end()) return;
    stream = std::move(found->second);
    streams_.erase(found);
    waiting_.store(streams_.size(), std::memory_order_release);
  }
  stream->attend();
}

StreamEngine& stream_engine() {
  static StreamEngine& engine = []() -> StreamEngine& {
    auto* added = new StreamEngine(world().next_engine_id());
    world().executor.add(*added);
    return *added;
  }();
  return engine;
}

}  // namespace anygin::simt
