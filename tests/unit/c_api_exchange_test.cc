// SPDX-License-Identifier: Apache-2.0
// Sends, receives, groups and collectives through nccl.h, ranks as threads.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

#include "nccl_ranks.h"

namespace anygin::comm {
namespace {

using ::testing::HasSubstr;

#define ANYGIN_CUDA_OK(call) EXPECT_EQ(call, cudaSuccess)

// Ranks as threads, each on a device, and so with default streams, of its own.
void on_devices(int size, const std::function<void(ncclComm_t, int)>& body) {
  on_comms(size, body, [](int rank) { ANYGIN_CUDA_OK(cudaSetDevice(rank)); });
}

// Device memory as an array.
template <typename T>
class Array {
 public:
  explicit Array(size_t count) : memory_(std::max<size_t>(count, 1) * sizeof(T)), count_(count) {}
  Array(size_t count, T first) : Array(count) { std::iota(data(), data() + count, first); }
  T* data() const { return reinterpret_cast<T*>(memory_.at()); }
  T& operator[](size_t i) const { return data()[i]; }
  std::vector<T> values() const { return {data(), data() + count_}; }

 private:
  DeviceMemory memory_;
  const size_t count_;
};
template <typename T>
std::vector<T> counted(size_t count, T first) {
  std::vector<T> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

void settle() {
  ANYGIN_CUDA_OK(cudaStreamSynchronize(nullptr));
}

// Rank 0 sends to rank 1.
ncclResult_t send_or_receive(int rank, void* memory, size_t count, ncclDataType_t type, ncclComm_t comm) {
  return rank == 0 ? ncclSend(memory, count, type, 1, comm, nullptr) : ncclRecv(memory, count, type, 0, comm, nullptr);
}

TEST(SendRecv, P36_two_ranks_of_a_group_send_to_each_other) {
  on_devices(2, [](ncclComm_t comm, int rank) {
    for (const size_t count : {size_t{1}, size_t{1000}, size_t{300'000}}) {
      const Array<int> from(count, rank * 1'000'000), into(count);
      ANYGIN_NCCL_OK(ncclGroupStart());
      ANYGIN_NCCL_OK(ncclSend(from.data(), count, ncclInt, 1 - rank, comm, nullptr));
      ANYGIN_NCCL_OK(ncclRecv(into.data(), count, ncclInt, 1 - rank, comm, nullptr));
      ANYGIN_NCCL_OK(ncclGroupEnd());
      settle();
      EXPECT_EQ(into.values(), counted(count, (1 - rank) * 1'000'000));
    }
  });
}

TEST(SendRecv, P35_sends_match_receives_in_call_order_without_a_group) {
  on_devices(2, [](ncclComm_t comm, int rank) {
    constexpr size_t kCalls = 20;
    const Array<int> values(kCalls, rank == 0 ? 100 : 0);
    for (size_t i = 0; i < kCalls; ++i) {
      ANYGIN_NCCL_OK(send_or_receive(rank, &values[i], 1, ncclInt, comm));
    }
    settle();
    EXPECT_EQ(values.values(), counted(kCalls, 100));
  });
}

// In a group, with the same to itself: ring, neighbours on both sides, all to all, from one to all, from all to one.
TEST(SendRecv, P36_any_pattern_in_a_group) {
  static constexpr int kRanks = 4;
  static constexpr size_t kCount = 700;
  on_devices(kRanks, [](ncclComm_t comm, int rank) {
    const auto mark = [](int from, int to) { return (from * kRanks + to) * 10'000; };
    const auto exchange = [&](const auto& sends) {
      std::vector<std::unique_ptr<Array<int>>> out, in;
      std::vector<int> sources;
      ANYGIN_NCCL_OK(ncclGroupStart());
      for (int peer = 0; peer < kRanks; ++peer) {
        if (sends(rank, peer)) {
          out.push_back(std::make_unique<Array<int>>(kCount, mark(rank, peer)));
          ANYGIN_NCCL_OK(ncclSend(out.back()->data(), kCount, ncclInt, peer, comm, nullptr));
        }
        if (sends(peer, rank)) {
          in.push_back(std::make_unique<Array<int>>(kCount));
          sources.push_back(peer);
          ANYGIN_NCCL_OK(ncclRecv(in.back()->data(), kCount, ncclInt, peer, comm, nullptr));
        }
      }
      ANYGIN_NCCL_OK(ncclGroupEnd());
      settle();
      for (size_t i = 0; i < in.size(); ++i) EXPECT_EQ(in[i]->values(), counted(kCount, mark(sources[i], rank)));
    };
    exchange([](int from, int to) { return to == (from + 1) % kRanks; });
    exchange([](int from, int to) { return to == from + 1 || to == from - 1; });
    exchange([](int, int) { return true; });
    exchange([](int from, int) { return from == 2; });
    exchange([](int, int to) { return to == 3; });
  });
}

TEST(SendRecv, all_types_and_nothing) {
  static constexpr size_t kBytes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  on_devices(2, [](ncclComm_t comm, int rank) {
    for (int type = 0; type < ncclNumTypes; ++type) {
      for (const size_t count : {size_t{0}, size_t{37}}) {
        const size_t bytes = count * kBytes[type];
        const Array<unsigned char> memory(bytes + 1, static_cast<unsigned char>(rank == 0 ? 1 : 200));
        const auto as = static_cast<ncclDataType_t>(type);
        const unsigned char behind = memory[bytes];
        ANYGIN_NCCL_OK(send_or_receive(rank, memory.data(), count, as, comm));
        settle();
        for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(memory[i], static_cast<unsigned char>(1 + i)) << type;
        EXPECT_EQ(memory[bytes], behind) << type;
      }
    }
  });
}

// Streams of a group go on when all of it is done; work queued before comes before.
TEST(SendRecv, follows_the_order_of_its_streams) {
  on_devices(2, [](ncclComm_t comm, int rank) {
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) ANYGIN_CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const Array<int> from(1000), into(1000), copy(1000);
    const Array<int> late(1000, 5 + rank);
    ANYGIN_CUDA_OK(cudaMemcpyAsync(from.data(), late.data(), 4000, cudaMemcpyDeviceToDevice, streams[0]));
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(ncclSend(from.data(), 1000, ncclInt, 1 - rank, comm, streams[0]));
    ANYGIN_NCCL_OK(ncclRecv(into.data(), 1000, ncclInt, 1 - rank, comm, streams[1]));
    ANYGIN_NCCL_OK(ncclGroupEnd());
    ANYGIN_CUDA_OK(cudaMemcpyAsync(copy.data(), into.data(), 4000, cudaMemcpyDeviceToDevice, streams[0]));
    ANYGIN_CUDA_OK(cudaStreamSynchronize(streams[0]));
    EXPECT_EQ(copy.values(), counted(1000, 6 - rank));
    for (cudaStream_t stream : streams) ANYGIN_CUDA_OK(cudaStreamDestroy(stream));
  });
}

TEST(SendRecv, one_thread_holds_all_ranks) {
  ncclComm_t comms[3];
  ASSERT_EQ(ncclCommInitAll(comms, 3, nullptr), ncclSuccess) << last_error();
  std::vector<std::unique_ptr<Array<int>>> from, into;
  ANYGIN_NCCL_OK(ncclGroupStart());
  for (int rank = 0; rank < 3; ++rank) {
    from.push_back(std::make_unique<Array<int>>(10, rank * 100));
    into.push_back(std::make_unique<Array<int>>(10));
    ANYGIN_NCCL_OK(ncclSend(from.back()->data(), 10, ncclInt, (rank + 1) % 3, comms[rank], nullptr));
    ANYGIN_NCCL_OK(ncclRecv(into.back()->data(), 10, ncclInt, (rank + 2) % 3, comms[rank], nullptr));
  }
  ANYGIN_NCCL_OK(ncclGroupEnd());
  for (int rank = 0; rank < 3; ++rank) {
    ANYGIN_CUDA_OK(cudaSetDevice(rank));
    ANYGIN_CUDA_OK(cudaDeviceSynchronize());
    EXPECT_EQ(into[static_cast<size_t>(rank)]->values(), counted(10, (rank + 2) % 3 * 100));
  }
  ANYGIN_CUDA_OK(cudaSetDevice(0));
  for (ncclComm_t comm : comms) ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

TEST(SendRecv, a_graph_repeats_it) {
  on_devices(2, [](ncclComm_t comm, int rank) {
    cudaStream_t stream;
    ANYGIN_CUDA_OK(cudaStreamCreate(&stream));
    const Array<int> value(1), got(1), sum(1);
    ANYGIN_CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(ncclSend(value.data(), 1, ncclInt, 1 - rank, comm, stream));
    ANYGIN_NCCL_OK(ncclRecv(got.data(), 1, ncclInt, 1 - rank, comm, stream));
    ANYGIN_NCCL_OK(ncclGroupEnd());
    ANYGIN_NCCL_OK(ncclAllReduce(got.data(), sum.data(), 1, ncclInt, ncclSum, comm, stream));
    cudaGraph_t graph;
    cudaGraphExec_t runnable;
    ANYGIN_CUDA_OK(cudaStreamEndCapture(stream, &graph));
    ANYGIN_CUDA_OK(cudaGraphInstantiate(&runnable, graph, 0));
    for (int turn = 0; turn < 3; ++turn) {
      value[0] = 10 * turn + rank;
      ANYGIN_CUDA_OK(cudaGraphLaunch(runnable, stream));
      ANYGIN_CUDA_OK(cudaStreamSynchronize(stream));
      EXPECT_EQ(got[0], 10 * turn + 1 - rank);
      EXPECT_EQ(sum[0], 20 * turn + 1);
    }
    ANYGIN_CUDA_OK(cudaGraphExecDestroy(runnable));
    ANYGIN_CUDA_OK(cudaGraphDestroy(graph));
    ANYGIN_CUDA_OK(cudaStreamDestroy(stream));
  });
}

// --- Collectives -----------------------------------------------------------------------------------------------------
TEST(Collectives, sums_of_small_floats) {
  static constexpr int kRanks = 4;
  static constexpr size_t kCount = 500;
  on_devices(kRanks, [](ncclComm_t comm, int rank) {
    const Array<__half> halves(kCount);
    const Array<__nv_bfloat16> brains(kCount);
    const Array<__nv_fp8_e4m3> eighths(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      halves[i] = __float2half(static_cast<float>(i % 8) + 0.5f * static_cast<float>(rank));
      brains[i] = __float2bfloat16(static_cast<float>(i % 8) * static_cast<float>(rank));
      eighths[i] = __nv_fp8_e4m3(0.5f * static_cast<float>(rank));
    }
    ANYGIN_NCCL_OK(ncclAllReduce(halves.data(), halves.data(), kCount, ncclHalf, ncclSum, comm, nullptr));
    ANYGIN_NCCL_OK(ncclAllReduce(brains.data(), brains.data(), kCount, ncclBfloat16, ncclMax, comm, nullptr));
    ANYGIN_NCCL_OK(ncclAllReduce(eighths.data(), eighths.data(), kCount, ncclFloat8e4m3, ncclSum, comm, nullptr));
    settle();
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(__half2float(halves[i]), 4.0f * static_cast<float>(i % 8) + 3.0f);
      ASSERT_EQ(__bfloat162float(brains[i]), 3.0f * static_cast<float>(i % 8));
      ASSERT_EQ(static_cast<float>(eighths[i]), 3.0f);
    }
  });
}

TEST(Collectives, every_one_of_them) {
  static constexpr int kRanks = 3, kRoot = 1;
  static constexpr size_t kCount = 20'000;
  on_devices(kRanks, [](ncclComm_t comm, int rank) {
    const auto at = [](int from, size_t i) { return static_cast<int64_t>(from) * 1'000'000 + static_cast<int64_t>(i); };
    const auto sum = [&](size_t i) { return at(3, 3 * i); };  // of ranks 0, 1, 2
    const Array<int64_t> from(kRanks * kCount, at(rank, 0));
    const auto check = [&](const char* name, size_t count, const auto& issue, const auto& expected) {
      SCOPED_TRACE(name);
      const Array<int64_t> into(count);
      ANYGIN_NCCL_OK(issue(from.data(), into.data()));
      settle();
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(into[i], expected(i)) << i;
    };
    const bool root = rank == kRoot;
    const auto nothing = [](size_t) { return int64_t{0}; };
    check(
        "broadcast", kCount,
        [&](auto* s, auto* r) { return ncclBroadcast(s, r, kCount, ncclInt64, kRoot, comm, nullptr); },
        [&](size_t i) { return at(kRoot, i); });
    check(
        "all reduce", kCount,
        [&](auto* s, auto* r) { return ncclAllReduce(s, r, kCount, ncclInt64, ncclSum, comm, nullptr); }, sum);
    check(
        "reduce", kCount,
        [&](auto* s, auto* r) { return ncclReduce(s, r, kCount, ncclInt64, ncclSum, kRoot, comm, nullptr); },
        [&](size_t i) { return root ? sum(i) : nothing(i); });
    check(
        "reduce scatter", kCount,
        [&](auto* s, auto* r) { return ncclReduceScatter(s, r, kCount, ncclInt64, ncclMin, comm, nullptr); },
        [&](size_t i) { return at(0, static_cast<size_t>(rank) * kCount + i); });
    check(
        "all gather", kRanks * kCount,
        [&](auto* s, auto* r) { return ncclAllGather(s, r, kCount, ncclInt64, comm, nullptr); },
        [&](size_t i) { return at(static_cast<int>(i / kCount), i % kCount); });
    check(
        "all to all", kRanks * kCount,
        [&](auto* s, auto* r) { return ncclAlltoAll(s, r, kCount, ncclInt64, comm, nullptr); },
        [&](size_t i) { return at(static_cast<int>(i / kCount), static_cast<size_t>(rank) * kCount + i % kCount); });
    check(
        "gather", kRanks * kCount,
        [&](auto* s, auto* r) { return ncclGather(s, r, kCount, ncclInt64, kRoot, comm, nullptr); },
        [&](size_t i) { return root ? at(static_cast<int>(i / kCount), i % kCount) : nothing(i); });
    check(
        "scatter", kCount, [&](auto* s, auto* r) { return ncclScatter(s, r, kCount, ncclInt64, kRoot, comm, nullptr); },
        [&](size_t i) { return at(kRoot, static_cast<size_t>(rank) * kCount + i); });
    const Array<int64_t> place(kCount, at(rank, 0));
    ANYGIN_NCCL_OK(ncclBcast(place.data(), kCount, ncclInt64, kRoot, comm, nullptr));
    settle();
    EXPECT_EQ(place.values(), counted(kCount, at(kRoot, 0)));
  });
}

TEST(Collectives, averages_and_sums_with_a_scalar) {
  on_devices(2, [](ncclComm_t comm, int rank) {
    const Array<float> from(100, rank == 0 ? 1.0f : 4.0f), into(100), scalar(1);
    ANYGIN_NCCL_OK(ncclAllReduce(from.data(), into.data(), 100, ncclFloat, ncclAvg, comm, nullptr));
    settle();
    EXPECT_EQ(into.values(), counted(100, 2.5f));
    ncclRedOp_t scaled = ncclSum, by_device = ncclSum;
    float two = 2;
    ANYGIN_NCCL_OK(ncclRedOpCreatePreMulSum(&scaled, &two, ncclFloat, ncclScalarHostImmediate, comm));
    two = 100;  // was read at the call
    ANYGIN_NCCL_OK(ncclRedOpCreatePreMulSum(&by_device, scalar.data(), ncclFloat, ncclScalarDevice, comm));
    scalar[0] = 0.5f;  // is read in stream order
    ANYGIN_NCCL_OK(ncclAllReduce(from.data(), into.data(), 100, ncclFloat, scaled, comm, nullptr));
    settle();
    for (size_t i = 0; i < 100; ++i) ASSERT_EQ(into[i], 10.0f + 4.0f * static_cast<float>(i));
    ANYGIN_NCCL_OK(ncclAllReduce(from.data(), into.data(), 100, ncclFloat, by_device, comm, nullptr));
    settle();
    for (size_t i = 0; i < 100; ++i) ASSERT_EQ(into[i], 2.5f + static_cast<float>(i));
    EXPECT_EQ(ncclAllReduce(from.data(), into.data(), 1, ncclInt, scaled, comm, nullptr), ncclInvalidArgument);
    EXPECT_THAT(last_error(), HasSubstr("op was made for float32, datatype is int32"));
    ANYGIN_NCCL_OK(ncclRedOpDestroy(scaled, comm));
    EXPECT_EQ(ncclRedOpDestroy(scaled, comm), ncclInvalidArgument);
    EXPECT_EQ(ncclRedOpDestroy(ncclSum, comm), ncclInvalidArgument);
    EXPECT_THAT(last_error(), HasSubstr("which is built in"));
    EXPECT_EQ(ncclAllReduce(from.data(), into.data(), 1, ncclFloat, scaled, comm, nullptr), ncclInvalidArgument);
    EXPECT_THAT(last_error(), HasSubstr("one that ncclRedOpCreatePreMulSum made"));
  });
}

// --- What is wrong ---------------------------------------------------------------------------------------------------
TEST(SendRecv, names_what_is_wrong) {
  on_devices(1, [](ncclComm_t comm, int) {
    const Array<int> memory(10);
    int* m = memory.data();
    const auto refused = [](ncclResult_t result, ncclResult_t code, const char* words) {
      EXPECT_EQ(result, code);
      EXPECT_THAT(last_error(), HasSubstr(words));
    };
    const auto type = static_cast<ncclDataType_t>(ncclNumTypes);
    const auto op = static_cast<ncclRedOp_t>(99);
    const ncclResult_t ia = ncclInvalidArgument;
    refused(ncclSend(m, 1, ncclInt, 0, nullptr, nullptr), ia, "ncclSend: the communicator is NULL");
    refused(ncclSend(m, 1, ncclInt, 1, comm, nullptr), ia, "peer is 1; 0 to 0 would be right");
    refused(ncclRecv(m, 1, ncclInt, -1, comm, nullptr), ia, "peer is -1");
    refused(ncclSend(m, 1, type, 0, comm, nullptr), ia, "datatype is 12; 0 to 11 would be right");
    refused(ncclSend(nullptr, 3, ncclInt, 0, comm, nullptr), ia, "sendbuff is NULL; 12 bytes would be right");
    refused(ncclRecv(m + 8, 3, ncclInt, 0, comm, nullptr), ia, "recvbuff: 12 bytes are needed, 8 are left");
    refused(ncclSend(m, ~size_t{0}, ncclInt, 0, comm, nullptr), ia, "beyond any memory");
    refused(ncclBroadcast(m, m, 1, ncclInt, 7, comm, nullptr), ia, "root is 7; 0 to 0 would be right");
    refused(ncclAllReduce(m, m, 1, ncclInt, op, comm, nullptr), ia, "op is 99; 0 to 4");
    refused(ncclAllReduce(m, nullptr, 1, ncclInt, ncclSum, comm, nullptr), ia, "recvbuff is NULL");
    refused(ncclSend(m, 1, ncclInt, 0, comm, reinterpret_cast<cudaStream_t>(m)), ncclUnhandledCudaError,
            "stream is no stream");
    ncclRedOp_t made;
    int scalar = 1;
    const auto at_call = ncclScalarHostImmediate;
    refused(ncclRedOpCreatePreMulSum(nullptr, &scalar, ncclInt, at_call, comm), ia, "op is NULL");
    refused(ncclRedOpCreatePreMulSum(&made, nullptr, ncclInt, at_call, comm), ia, "scalar is NULL");
    refused(ncclRedOpCreatePreMulSum(&made, &scalar, type, at_call, comm), ia, "datatype is 12");
    ANYGIN_NCCL_OK(ncclAllReduce(nullptr, nullptr, 0, ncclInt, ncclSum, comm, nullptr));  // nothing to do
    settle();
  });
}

TEST(SendRecv, an_error_in_a_group_starts_nothing) {
  on_devices(1, [](ncclComm_t comm, int) {
    const Array<int> from(1, 7), into(1);
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(ncclSend(from.data(), 1, ncclInt, 0, comm, nullptr));
    EXPECT_EQ(ncclRecv(into.data(), 1, ncclInt, 5, comm, nullptr), ncclInvalidArgument);
    ANYGIN_NCCL_OK(ncclRecv(into.data(), 1, ncclInt, 0, comm, nullptr));
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    settle();
    EXPECT_EQ(into[0], 0);
  });
}

TEST(Collectives, all_to_all_in_place_is_refused) {
  on_devices(2, [](ncclComm_t comm, int) {
    const Array<int> memory(4);
    EXPECT_EQ(ncclAlltoAll(memory.data(), memory.data(), 2, ncclInt, comm, nullptr), ncclInvalidArgument);
    EXPECT_THAT(last_error(), HasSubstr("it cannot work in place"));
  });
}

}  // namespace
}  // namespace anygin::comm
