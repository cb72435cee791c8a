// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "anygin/base/env_real.h"
#include "anygin/base/log.h"
#include "anygin/base/time.h"
#include "anygin/comm/proof.h"

namespace anygin::comm {
namespace {

constexpr uint64_t kMillisecondNs = 1'000'000;
constexpr uint64_t kSecondNs = 1000 * kMillisecondNs;
constexpr uint64_t kSlice = 20 * kMillisecondNs;  // between two looks at the guests
constexpr uint64_t kIdle = 200 * kMillisecondNs;  // while there is none
constexpr uint64_t kHandshake = kSecondNs;        // a guest that does not answer for so long is dropped
constexpr uint64_t kWarnAgain = 10 * kSecondNs;
constexpr std::string_view kPlace = "rendezvous";  // of the proofs
constexpr char kTable = 'T', kFailure = 'F', kConfirmed = 'C';

uint64_t deadline_after(uint64_t ns) {
  return ns == 0 ? kNever : monotonic_ns() + ns;
}

}  // namespace

Patience join_patience(uint64_t hang_timeout_ns) {
  if (hang_timeout_ns == 0) return {kJoinWarnNs, 0};
  return {kJoinWarnNs, std::max(kJoinTimeoutNs, hang_timeout_ns)};
}

// --- Root ------------------------------------------------------------------------------------------------------------
struct Root::Guest {
  Socket socket;
  Member member;
  bool answered = false;   // has the table or the failure
  bool confirmed = false;  // is connected to all others, or has the failure
};

Root::Root(Socket listener, uint16_t port, const Token& token, Patience patience)
    : listener_(std::move(listener)), port_(port), token_(token), patience_(patience) {
  std::promise<void> done;
  thread_done_ = done.get_future();
  std::thread([this, done = std::move(done)]() mutable {
    serve();
    done.set_value();
  }).detach();  // it ends by itself; most Roots are kept until the process ends, and nobody joins it then
}

Root::~Root() {
  stop_.store(true);
  thread_done_.wait();
}

Result<std::unique_ptr<Root>> Root::start(const std::string& host, uint16_t port, const Token& token,
                                          Patience patience) {
  uint16_t bound = 0;
  Result<Socket> listener = listen_tcp(host, port, &bound);
  if (!listener.ok()) return listener.status();
  return std::unique_ptr<Root>(new Root(std::move(*listener), bound, token, patience));
}

void Root::serve() {
  std::vector<Guest> guests;
  uint64_t began = 0, warn_at = 0;
  while (!stop_.load() && !watch_guests(guests)) {
    receive_guest(guests);
    if (guests.empty() && refused_ == 0) continue;
    const uint64_t now = monotonic_ns();
    if (began == 0) {
      began = now;
      warn_at = now + patience_.warn_after_ns;
    }
    const bool complete = failure_.empty() && !guests.empty() && guests.size() == size_t(guests[0].member.size);
    if (complete && !guests[0].answered) {
      std::vector<Member> table;
      table.reserve(guests.size());
      for (const Guest& guest : guests) table.push_back(guest.member);
      std::sort(table.begin(), table.end(), [](const Member& a, const Member& b) { return a.rank < b.rank; });
      answer_all(guests, kTable + pack(table));
    }
    if (complete) {
      listener_ = Socket();  // who comes now means the next communicator at this place
      continue;
    }
    if (patience_.warn_after_ns != 0 && now >= warn_at) {
      warn_at = now + kWarnAgain;
      say_who_is_missing(guests, now - began);
    }
    if (patience_.give_up_after_ns != 0 && now - began >= patience_.give_up_after_ns) {
      if (!failure_.empty()) break;
      fail(guests, fmt::format("gave up after {} s: {}", (now - began) / kSecondNs, who_is_missing(guests)));
    }
  }
  if (stop_.load()) fail(guests, "the process that holds the rendezvous ended");
  listener_ = Socket();
  ended_.store(true);
}

// Drops guests that are gone; true once everybody was served.
bool Root::watch_guests(std::vector<Guest>& guests) {
  for (Guest& guest : guests) {
    if (guest.confirmed || wait_readable(guest.socket, nullptr, 0) == Readable::kTimeout) continue;
    char word = 0;
    const Status got = receive_all(guest.socket, &word, 1, 0);
    guest.confirmed = true;
    if (got.ok() && word == kConfirmed) continue;
    if (failure_.empty()) {
      fail(guests,
           fmt::format("rank {} (process {}) died or gave up while joining", guest.member.rank, guest.member.pid));
    }
  }
  const bool all_done = std::all_of(guests.begin(), guests.end(), [](const Guest& g) { return g.confirmed; });
  return !guests.empty() && all_done && guests.size() >= static_cast<size_t>(guests[0].member.size);
}

void Root::receive_guest(std::vector<Guest>& guests) {
  if (!listener_.valid()) {
    const auto waits = [](const Guest& guest) { return !guest.confirmed; };
    const auto first = std::find_if(guests.begin(), guests.end(), waits);
    if (first != guests.end()) (void)wait_readable(first->socket, nullptr, monotonic_ns() + kSlice);
    return;
  }
  Result<Socket> socket = accept_connection(listener_, monotonic_ns() + (guests.empty() ? kIdle : kSlice));
  if (!socket.ok()) return;
  const uint64_t deadline = monotonic_ns() + kHandshake;
  const Status known = challenge_peer(*socket, token_, kPlace, deadline);
  if (!known.ok()) {
    refused_ += known.cause() == Cause::kTokenWrong ? 1 : 0;
    return;
  }
  Result<std::string> hello = receive_frame(*socket, deadline);
  bool readable = false;
  std::vector<Member> members;
  if (hello.ok()) members = unpack_members(*hello, &readable);
  if (!readable || members.size() != 1) return;
  Guest guest{std::move(*socket), members[0]};
  const Member& me = guest.member;
  for (const Guest& other : guests) {
    if (!failure_.empty()) break;
    if (other.member.size != me.size) {
      failure_ = fmt::format("rank {} was told that there are {} ranks, rank {} that there are {}", other.member.rank,
                             other.member.size, me.rank, me.size);
    } else if (other.member.rank == me.rank) {
      failure_ = fmt::format("two processes or threads joined as rank {} (processes {} and {})", me.rank,
                             other.member.pid, me.pid);
    }
  }
  guests.push_back(std::move(guest));
  if (!failure_.empty()) fail(guests, failure_);
}

void Root::fail(std::vector<Guest>& guests, const std::string& why) {
  failure_ = why;
  for (Guest& guest : guests) {
    if (!guest.confirmed) (void)send_frame(guest.socket, kFailure + why, monotonic_ns() + kHandshake);
    guest.answered = guest.confirmed = true;
  }
}

void Root::answer_all(std::vector<Guest>& guests, std::string_view answer) {
  for (Guest& guest : guests) {
    (void)send_frame(guest.socket, answer, monotonic_ns() + kHandshake);
    guest.answered = true;
  }
}

std::string Root::who_is_missing(const std::vector<Guest>& guests) const {
  std::vector<int> missing;
  const int size = guests.empty() ? 0 : guests[0].member.size;
  for (Rank rank = 0; rank < size; ++rank) {
    const auto is_rank = [rank](const Guest& guest) { return guest.member.rank == rank; };
    if (std::none_of(guests.begin(), guests.end(), is_rank)) missing.push_back(rank);
  }
  const std::string wrong = refused_ > 0 ? fmt::format("; {} connections had a wrong token", refused_) : "";
  return fmt::format("{} of {} ranks joined; missing: {}{}", guests.size(), size, fmt::join(missing, ", "), wrong);
}

void Root::say_who_is_missing(const std::vector<Guest>& guests, uint64_t waited_ns) const {
  if (!failure_.empty()) return;
  log(LogLevel::kWarn, "joining: after {} s {}", waited_ns / kSecondNs, who_is_missing(guests));
}

// --- A rank ----------------------------------------------------------------------------------------------------------
namespace {

// What a rank says that nobody lets in.
std::string nobody_answers(const UniqueId& id, const Member& me, std::string_view last) {
  const std::string where = fmt::format("rank {} of {} at {}:{}", me.rank, me.size, id.host, id.port);
  if (!id.root_is_rank0) {
    return fmt::format(
        "{}: {}; an ncclUniqueId serves one communicator: its ranks may all be there already, the process that made it "
        "may have ended, or its token may be another",
        where, last);
  }
  return fmt::format(
      "{} (NCCL_COMM_ID): {}; rank 0 listens there until all ranks have joined: it may not have started, its ranks may "
      "all be there already, or its ANYGIN_COMM_TOKEN may be another",
      where, last);
}

// The root may not listen yet (NCCL_COMM_ID), or still serve an earlier communicator at the same place.
Result<Socket> reach_root(const UniqueId& id, const Member& me, Patience patience, uint64_t deadline) {
  uint64_t warn_at = deadline_after(patience.warn_after_ns);
  while (true) {
    Result<Socket> socket = connect_tcp(id.host, id.port, std::min(deadline, monotonic_ns() + kHandshake));
    Status status = socket.ok() ? answer_challenge(*socket, id.token, kPlace, deadline) : socket.status();
    if (status.ok()) status = send_frame(*socket, pack(me), deadline);
    if (status.ok()) return socket;
    if (status.code() == Code::kInvalidUsage) return status;
    if (!id.root_is_rank0 || monotonic_ns() >= deadline) {
      return Status(status.cause(), "rendezvous", nobody_answers(id, me, status.text()));
    }
    if (monotonic_ns() >= warn_at) {
      log(LogLevel::kWarn, "joining: still waiting: {}", nobody_answers(id, me, status.text()));
      warn_at = monotonic_ns() + kWarnAgain;
    }
    std::atomic<uint32_t> nobody_rings{0};
    futex_wait(&nobody_rings, 0, 5 * kMillisecondNs);
  }
}

}  // namespace

Status failure_of(const Meeting& meeting) {
  Result<std::string> word = receive_frame(meeting.connection, monotonic_ns() + kHandshake);
  if (!word.ok())
    return Status(Cause::kRendezvousLost, "rendezvous", "the process that holds it died while ranks joined");
  return Status(Cause::kJoinRefused, "rendezvous", word->empty() ? "failed" : word->substr(1));
}

Result<Meeting> meet(const UniqueId& id, const Member& me, Patience patience) {
  // The root gives up first, and says why; the extra time is for its word.
  const uint64_t wait = patience.give_up_after_ns;
  const uint64_t deadline = deadline_after(wait == 0 ? 0 : wait + 5 * kSecondNs);
  Result<Socket> socket = reach_root(id, me, patience, deadline_after(wait));
  if (!socket.ok()) return socket.status();
  Result<std::string> answer = receive_frame(*socket, deadline);
  if (!answer.ok()) {
    return Status(Cause::kRendezvousLost, "rendezvous", "the process that holds it died before all ranks had joined");
  }
  if (answer->empty() || answer->front() != kTable) {
    return Status(Cause::kJoinRefused, "rendezvous", answer->empty() ? "no answer" : answer->substr(1));
  }
  bool readable = false;
  Meeting meeting;
  meeting.members = unpack_members(std::string_view(*answer).substr(1), &readable);
  if (!readable || meeting.members.size() != static_cast<size_t>(me.size)) {
    return Status(Cause::kProtocol, "rendezvous", "the root sent a table of another form");
  }
  meeting.connection = std::move(*socket);
  return meeting;
}

void confirm(Meeting& meeting) {
  (void)send_all(meeting.connection, std::string_view(&kConfirmed, 1), monotonic_ns() + kHandshake);
  meeting.connection = Socket();
}

}  // namespace anygin::comm
