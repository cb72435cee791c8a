// SPDX-License-Identifier: Apache-2.0
// A verbs device that only takes notes: what was made, modified and posted. Completions are the test's to give.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "anygin/verbs/verbs_table.h"

namespace anygin::testing {

struct FakeRequest {
  ibv_send_wr wr{};
  std::vector<ibv_sge> scatter;
  std::string inline_bytes;  // copied at the post
};

struct FakeCompletionQueue {
  ibv_cq cq{};  // first: found from the pointer that callers hold
  int entries = 0;
  std::deque<ibv_wc> completions;
};

struct FakePair {
  ibv_qp qp{};  // first
  FakeCompletionQueue* completions = nullptr;
  ibv_qp_state state = IBV_QPS_RESET;
  std::vector<ibv_qp_attr> steps;                // what modify_qp was given, in order
  std::deque<std::vector<FakeRequest>> pending;  // chains not complete
  std::vector<FakeRequest> posted;               // all ever
};

// One at a time; its table's functions find it. Thread-safe.
class FakeVerbs {
 public:
  FakeVerbs();
  ~FakeVerbs();
  FakeVerbs(const FakeVerbs&) = delete;
  FakeVerbs& operator=(const FakeVerbs&) = delete;

  // --- What the device is; set before it is opened
  // ---------------------------------------------------------------------
  int devices = 1;
  ibv_port_state port_state = IBV_PORT_ACTIVE;
  ibv_atomic_cap atomics = IBV_ATOMIC_HCA;
  int max_qp_wr = 1024;
  int max_cqe = 1 << 20;
  uint32_t max_inline = 64;
  bool hints = true;
  // Calls of a function fail with an errno: the next ones, as many as named.
  std::map<std::string, std::deque<int>> failures;  // 0: succeeds

  // --- What it saw
  // -----------------------------------------------------------------------------------------------------
  const verbs::VerbsTable& table() const { return table_; }
  // By number; a queue pair's number is unique.
  FakePair& pair(uint32_t number) { return *pairs_.at(number); }
  std::vector<uint32_t> pair_numbers();
  // Objects made and not destroyed, "context 1, pd 1": empty when all is gone.
  std::string alive();

  // The oldest chain of the pair completes.
  void complete(FakePair& pair);
  // Its first request fails, the rest of the pair flushes.
  void fail(FakePair& pair, ibv_wc_status status);

  // --- The table's functions
  // -------------------------------------------------------------------------------------------
  int failure_of(const std::string& function);  // 0: none
  void made(const char* what, int by);
  uint32_t next_number() { return next_number_++; }
  std::recursive_mutex mutex;
  std::map<uint32_t, std::unique_ptr<FakePair>> pairs_;

 private:
  void emit(FakePair& pair, const FakeRequest& request, ibv_wc_status status);

  verbs::VerbsTable table_{};
  std::map<std::string, int> alive_;
  std::atomic<uint32_t> next_number_{0x100};
  friend struct FakeTable;
};

}  // namespace anygin::testing
