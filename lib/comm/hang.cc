// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/hang.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "anygin/base/env_real.h"
#include "anygin/base/host_threads.h"
#include "anygin/base/kernel_side.h"
#include "anygin/base/mutant.h"
#include "anygin/base/options.h"
#include "anygin/base/order.h"
#include "anygin/base/wait_reason.h"
#include "anygin/base/world.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/host_queue.h"
#include "anygin/comm/process_state.h"
#include "anygin/simt/device.h"

namespace anygin::comm {
namespace {

constexpr uint64_t kPeriodMaxNs = 100'000'000;
constexpr uint64_t kPeriodMinNs = 1'000'000;
constexpr unsigned kMissedBeats = 5;       // so many looks without a beat: the peer is stopped
constexpr size_t kLanesListed = 1u << 16;  // looked at for the report
constexpr size_t kLinesListed = 64;        // of one kind, printed

uint64_t period_for(uint64_t timeout_ns) {
  return std::clamp(timeout_ns / 10, kPeriodMinNs, kPeriodMaxNs);
}

// A thread in pthread_join or on a mutex does nothing that somebody else does not start.
bool is_inside(const HostThread& thread) {
  return thread.waits || waits_for_another_thread(thread.id);
}

std::string name_of(const HostThread& thread) {
  if (thread.inside) return fmt::format("thread {}: {}", thread.id, thread.call);
  const std::string last = thread.call.empty() ? "" : fmt::format(", last named call {}", thread.call);
  return fmt::format("thread {} {}{}", thread.id, thread.waits ? "in a stream, event or device call" : "outside", last);
}

// Lanes that wait for the same, block by block.
std::vector<std::string> describe_lanes() {
  const std::vector<simt::BlockedLane> lanes = simt::blocked_lanes(kLanesListed);
  std::vector<std::string> lines;
  for (size_t at = 0; at < lanes.size();) {
    const simt::BlockedLane& first = lanes[at];
    size_t count = 0;
    const auto same = [&](const simt::BlockedLane& lane) {
      return lane.device == first.device && lane.grid == first.grid &&
             std::equal(lane.block, lane.block + 3, first.block) && lane.what == first.what;
    };
    while (at < lanes.size() && same(lanes[at])) ++at, ++count;
    lines.push_back(fmt::format("device {} kernel {} (launch {}) block ({},{},{}), {} thread{} from ({},{},{}): {}",
                                first.device, first.kernel, first.grid, first.block[0], first.block[1], first.block[2],
                                count, count == 1 ? "" : "s", first.thread[0], first.thread[1], first.thread[2],
                                first.what));
  }
  return lines;
}

bool has_long_waits(const WaitBoard& board) {
  const auto noted = [](const WaitEntry& entry) { return observe(&entry.complete) != 0; };
  return std::any_of(std::begin(board.entries), std::end(board.entries), noted);
}

// Where kernels do not park, one that only computes looks like one that is stuck: a rank waits if a lane of it says so,
// or its host does.
bool rank_waits(Communicator& communicator) {
  return kernel_side().calls_us() || has_long_waits(communicator.wait_board()) || communicator.left() ||
         !communicator.plane().describe_wait().empty();
}

// What kernels that cannot park have noted: one line a lane, block by block.
std::vector<std::string> describe_board(const WaitBoard& board) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>, std::string> lines;
  for (const WaitEntry& entry : board.entries) {
    if (observe(&entry.complete) == 0) continue;
    const uint32_t* block = entry.block;
    const uint32_t* thread = entry.thread;
    lines[{block[2], block[1], block[0], thread[2], thread[1], thread[0]}] =
        fmt::format("block ({},{},{}), thread ({},{},{}): {}", block[0], block[1], block[2], thread[0], thread[1],
                    thread[2], describe_reason(entry.reason));
  }
  std::vector<std::string> ordered;
  for (const auto& [place, line] : lines) ordered.push_back(line);
  return ordered;
}

std::vector<std::string> describe_engines() {
  std::vector<std::string> lines;
  world().executor.visit_engines(
      [](Engine& engine, void* argument) {
        std::vector<std::string> pending;
        engine.describe_pending(pending);
        for (const std::string& line : pending) {
          static_cast<std::vector<std::string>*>(argument)->push_back(fmt::format("{}: {}", engine.name(), line));
        }
      },
      &lines);
  return lines;
}

void append(std::vector<std::string>& out, const std::vector<std::string>& lines) {
  for (size_t i = 0; i < lines.size() && i < kLinesListed; ++i) out.push_back("  " + lines[i]);
  if (lines.size() > kLinesListed) out.push_back(fmt::format("  ... and {} more", lines.size() - kLinesListed));
}

}  // namespace

