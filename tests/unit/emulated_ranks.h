// SPDX-License-Identifier: Apache-2.0
// Ranks of one test process with a software NIC each, connected with each other through the verbs face.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "anygin/emulated/emulated_nic.h"
#include "anygin/verbs/verbs_table.h"
#include "support/local_bootstrap.h"
#include "support/world_fixture.h"

namespace anygin::testing {

inline const verbs::VerbsTable& emu() {
  return verbs::emulated_verbs();
}

// One rank: a NIC, heap memory registered with all rights, a completion queue, a queue pair to each rank.
struct VerbsRank {
  static constexpr uint64_t kHeapBytes = 4u << 20;

  std::unique_ptr<emulated::EmulatedNic> nic;
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  char* memory = nullptr;
  ibv_mr* mr = nullptr;
  std::vector<ibv_qp*> qps;  // by peer

  uint64_t address(uint64_t offset) const { return reinterpret_cast<uint64_t>(memory) + offset; }
  uint64_t word(uint64_t offset) const {
    uint64_t value;
    std::memcpy(&value, memory + offset, sizeof(value));
    return value;
  }
};

struct RanksOptions {
  int ranks = 2;
  Profile profile = Profile::kInorder;
  uint32_t depth = 64;
  int completions = 256;
  uint32_t first_packet = 0xfffffe;  // just below the wrap of the 24 bits that verbs has
};

// INIT, RTR, RTS; errno of the first that fails.
int connect_pair(ibv_qp* qp, const ibv_gid& gid, uint32_t number, uint32_t packet);

// Needs a TestWorld.
class EmulatedRanks {
 public:
  explicit EmulatedRanks(const RanksOptions& options);
  ~EmulatedRanks();

  VerbsRank& operator[](int rank) { return ranks_[static_cast<size_t>(rank)]; }
  // Destroys the queue pair from `from` to `to` and connects a new one there; the other end stays.
  ibv_qp* make_pair(int from, uint32_t depth);

 private:
  RanksOptions options_;
  LocalBootstrapGroup group_;
  std::vector<VerbsRank> ranks_;
};

// A work request and its one scatter entry.
struct Request {
  ibv_sge sge{};
  ibv_send_wr wr{};

  Request(ibv_wr_opcode opcode, const VerbsRank& from, uint64_t local_offset, uint32_t bytes, const VerbsRank& to,
          uint64_t remote_offset, uint64_t id, unsigned flags = IBV_SEND_SIGNALED);
  static Request write(const VerbsRank& from, uint64_t local, uint32_t bytes, const VerbsRank& to, uint64_t remote,
                       uint64_t id, unsigned flags = IBV_SEND_SIGNALED) {
    return {IBV_WR_RDMA_WRITE, from, local, bytes, to, remote, id, flags};
  }
  static Request read(const VerbsRank& from, uint64_t local, uint32_t bytes, const VerbsRank& to, uint64_t remote,
                      uint64_t id, unsigned flags = IBV_SEND_SIGNALED) {
    return {IBV_WR_RDMA_READ, from, local, bytes, to, remote, id, flags};
  }
  static Request add(const VerbsRank& from, uint64_t local, const VerbsRank& to, uint64_t remote, uint64_t value,
                     uint64_t id, unsigned flags = IBV_SEND_SIGNALED) {
    Request request(IBV_WR_ATOMIC_FETCH_AND_ADD, from, local, 8, to, remote, id, flags);
    request.wr.wr.atomic.compare_add = value;
    return request;
  }
  Request(const Request& other) : sge(other.sge), wr(other.wr) { wr.sg_list = &sge; }
  Request& operator=(const Request&) = delete;

  int post(ibv_qp* qp) {
    ibv_send_wr* bad = nullptr;
    return emu().post_send(qp, &wr, &bad);
  }
};

// Steps the world until `count` completions came; fails the test if they do not.
std::vector<ibv_wc> wait_completions(TestWorld& world, VerbsRank& rank, size_t count);

}  // namespace anygin::testing
