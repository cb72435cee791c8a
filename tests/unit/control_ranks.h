// SPDX-License-Identifier: Apache-2.0
// Ranks of a control plane as threads, for tests: joins `size` of them and runs a body on each.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <thread>

#include "anygin/base/env_real.h"
#include "anygin/comm/control_plane.h"
#include "anygin/comm/rendezvous.h"
#include "anygin/comm/socket_carrier.h"

namespace anygin::comm {

struct Heard {
  Rank rank = -1;
  AbortCause cause = AbortCause::kAlive;
  std::string text;
};

class RecordingListener final : public ControlListener {
 public:
  void on_peer_abort(Rank from, AbortCause cause, const std::string& text) override {
    const std::lock_guard lock(mutex_);
    heard_.push_back({from, cause, text});
  }
  void on_peer_death(Rank peer, const std::string& text) override {
    const std::lock_guard lock(mutex_);
    heard_.push_back({peer, AbortCause::kPeerDied, text});
  }
  // The first thing heard, waited for at most one second.
  Heard first() {
    for (int turn = 0; turn < 1000; ++turn) {
      {
        const std::lock_guard lock(mutex_);
        if (!heard_.empty()) return heard_.front();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
  }

 private:
  std::mutex mutex_;
  std::vector<Heard> heard_;
};

inline Patience test_patience() {
  return {2'000'000'000, 8'000'000'000};
}

struct RootedId {
  UniqueId id;
  std::unique_ptr<Root> root;
};

inline RootedId make_root() {
  RootedId made;
  made.id.host = "127.0.0.1";
  draw_random(made.id.token.data(), made.id.token.size());
  Result<std::unique_ptr<Root>> root = Root::start(made.id.host, 0, made.id.token, test_patience());
  EXPECT_TRUE(root.ok()) << root.status().message();
  made.root = std::move(*root);
  made.id.port = made.root->port();
  return made;
}

inline ControlOpening opening_for(ControlCarrier& carrier, ControlListener& listener, const UniqueId& id, Rank rank,
                                  int size) {
  ControlOpening opening{carrier, listener, id, Member{}, test_patience(), nullptr};
  opening.me.rank = rank;
  opening.me.size = size;
  opening.me.pid = process_id();
  opening.me.process_nonce = 1;
  return opening;
}

// Runs `body` on a thread a rank and waits for all.
inline void on_ranks(int size, const std::function<void(Rank)>& body) {
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < size; ++rank) threads.emplace_back(body, rank);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace anygin::comm
