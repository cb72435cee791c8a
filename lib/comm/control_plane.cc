// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/control_plane.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "anygin/base/mutant.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/wire_bytes.h"

namespace anygin::comm {

ControlPlane::ControlPlane(const ControlOpening& opening, std::vector<Member> members)
    : rank_(opening.me.rank),
      abort_word_(opening.abort_word),
      listener_(opening.listener),
      members_(std::move(members)),
      peers_(members_.size()) {
  for (Rank rank = 0; rank < size(); ++rank) remote_present_ += is_local(rank) ? 0 : 1;
}

ControlPlane::~ControlPlane() = default;

Result<std::unique_ptr<ControlPlane>> ControlPlane::join(const ControlOpening& opening) {
  Result<std::unique_ptr<Assembly>> assembly = opening.carrier.assemble(opening.id, opening.me, opening.patience);
  if (!assembly.ok()) return assembly.status();
  ANYGIN_TRY(check_agreement((*assembly)->members()));
  std::unique_ptr<ControlPlane> plane(new ControlPlane(opening, (*assembly)->members()));
  Result<std::vector<std::unique_ptr<ControlLink>>> links = (*assembly)->connect(*plane);
  if (!links.ok()) return links.status();
  for (size_t peer = 0; peer < links->size(); ++peer) plane->peers_[peer].link = std::move((*links)[peer]);
  for (Peer& peer : plane->peers_) {
    if (peer.link) peer.link->start();
  }
  (*assembly)->confirm();
  return plane;
}

void ControlPlane::stop() {
  for (Peer& peer : peers_) {
    if (peer.link) peer.link->stop();
  }
}

std::string ControlPlane::describe_wait() const {
  const std::lock_guard lock(mutex_);
  if (!meeting_kind_.empty()) return fmt::format("rank {} waits in \"{}\"", rank_, meeting_kind_);
  if (!gathering_ || missing_.load() == 0) return "";
  std::vector<size_t> missing;
  for (size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i].link && peers_[i].gathers.empty()) missing.push_back(i);
  }
  return fmt::format("rank {} waits in \"{}\" (collective call {}) for rank{} {}", rank_, gathering_kind_, sequence_,
                     missing.size() == 1 ? "" : "s", fmt::join(missing, ", "));
}

bool ControlPlane::is_local(Rank rank) const {
  return members_[static_cast<size_t>(rank)].process_nonce == members_[static_cast<size_t>(rank_)].process_nonce;
}

bool ControlPlane::is_gone(Rank rank) const {
  const std::lock_guard lock(mutex_);
  return !peers_[static_cast<size_t>(rank)].present();
}

void ControlPlane::broadcast(const Message& message) {
  for (Peer& peer : peers_) {
    if (peer.link) (void)peer.link->send(message);
  }
}

void ControlPlane::tell_abort(AbortCause cause, const std::string& text) {
  if (MUTANT(comm_abort_untold)) return;
  Message message;
  message.type = MessageType::kAbort;
  message.bytes = ByteWriter().number(cause).text(text).take();
  broadcast(message);
}

void ControlPlane::leave() {
  if (leaving_.exchange(true)) return;
  Message message;
  message.type = MessageType::kLeave;
  broadcast(message);
}