// --- The rule --------------------------------------------------------------------------------------------------------
Verdict HangRule::look(const Observation& seen, uint64_t now_ns) {
  const bool still = started_ && seen.someone_waits && seen.idle && seen.peers_idle && seen.progress == progress_;
  const bool inside = seen.all_inside && seen.peers_inside;
  progress_ = seen.progress;
  started_ = true;
  if (!still || !inside) inside_since_ns_ = now_ns;
  if (!still) {
    since_ns_ = now_ns;
    warned_ = judged_ = false;
    return Verdict::kNone;
  }
  if (timeout_ns_ == 0 || MUTANT(comm_hang_unjudged) || now_ns - since_ns_ < timeout_ns_ || judged_)
    return Verdict::kNone;
  // Who has just come in may have brought what the others wait for: it is on its way.
  if (inside && (now_ns - inside_since_ns_ >= timeout_ns_ || MUTANT(comm_latecomer_judged))) {
    judged_ = true;
    return Verdict::kHang;
  }
  if (inside || warned_) return Verdict::kNone;
  warned_ = true;
  return Verdict::kWarn;
}

// --- The monitor -----------------------------------------------------------------------------------------------------
HangMonitor::HangMonitor(ProcessState& process)
    : process_(process),
      timeout_ns_(options().hang_timeout_ns),
      period_ns_(period_for(timeout_ns_)),
      rule_(timeout_ns_) {}

void HangMonitor::start(ControlLoop& loop) {
  loop.set_beat(period_ns_, [this] { beat(); });
}

// What the other processes say; those that are stopped have said nothing lately. Their progress is added.
bool HangMonitor::peers_idle(uint64_t* progress) {
  bool idle = true;
  peers_outside_.clear();
  std::map<uint64_t, PeerProcess*> peers;
  process_.visit([&](Communicator& communicator) {
    for (Rank rank = 0; rank < communicator.size(); ++rank) {
      if (communicator.plane().is_local(rank) || communicator.plane().is_gone(rank)) continue;
      const uint64_t nonce = communicator.plane().members()[static_cast<size_t>(rank)].process_nonce;
      peers[nonce] = nullptr;
    }
  });
  for (auto& [nonce, peer] : peers) {
    peer = process_.peer(nonce);
    if (peer == nullptr) return false;
    const ControlPage& page = peer->page.control();
    *progress += page.progress.load();
    const uint32_t state = page.hopeless.load();
    idle &= state != 0;
    if (state == ControlPage::kIdle) peers_outside_.push_back(page.pid);
    auto known =
        std::find_if(peer_beats_.begin(), peer_beats_.end(), [n = nonce](const PeerBeat& b) { return b.nonce == n; });
    if (known == peer_beats_.end()) known = peer_beats_.insert(peer_beats_.end(), {nonce, 0, 0});
    const uint64_t beats = page.beats.load();
    known->missed = beats == known->beats ? known->missed + 1 : 0;
    known->beats = beats;
    idle &= known->missed < kMissedBeats;
  }
  return idle;
}

// Lately: a worker that does not get a core for a while is not to be taken for one that has stopped computing.
bool HangMonitor::lanes_compute() {
  const uint64_t now = world().clock.now() / kNanosecond;
  if (lane_watch_.look()) computed_until_ns_ = now + timeout_ns_;
  return now < computed_until_ns_ && !MUTANT(comm_compute_unseen);
}

Observation HangMonitor::observe() {
  Observation seen;
  uint64_t progress = world().executor.progress() + simt::lane_progress();
  bool busy = false;
  process_.visit([&](Communicator& communicator) {
    if (const Backend* backend = communicator.backend()) busy |= backend->busy();
    if (const HostQueue* queue = communicator.host_queue()) busy |= queue->busy();
    communicator.notice_misuse();
    busy |= !rank_waits(communicator);
    seen.someone_waits |= has_long_waits(communicator.wait_board());
    progress += load_relaxed(&communicator.wait_board().waits_noted);
  });
  seen.idle = !busy && simt::runnable_lanes() == 0 && progress == last_progress_;
  last_progress_ = progress;
  seen.progress = progress;
  seen.someone_waits |= simt::parked_lanes() > 0;
  seen.all_inside = !lanes_compute();
  for (const HostThread& thread : host_threads()) {
    seen.someone_waits |= thread.waits;
    if (seen.idle) seen.all_inside &= is_inside(thread);
  }
  ControlPage& page = world().page.control();
  page.progress.store(progress);
  page.hopeless.store(!seen.idle ? 0 : seen.all_inside ? ControlPage::kHopeless : ControlPage::kIdle);
  page.beats.fetch_add(1);
  seen.peers_idle = peers_idle(&seen.progress);
  seen.peers_inside = peers_outside_.empty();
  return seen;
}

