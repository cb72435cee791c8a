// SPDX-License-Identifier: Apache-2.0
// The engine's side of the host queue.
#include "anygin/comm/host_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "anygin/base/kernel_side.h"
#include "anygin/base/mutant.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/stream_gate.h"
#include "anygin/verbs/verbs_transport.h"

namespace anygin::comm {
namespace {

constexpr const char* kWhere = "host queue";
constexpr auto kChannels = static_cast<uint32_t>(Channel::kChannels);

uint64_t name_of(LaneId lane) {
  return (uint64_t{static_cast<uint32_t>(lane.channel)} << 32) | static_cast<uint32_t>(lane.peer);
}
LaneId lane_of(uint64_t name) {
  return {static_cast<Channel>(name >> 32), static_cast<Rank>(static_cast<uint32_t>(name))};
}

}  // namespace

struct HostQueue::Entry {
  LaneId lane;
  std::shared_ptr<HostTask> task;
  std::shared_ptr<StreamPoint> point;
  bool counted = false;  // its point does not wait for it any more
};

// --- Set-up ----------------------------------------------------------------------------------------------------------
std::string HostQueue::why_none(const Options& options) {
  if (!kernel_side().calls_us())
    return "not yet on the cuda target: a CUDA stream cannot wait for the engine; the cpu target has it";
  if (options.nic == "hw") return "ANYGIN_NIC is hw, which host operations do not have yet; emu would be right";
  if (options.fabric != "direct")
    return fmt::format("ANYGIN_FABRIC is {}, which this version does not have; direct would be right", options.fabric);
  return {};
}

HostQueue::HostQueue(std::unique_ptr<Transport> transport, const HostQueueOpening& opening)
    : transport_(std::move(transport)),
      listener_(opening.listener),
      rank_(opening.bootstrap.rank()),
      size_(opening.bootstrap.size()),
      selectors_(opening.selectors),
      id_(world().next_engine_id()),
      gate_(std::make_shared<StreamGate>(*this)),
      expected_(static_cast<size_t>(size_) * (kChannels + kRmaChannels * (selectors_ - size_t{1}))) {}

Result<std::unique_ptr<HostQueue>> HostQueue::open(const HostQueueOpening& opening) {
  Result<std::unique_ptr<Transport>> transport = verbs::VerbsTransport::open(
      opening.nic, opening.bootstrap, MUTANT(rma_puts_may_pass) ? verbs::Hints::kWhereAccepted : verbs::Hints::kNever);
  if (!transport.ok()) return transport.status();
  std::unique_ptr<HostQueue> made(new HostQueue(std::move(*transport), opening));
  ANYGIN_TRY(agree(opening.bootstrap, kWhere, made->allocate_cells()));
  ANYGIN_TRY(made->share(opening.traffic_class));
  world().executor.add(*made);
  return made;
}

Status HostQueue::allocate_cells() {
  Result<char*> memory = world().heap.allocate(expected_.size() * sizeof(uint64_t), -1);
  if (!memory.ok()) return memory.status();
  cells_ = reinterpret_cast<uint64_t*>(*memory);
  for (size_t i = 0; i < expected_.size(); ++i) store_relaxed(&cells_[i], uint64_t{0});
  return Status();
}

// Collective.
Status HostQueue::share(int traffic_class) {
  Result<uint32_t> region =
      transport_->register_region({reinterpret_cast<char*>(cells_), expected_.size() * sizeof(uint64_t), true});
  if (!region.ok()) return region.status();
  cell_region_ = *region;
  const uint32_t depth = std::min(kDepth, std::bit_floor(std::max(1u, transport_->capabilities().depth)));
  Result<uint32_t> first = transport_->open_contexts(kChannels, depth, traffic_class);
  if (!first.ok()) return first.status();
  first_context_ = *first;
  return Status();
}

HostQueue::~HostQueue() {
  gate_->close();
  if (first_context_) {
    world().executor.remove(*this);
    transport_->close_contexts(*first_context_, kChannels);
  }
  if (cell_region_) transport_->deregister_region(*cell_region_);
  if (cells_ != nullptr) {
    const Status freed = world().heap.free(cells_);
    ANYGIN_ASSERT(freed.ok());
  }
}

Status HostQueue::register_window(WindowId id, char* base, uint64_t bytes, bool strict_ordering) {
  Result<uint32_t> region = transport_->register_region({base, bytes, strict_ordering});
  if (!region.ok()) return region.status();
  const std::lock_guard lock(mutex_);
  regions_[id.value] = *region;
  return Status();
}

void HostQueue::deregister_window(WindowId id) {
  uint32_t region = kNoRegion;
  {
    const std::lock_guard lock(mutex_);
    const auto found = regions_.find(id.value);
    ANYGIN_ASSERT(found != regions_.end());
    region = found->second;
    regions_.erase(found);
  }
  transport_->deregister_region(region);
}

uint32_t HostQueue::region_of(WindowId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(id.value);
  return found == regions_.end() ? kNoRegion : found->second;
}

// --- Any thread ------------------------------------------------------------------------------------------------------
void HostQueue::look_again() {
  more_.store(true, std::memory_order_release);
  world().executor.kick(*this);
}

bool HostQueue::pending() const {
  return on_streams_.load(std::memory_order_acquire) != 0 || in_lanes_.load(std::memory_order_acquire) != 0 || busy();
}

void HostQueue::abort(const std::string& why) {
  gate_->give_up(why);
  for (Rank rank = 0; rank < size_; ++rank) transport_->fail_peer(rank);
  look_again();
  ring_everybody(world().executor);
}

std::shared_ptr<StreamPoint> HostQueue::line_up(std::vector<LaneTask> tasks, bool reached) {
  const auto point = std::make_shared<StreamPoint>();
  point->reached.store(reached, std::memory_order_release);
  point->left.store(static_cast<uint32_t>(tasks.size()), std::memory_order_release);
  const std::lock_guard lock(mutex_);
  for (LaneTask& one : tasks) {
    auto entry = std::make_shared<Entry>();
    entry->lane = one.lane;
    entry->task = std::move(one.task);
    entry->point = point;
    lanes_[one.lane].push_back(std::move(entry));
    in_lanes_.fetch_add(1, std::memory_order_acq_rel);
  }
  if (reached) look_again();
  return point;
}

// Adds to what was asked for, and says what the cells must reach.
std::shared_ptr<SignalWait> HostQueue::expect(Channel channel, const std::vector<SignalCount>& counts) {
  const auto wait = std::make_shared<SignalWait>();
  wait->channel = channel;
  const std::lock_guard lock(mutex_);
  for (const SignalCount& one : counts) {
    uint64_t& expected = expected_[cell_index(channel, one.source, one.selector)];
    expected = (MUTANT(rma_wait_not_cumulative) ? 0 : expected) + one.count;
    wait->wanted.push_back({one.source, expected, one.selector});
  }
  std::erase_if(waits_, [](const auto& old) { return old.expired(); });
  waits_.push_back(wait);
  return wait;
}

// --- Tasks -----------------------------------------------------------------------------------------------------------
void HostQueue::post(LaneId lane, Op op) {
  ANYGIN_ASSERT(current_ && has_room(lane));
  op.context = context_of(lane.channel);
  op.peer = lane.peer;
  op.cookie = ++last_cookie_;
  in_flight_[op.cookie] = current_;
  world().charge(Step::kPost, op.bytes);
  transport_->post(op);
}

void HostQueue::fail(AbortCause cause, Rank peer, Cause why_cause, const std::string& why) {
  gate_->give_up(why);
  listener_.on_error(cause, peer, Status(why_cause, kWhere, why));
}

SignalPart HostQueue::signal_of(Channel channel, uint32_t selector) const {
  return {true, Strength::kStrong, {*cell_region_, cell_index(channel, rank_, selector) * sizeof(uint64_t)}, 1};
}

uint64_t HostQueue::signals_from(Channel channel, Rank source, uint32_t selector) const {
  return observe(&cells_[cell_index(channel, source, selector)]);
}

// --- Engine ----------------------------------------------------------------------------------------------------------
bool HostQueue::has_work() const {
  return more_.load(std::memory_order_acquire) || looking_.load(std::memory_order_acquire) ||
         transport_->has_completions();
}

// The first task of each lane whose stream is there; what no stream will get to is dropped.
std::vector<std::shared_ptr<HostQueue::Entry>> HostQueue::heads() {
  std::vector<std::shared_ptr<Entry>> found;
  const std::lock_guard lock(mutex_);
  for (auto& [id, lane] : lanes_) {
    while (!lane.empty() && (gate_->hopeless() || lane.front()->point->abandoned.load(std::memory_order_acquire))) {
      lane.pop_front();
      in_lanes_.fetch_sub(1, std::memory_order_acq_rel);
    }
    if (MUTANT(rma_lane_overtakes))
      std::stable_partition(lane.begin(), lane.end(), [](const auto& one) { return one->point->reached.load(); });
    if (!lane.empty() && lane.front()->point->reached.load(std::memory_order_acquire)) found.push_back(lane.front());
  }
  return found;
}

void HostQueue::ready(ActionList& out) {
  const size_t before = out.size();
  more_.store(false, std::memory_order_release);
  bool looking = false;
  for (const std::shared_ptr<Entry>& entry : heads()) {
    if (entry->task->can_step(*this)) {
      out.add(id_, kStep, name_of(entry->lane));
    } else {
      looking = true;
    }
  }
  looking_.store(looking, std::memory_order_release);
  if (!skip_poll_ && transport_->has_completions()) out.add(id_, kPoll, 0);
  skip_poll_ = false;
  if (out.size() != before) more_.store(true, std::memory_order_release);
}

void HostQueue::run(const Action& action, Time) {
  if (action.kind == kPoll) {
    poll();
  } else {
    ANYGIN_ASSERT(action.kind == kStep);
    step(lane_of(action.name));
  }
  more_.store(true, std::memory_order_release);
}

void HostQueue::step(LaneId id) {
  {
    const std::lock_guard lock(mutex_);
    const Lane& lane = lanes_[id];
    if (lane.empty()) return;
    current_ = lane.front();
  }
  if (!current_->point->reached.load(std::memory_order_acquire) || !current_->task->can_step(*this)) return;
  current_->task->step(*this);
  if (current_->task->issued()) {
    const std::lock_guard lock(mutex_);
    lanes_[id].pop_front();
    in_lanes_.fetch_sub(1, std::memory_order_acq_rel);
  }
  settle(*current_);
  current_.reset();
}

void HostQueue::poll() {
  std::array<OpCompletion, kPollBatch> completions;
  world().charge(Step::kPoll, 0);
  const size_t count = transport_->poll(completions);
  for (size_t i = 0; i < count; ++i) complete(completions[i]);
  skip_poll_ = count == 0;
}

void HostQueue::complete(const OpCompletion& completion) {
  const auto found = in_flight_.find(completion.cookie);
  ANYGIN_ASSERT(found != in_flight_.end());
  current_ = std::move(found->second);
  in_flight_.erase(found);
  if (completion.error == Cause::kNone) {
    current_->task->completed(*this, completion);
    settle(*current_);
  } else if (!gate_->hopeless()) {
    fail(AbortCause::kNicError, completion.peer, completion.error,
         fmt::format("{} to rank {} failed: {}", current_->task->describe(), completion.peer, completion.what));
  }
  current_.reset();
}

// The stream goes on when the last task of its point is finished.
void HostQueue::settle(Entry& entry) {
  if (entry.counted || !entry.task->finished()) return;
  entry.counted = true;
  if (entry.point->left.fetch_sub(1, std::memory_order_acq_rel) == 1) ring_everybody(world().executor);
}

void HostQueue::describe_pending(std::vector<std::string>& out) const {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, lane] : lanes_) {
      if (lane.empty()) continue;
      const Entry& first = *lane.front();
      const char* state = first.point->reached.load(std::memory_order_acquire) ? "" : ", whose stream is not there yet";
      out.push_back(fmt::format("rank {} to rank {}: {} queued, first {}{}", rank_, id.peer, lane.size(),
                                first.task->describe(), state));
    }
    for (const auto& weak : waits_) {
      const std::shared_ptr<SignalWait> wait = weak.lock();
      if (!wait) continue;
      for (const SignalCount& one : wait->wanted) {
        const uint64_t is = signals_from(wait->channel, one.source, one.selector);
        if (is >= one.count) continue;
        out.push_back(
            fmt::format("rank {} waits for signals of rank {}: want {}, is {}", rank_, one.source, one.count, is));
      }
    }
  }
  transport_->describe_pending(out);
}

}  // namespace anygin::comm