// --- All-gather ------------------------------------------------------------------------------------------------------
Result<std::vector<Gift>> ControlPlane::all_gather(const char* kind, const Gift& mine) {
  const std::lock_guard one_at_a_time(collective_mutex_);
  // After an abort the ranks may have stopped at different calls.
  if (abort_word_ != nullptr && observe(abort_word_) != 0) {
    return Status(Cause::kAborted, kind, "the communicator was aborted");
  }
  Message message;
  message.kind = kind;
  message.bytes = mine.bytes;
  message.fd = mine.fd;
  {
    const std::lock_guard lock(mutex_);
    message.sequence = ++sequence_;
    int missing = 0;
    for (const Peer& peer : peers_) missing += peer.link && peer.gathers.empty() && !peer.counted_out ? 1 : 0;
    missing_.store(missing);
    gathering_ = true;
    gathering_kind_ = kind;
  }
  broadcast(message);
  WaitReason reason;
  reason.rank = rank_;
  const std::atomic<int>* missing = &missing_;
  (void)wait_until([missing] { return missing->load() == 0; }, abort_word_, reason);
  const std::lock_guard lock(mutex_);
  gathering_ = false;
  Status status = check_complete_locked(kind);
  if (status.ok()) status = check_kinds_locked(kind);
  std::vector<Gift> gifts = take_locked(mine);
  if (status.ok()) return gifts;
  for (const Gift& gift : gifts) {
    if (gift.fd >= 0) ::close(gift.fd);
  }
  return status;
}

// Whose part did not come: the dead are named before those who left, and before an abort that they caused. Who leaves
// after an abort has ended nothing.
Status ControlPlane::check_complete_locked(const char* kind) const {
  Status status;
  for (size_t i = 0; i < peers_.size(); ++i) {
    const Peer& peer = peers_[i];
    if (!peer.link || !peer.gathers.empty()) continue;
    const std::string who = fmt::format("rank {} (process {}) ", i, members_[i].pid);
    if (peer.dead) return Status(Cause::kPeerDied, kind, who + "died");
    if (peer.left && (abort_word_ == nullptr || observe(abort_word_) == 0)) {
      status = Status(Cause::kPeerLeft, kind, who + "has destroyed the communicator");
    } else if (status.ok()) {
      status = Status(Cause::kAborted, kind, "the communicator was aborted");
    }
  }
  return status;
}

// Every rank sees all kinds, so all come to the same verdict in the same words.
Status ControlPlane::check_kinds_locked(const char* kind) const {
  std::vector<std::string> kinds;
  for (size_t i = 0; i < peers_.size(); ++i) {
    const Peer& peer = peers_[i];
    ANYGIN_ASSERT(!peer.link || peer.gathers.front().sequence == sequence_);
    kinds.push_back(peer.link ? peer.gathers.front().kind : kind);
    if (kinds[i] == kinds[0] || MUTANT(comm_kind_unchecked)) continue;
    return Status(Cause::kCallMismatch, kind,
                  fmt::format("ranks disagree on collective call {} of the communicator: rank 0 is in \"{}\", rank {} "
                              "in \"{}\"; all ranks must make the same calls in the same order",
                              sequence_, kinds[0], i, kinds[i]));
  }
  return Status();
}

std::vector<Gift> ControlPlane::take_locked(const Gift& mine) {
  std::vector<Gift> gifts;
  for (Peer& peer : peers_) {
    if (!peer.link) {
      gifts.push_back({mine.bytes, mine.fd >= 0 ? ::fcntl(mine.fd, F_DUPFD_CLOEXEC, 0) : -1});
    } else if (!peer.gathers.empty()) {
      gifts.push_back({std::move(peer.gathers.front().bytes), peer.gathers.front().fd});
      peer.gathers.pop_front();
    }
  }
  return gifts;
}

// --- Some of the ranks -----------------------------------------------------------------------------------------------
namespace {

template <typename Messages>
auto part_of(Messages& messages, const std::string& what) {
  return std::find_if(messages.begin(), messages.end(), [&](const Message& part) { return part.kind == what; });
}

}  // namespace

// All parts are there, or one is not to come.
bool ControlPlane::met_locked(const std::vector<Rank>& ranks, const std::string& what) const {
  const auto here = [&](Rank rank) {
    const Peer& peer = peers_[static_cast<size_t>(rank)];
    return !peer.link || part_of(peer.meets, what) != peer.meets.end();
  };
  const auto gone = [&](Rank rank) { return !here(rank) && !peers_[static_cast<size_t>(rank)].present(); };
  return std::all_of(ranks.begin(), ranks.end(), here) || std::any_of(ranks.begin(), ranks.end(), gone);
}