void HangMonitor::beat() {
  const Observation seen = observe();
  const Verdict verdict = rule_.look(seen, world().clock.now() / kNanosecond);
  if (verdict == Verdict::kNone) return;
  const double seconds = static_cast<double>(timeout_ns_) / 1e9;
  if (verdict == Verdict::kWarn) {
    std::vector<std::string> lines =
        describe(fmt::format("nothing moved for {} s; what runs outside this library may still change that", seconds));
    lines.push_back("outside:");
    std::vector<std::string> outside;
    if (lanes_compute()) outside.emplace_back("a kernel that computes or looks at the clock");
    for (const HostThread& thread : host_threads()) {
      if (!is_inside(thread)) outside.push_back(name_of(thread));
    }
    for (const uint32_t pid : peers_outside_) outside.push_back(fmt::format("some of {}", name_of_process(pid)));
    append(lines, outside);
    return print(lines);
  }
  report();
  end_all(fmt::format("hang: no rank could make progress for {} s (ANYGIN_HANG_TIMEOUT)", seconds));
}

void HangMonitor::judge(const std::string& title, const std::string& cause) {
  judged_for_us_ = true;
  print(describe(title));
  end_all(cause);
}

void HangMonitor::end_all(const std::string& cause) {
  const Status hang(Cause::kHang, "communicator", cause);
  process_.visit([&](Communicator& communicator) { communicator.raise(AbortCause::kHang, -1, hang, true); });
}

// "process 123 (rank 2)"
std::string HangMonitor::name_of_process(uint32_t pid) const {
  std::set<Rank> ranks;
  process_.visit([&](Communicator& communicator) {
    for (const Member& member : communicator.plane().members()) {
      if (member.pid == pid) ranks.insert(member.rank);
    }
  });
  return fmt::format("process {} (rank{} {})", pid, ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

void HangMonitor::report() {
  const uint64_t progress = world().executor.progress() + simt::lane_progress();
  if (reported_at_ == progress || judged_for_us_) return;
  reported_at_ = progress;
  const std::vector<HostThread> threads = host_threads();
  if (simt::parked_lanes() == 0 &&
      std::none_of(threads.begin(), threads.end(), [](const auto& t) { return t.waits; })) {
    return;  // a peer's verdict; nothing waits here
  }
  print(describe(fmt::format("hang: nobody can make progress (ANYGIN_HANG_TIMEOUT is {} s)",
                             static_cast<double>(timeout_ns_) / 1e9)));
}

std::vector<std::string> HangMonitor::describe(const std::string& title) const {
  std::vector<std::string> calls;
  std::vector<Rank> ranks;
  std::vector<std::string> lanes = describe_lanes();
  process_.visit([&](Communicator& communicator) {
    ranks.push_back(communicator.rank());
    for (std::string& line : describe_board(communicator.wait_board())) lanes.push_back(std::move(line));
    const std::string call = communicator.plane().describe_wait();
    if (!call.empty()) calls.push_back(call);
  });
  for (const HostThread& thread : host_threads()) {
    if (thread.waits) calls.push_back(name_of(thread));
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<std::string> lines = {title, fmt::format("process {} with rank{} {}", process_id(),
                                                       ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "))};
  const std::vector<std::string> engines = describe_engines();
  lines.push_back(lanes.empty() ? "no kernel waits" : "kernels wait:");
  append(lines, lanes);
  lines.push_back(calls.empty() ? "no host call waits" : "host calls wait:");
  append(lines, calls);
  lines.push_back(engines.empty() ? "nothing is in flight" : "in flight:");
  append(lines, engines);
  return lines;
}

// One write, so that the reports of several processes do not mix.
void HangMonitor::print(const std::vector<std::string>& lines) const {
  std::string text;
  for (const std::string& line : lines) text += "anygin: " + line + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace anygin::comm
