// SPDX-License-Identifier: Apache-2.0
// The software HCA alone, through its verbs face: two NICs in one process, one thread that posts, polls and steps.
// Compare hca_write with memcpy of the same size in the same run.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "anygin/base/world.h"
#include "anygin/emulated/emulated_nic.h"
#include "anygin/verbs/verbs_table.h"
#include "support/local_bootstrap.h"

namespace anygin {
namespace {

constexpr uint64_t kBytes = 4u << 20;
constexpr int kRights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

const verbs::VerbsTable& emu() {
  return verbs::emulated_verbs();
}

void must(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "hca_bench: %s failed\n", what);
  std::exit(3);
}

struct End {
  std::unique_ptr<emulated::EmulatedNic> nic;
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  char* memory = nullptr;

  void open(Bootstrap& bootstrap, Profile profile) {
    Options options;
    options.profile = profile;
    auto opened = emulated::EmulatedNic::open(bootstrap, options);
    must(opened.ok(), "open");
    nic = std::move(*opened);
    context = emu().open_device(nic->device());
    pd = emu().alloc_pd(context);
    cq = emu().create_cq(context, 1024, nullptr, nullptr, 0);
    memory = *world().heap.allocate(kBytes, 0);
    std::memset(memory, 1, kBytes);
    mr = emu().reg_mr(pd, memory, kBytes, kRights);
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = cq;
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = 256;
    qp = emu().create_qp(pd, &wanted);
    must(mr && qp, "objects");
  }
  void connect(const End& peer) {
    ibv_qp_attr init{}, receive{}, send{};
    init.qp_state = IBV_QPS_INIT;
    init.port_num = 1;
    must(emu().modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "INIT");
    receive.qp_state = IBV_QPS_RTR;
    receive.dest_qp_num = peer.qp->qp_num;
    receive.ah_attr.is_global = 1;
    must(emu().query_gid(peer.context, 1, 0, &receive.ah_attr.grh.dgid) == 0, "query_gid");
    must(emu().modify_qp(qp, &receive,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
         "RTR");
    send.qp_state = IBV_QPS_RTS;
    must(emu().modify_qp(qp, &send,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                             IBV_QP_MAX_QP_RD_ATOMIC) == 0,
         "RTS");
  }
  void close() {
    emu().destroy_qp(qp);
    emu().dereg_mr(mr);
    emu().destroy_cq(cq);
    emu().dealloc_pd(pd);
    emu().close_device(context);
    (void)world().heap.free(memory).ok();
    nic.reset();
  }
};

class Pair {
 public:
  explicit Pair(Profile profile) : group_(2) {
    group_.run_on_all([&](int rank) { ends_[rank].open(group_.rank(rank), profile); });
    ends_[0].connect(ends_[1]);
    ends_[1].connect(ends_[0]);
  }
  ~Pair() {
    for (End& end : ends_) end.close();
  }

  // Posts `count` writes of `bytes`, only the last signaled, and waits for it.
  void write(uint32_t bytes, int count, unsigned flags) {
    ibv_sge sge{reinterpret_cast<uint64_t>(ends_[0].memory), bytes, ends_[0].mr->lkey};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.wr.rdma.remote_addr = reinterpret_cast<uint64_t>(ends_[1].memory);
    wr.wr.rdma.rkey = ends_[1].mr->rkey;
    for (int i = 0; i < count; ++i) {
      wr.send_flags = flags | (i + 1 == count ? unsigned{IBV_SEND_SIGNALED} : 0u);
      must(emu().post_send(ends_[0].qp, &wr, &bad) == 0, "post_send");
    }
    ibv_wc wc;
    int got = 0;
    while ((got = emu().poll_cq(ends_[0].cq, 1, &wc)) == 0) world().executor.poll();
    must(got == 1 && wc.status == IBV_WC_SUCCESS, "write");
  }

 private:
  testing::LocalBootstrapGroup group_;
  End ends_[2];
};

void hca_write(benchmark::State& state, Profile profile, unsigned flags) {
  Pair pair(profile);
  const auto bytes = static_cast<uint32_t>(state.range(0));
  const int count = bytes <= 64 ? 64 : 1;
  for (auto _ : state) pair.write(bytes, count, flags);
  state.SetItemsProcessed(state.iterations() * count);
  state.SetBytesProcessed(state.iterations() * count * bytes);
}

void plain_memcpy(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  std::vector<char> from(bytes, 1), to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

BENCHMARK(plain_memcpy)->Arg(8)->Arg(1 << 16)->Arg(1 << 20);
BENCHMARK_CAPTURE(hca_write, inorder, Profile::kInorder, 0u)->Arg(8)->Arg(1 << 16)->Arg(1 << 20);
BENCHMARK_CAPTURE(hca_write, relaxed, Profile::kRelaxed, verbs::kSendMayPass)->Arg(8)->Arg(1 << 16)->Arg(1 << 20);
BENCHMARK_CAPTURE(hca_write, srd, Profile::kSrd, verbs::kSendMayPass)->Arg(8)->Arg(1 << 20);

}  // namespace
}  // namespace anygin

BENCHMARK_MAIN();
