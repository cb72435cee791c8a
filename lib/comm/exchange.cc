// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/exchange.h"

#include <fmt/format.h>

#include <utility>

#include "anygin/base/mutant.h"
#include "anygin/base/world.h"
#include "anygin/comm/communicator.h"

namespace anygin::comm {
namespace {

Channel channel_of(Lane lane, bool sends) {
  if (lane == Lane::kPairs) return sends ? Channel::kSend : Channel::kReceive;
  return sends ? Channel::kCollectiveSend : Channel::kCollectiveReceive;
}

}  // namespace

// Slots go out, and are counted, in the channel of the sending side; those given back in that of the receiving side.
class Exchange::Port final : public ExchangePort {
 public:
  Port(const Exchange& exchange, const HostQueue& queue, HostQueue* poster)
      : exchange_(exchange), queue_(queue), poster_(poster) {}

  bool may_put(Lane lane, Rank peer) const override { return queue_.has_room({channel_of(lane, true), peer}); }
  bool may_give_back(Lane lane, Rank peer) const override { return queue_.has_room({channel_of(lane, false), peer}); }
  uint64_t arrived(Lane lane, Rank peer) const override { return queue_.signals_from(channel_of(lane, true), peer); }
  uint64_t returned(Lane lane, Rank peer) const override { return queue_.signals_from(channel_of(lane, false), peer); }
  void put(Lane lane, Rank peer, uint64_t index, uint64_t bytes) override {
    const ExchangeShape& shape = exchange_.core_.shape();
    Op op;
    op.local = {exchange_.region_, shape.outbox(lane, peer, index)};
    op.remote = {exchange_.region_, shape.inbox(lane, queue_.rank(), index)};
    op.bytes = bytes;
    post({channel_of(lane, true), peer}, op);
  }
  void give_back(Lane lane, Rank peer) override { post({channel_of(lane, false), peer}, Op{}); }

 private:
  void post(LaneId lane, Op op) {
    op.signal = queue_.signal_of(lane.channel);
    poster_->post(lane, op);
  }

  const Exchange& exchange_;
  const HostQueue& queue_;
  HostQueue* const poster_;  // null: only looks
};

class Exchange::Task final : public HostTask {
 public:
  Task(Exchange& exchange, std::shared_ptr<Call> call, size_t index)
      : exchange_(exchange), call_(std::move(call)), transfer_(call_->transfers[index]) {}

  bool can_step(const HostQueue& queue) const override {
    return !failed_ && exchange_.core_.can_step(*call_, transfer_, Port(exchange_, queue, nullptr));
  }
  void step(HostQueue& queue) override {
    Port port(exchange_, queue, &queue);
    const Status moved = exchange_.core_.step(*call_, transfer_, port);
    if (moved.ok()) return;
    failed_ = true;
    exchange_.listener_.on_error(AbortCause::kMisuse, transfer_.peer, moved);
  }
  void completed(HostQueue&, const OpCompletion&) override {}  // what the peer signals says more
  bool issued() const override { return transfer_.done; }
  bool finished() const override { return transfer_.done; }
  std::string describe() const override {
    const std::string call = comm::describe(call_->request);
    if (call_->lane() == Lane::kPairs) return call;
    return fmt::format("{}: {} {} elements", call, transfer_.sends ? "gives" : "gets", transfer_.count);
  }

 private:
  Exchange& exchange_;
  const std::shared_ptr<Call> call_;
  Transfer& transfer_;
  bool failed_ = false;
};

// --- Set-up ----------------------------------------------------------------------------------------------------------
Exchange::Exchange(HostQueue& queue, BackendListener& listener, ExchangeShape shape, char* memory)
    : queue_(queue), listener_(listener), memory_(memory), core_(shape, queue.rank(), memory) {}

Result<std::unique_ptr<Exchange>> Exchange::open(HostQueue& queue, BackendListener& listener, int device) {
  const ExchangeShape shape = exchange_shape(queue.size());
  Result<char*> memory = world().heap.allocate(shape.bytes(), device);
  // Collective: a rank without memory gives none.
  Result<uint32_t> region = queue.add_region(memory.ok() ? *memory : nullptr, memory.ok() ? shape.bytes() : 0);
  if (!memory.ok()) return memory.status();
  std::unique_ptr<Exchange> made(new Exchange(queue, listener, shape, *memory));
  if (!region.ok()) return region.status();
  made->region_ = *region;
  return made;
}

Exchange::~Exchange() {
  const Status freed = world().heap.free(memory_);
  ANYGIN_ASSERT(freed.ok());
}

// --- Calls -----------------------------------------------------------------------------------------------------------
std::vector<LaneTask> Exchange::make_tasks(const std::vector<CallRequest>& requests) {
  std::vector<LaneTask> tasks;
  for (const CallRequest& request : requests) {
    const std::shared_ptr<Call> call = plan_call(request, queue_.rank(), queue_.size());
    for (size_t i = 0; i < call->transfers.size(); ++i) {
      const Transfer& transfer = call->transfers[i];
      tasks.push_back(
          {{channel_of(call->lane(), transfer.sends), transfer.peer}, std::make_shared<Task>(*this, call, i)});
    }
  }
  return tasks;
}

Status Exchange::launch(const std::vector<CallRequest>& requests, simt::Stream* stream) {
  const std::string what = requests.size() == 1
                               ? describe(requests.front())
                               : fmt::format("a group of {} calls from {} on", requests.size(), describe(requests[0]));
  const size_t together = MUTANT(exchange_group_in_pieces) ? 1 : requests.size();
  for (auto at = requests.begin(); at != requests.end(); at += static_cast<ptrdiff_t>(together)) {
    const std::vector<CallRequest> some(at, at + static_cast<ptrdiff_t>(together));
    ANYGIN_TRY(queue_.launch(
        stream, [this, some] { return make_tasks(some); }, what));
  }
  return Status();
}

// --- Operators -------------------------------------------------------------------------------------------------------
size_t Exchange::add_sum(const ScaledSum& sum) {
  const std::lock_guard lock(mutex_);
  sums_.push_back(sum);
  return sums_.size() - 1;
}

std::optional<ScaledSum> Exchange::find_sum(size_t index) const {
  const std::lock_guard lock(mutex_);
  if (index >= sums_.size() || !sums_[index].live) return std::nullopt;
  return sums_[index];
}

bool Exchange::remove_sum(size_t index) {
  const std::lock_guard lock(mutex_);
  return index < sums_.size() && std::exchange(sums_[index].live, false);
}

// --- Groups ----------------------------------------------------------------------------------------------------------
ExchangeRound::ExchangeRound(Communicator& communicator) : exchange_(*communicator.exchange()) {}

Status ExchangeRound::add(const ExchangeCall& call) {
  ANYGIN_TRY(join(call.request.where, call.stream));
  requests_.push_back(call.request);
  return Status();
}

Status submit_exchange(Communicator& communicator, const ExchangeCall& call) {
  return submit_to_round<ExchangeRound>(JobKind::kExchange, communicator, communicator.device(), call);
}

}  // namespace anygin::comm