Result<std::vector<std::string>> ControlPlane::gather_among(const std::vector<Rank>& ranks, const std::string& what,
                                                            const std::string& mine) {
  const std::lock_guard one_at_a_time(collective_mutex_);
  Message message;
  message.type = MessageType::kMeet;
  message.kind = what;
  message.bytes = mine;
  for (const Rank rank : ranks) {
    if (Peer& peer = peers_[static_cast<size_t>(rank)]; peer.link) (void)peer.link->send(message);
  }
  {
    const std::lock_guard lock(mutex_);
    meeting_kind_ = what;
  }
  WaitReason reason;
  reason.rank = rank_;
  const auto met = [&] {
    const std::lock_guard lock(mutex_);
    return met_locked(ranks, what);
  };
  const bool ended = wait_until(met, &meetings_end_, reason) != WaitOutcome::kSatisfied;
  const std::lock_guard lock(mutex_);
  meeting_kind_.clear();
  if (ended) return Status(Cause::kAborted, "communicator", what + ": it was aborted, or nobody got on");
  for (const Rank rank : ranks) {
    const Peer& peer = peers_[static_cast<size_t>(rank)];
    if (!peer.link || peer.present() || part_of(peer.meets, what) != peer.meets.end()) continue;
    return Status(peer.dead ? Cause::kPeerDied : Cause::kPeerEnded, "communicator",
                  fmt::format("{}: rank {} (process {}) {}", what, rank, members_[static_cast<size_t>(rank)].pid,
                              peer.dead ? "died" : "has destroyed the communicator"));
  }
  std::vector<std::string> parts;
  for (const Rank rank : ranks) {
    Peer& peer = peers_[static_cast<size_t>(rank)];
    parts.push_back(peer.link ? std::move(part_of(peer.meets, what)->bytes) : mine);
    if (peer.link) peer.meets.erase(part_of(peer.meets, what));
  }
  return parts;
}

void ControlPlane::end_meetings() {
  publish(&meetings_end_, static_cast<uint32_t>(AbortCause::kAborted));
  ring_everybody(world().executor);
}

// --- Control loop ----------------------------------------------------------------------------------------------------
void ControlPlane::on_message(int from, Message message) {
  const auto index = static_cast<size_t>(from);
  Peer& peer = peers_[index];
  if (message.type == MessageType::kAbort) {
    ByteReader in(message.bytes);
    const auto cause = in.number<AbortCause>();
    const std::string text = in.text();
    return listener_.on_peer_abort(from, cause, text);
  }
  {
    const std::lock_guard lock(mutex_);
    if (message.type == MessageType::kLeave) {
      peer.left = true;
      count_out_locked(peer, index);
    } else if (message.type == MessageType::kMeet) {
      peer.meets.push_back(std::move(message));
    } else {
      if (gathering_ && peer.gathers.empty()) missing_.fetch_sub(1);
      peer.gathers.push_back(std::move(message));
    }
  }
  ring_everybody(world().executor);
}

// The listener hears of a death before any wait ends because of it.
void ControlPlane::on_end(int from) {
  const auto index = static_cast<size_t>(from);
  Peer& peer = peers_[index];
  bool died = false;
  {
    const std::lock_guard lock(mutex_);
    died = !peer.left;
    peer.dead = died;
  }
  if (died && !leaving_.load() && !MUTANT(comm_death_unnoticed)) {
    listener_.on_peer_death(
        from, fmt::format("rank {} (process {}) died: its control connection closed", from, members_[index].pid));
  }
  {
    const std::lock_guard lock(mutex_);
    count_out_locked(peer, index);
  }
  ring_everybody(world().executor);
}

void ControlPlane::count_out_locked(Peer& peer, size_t index) {
  if (peer.counted_out) return;
  peer.counted_out = true;
  if (gathering_ && peer.gathers.empty()) missing_.fetch_sub(1);
  if (!is_local(static_cast<Rank>(index))) remote_present_.fetch_sub(1);
}

}  // namespace anygin::comm
