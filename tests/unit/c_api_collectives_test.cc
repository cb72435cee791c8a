// SPDX-License-Identifier: Apache-2.0
// Every collective, operator and type against a serial reference, on 1 to 9 ranks; in place where NCCL allows it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "nccl_ranks.h"

namespace anygin::comm {
namespace {

// As CUDA's types and plain numbers both understand it.
template <typename T>
T number(int value) {
  return static_cast<T>(static_cast<float>(value));
}

// Small enough that no type rounds: products of nine stay at most 2^5, sums below 2^7. Averages are whole.
template <typename T>
T input(int rank, size_t i, ncclRedOp_t op) {
  const int position = static_cast<int>(i % 5);
  if (op == ncclProd) return number<T>(1 + (static_cast<int>(i) + rank) % 2);
  if (op == ncclAvg) return number<T>(position + 2 * rank);
  return number<T>((position + 3 * rank) % 7);
}

template <typename T>
T combined(T a, T b, ncclRedOp_t op) {
  if (op == ncclProd) return T(a * b);
  if (op == ncclMax) return a < b ? b : a;
  if (op == ncclMin) return b < a ? b : a;
  return T(a + b);
}

// One rank's place in a communicator, and what a serial program would find there.
template <typename T>
class Reference {
 public:
  Reference(int ranks, size_t count) : ranks_(ranks), count_(count) {}

  T reduced(size_t i, ncclRedOp_t op) const {
    T value = input<T>(0, i, op);
    for (int rank = 1; rank < ranks_; ++rank) value = combined(value, input<T>(rank, i, op), op);
    return op == ncclAvg ? number<T>(static_cast<int>(i % 5) + ranks_ - 1) : value;
  }
  // The ranks' inputs one after the other.
  T gathered(size_t i) const { return input<T>(static_cast<int>(i / count_), i % count_, ncclSum); }
  // Block `rank` of each rank's input.
  T exchanged(size_t i, int rank) const {
    return input<T>(static_cast<int>(i / count_), static_cast<size_t>(rank) * count_ + i % count_, ncclSum);
  }

 private:
  const int ranks_;
  const size_t count_;
};

template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t count) : memory_(std::max<size_t>(count, 1) * sizeof(T)), count_(count) {
    for (size_t i = 0; i < count; ++i) at()[i] = number<T>(99);
  }
  T* at(size_t i = 0) const { return reinterpret_cast<T*>(memory_.at()) + i; }
  void fill(size_t first, size_t count, const std::function<T(size_t)>& value) const {
    for (size_t i = 0; i < count; ++i) *at(first + i) = value(i);
  }
  void expect(size_t first, size_t count, const std::function<T(size_t)>& value, const std::string& what) const {
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(static_cast<float>(*at(first + i)), static_cast<float>(value(i))) << what << ", element " << i;
    }
  }
  void expect_untouched(const std::string& what) const {
    expect(
        0, count_, [](size_t) { return number<T>(99); }, what);
  }

 private:
  DeviceMemory memory_;
  const size_t count_;
};

template <typename T>
class Calls {
 public:
  Calls(ncclComm_t comm, cudaStream_t stream, int rank, int ranks, size_t count, ncclDataType_t type)
      : comm_(comm), stream_(stream), rank_(rank), ranks_(ranks), count_(count), type_(type), serial_(ranks, count) {}

  void reduce_all() const {
    for (const ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
      const auto mine = [&](size_t i) { return input<T>(rank_, i, op); };
      const auto all = [&](size_t i) { return serial_.reduced(i, op); };
      const std::string text = "operator " + std::to_string(op);
      for (const bool in_place : {false, true}) {
        const Buffer<T> from(count_), into(count_);
        const Buffer<T>& out = in_place ? from : into;
        from.fill(0, count_, mine);
        done(ncclAllReduce(from.at(), out.at(), count_, type_, op, comm_, stream_));
        out.expect(0, count_, all, "all reduce, " + text);
        from.fill(0, count_, mine);
        const int root = static_cast<int>(op) % ranks_;
        done(ncclReduce(from.at(), out.at(), count_, type_, op, root, comm_, stream_));
        if (rank_ == root) out.expect(0, count_, all, "reduce, " + text);
      }
      scatter_reduced(op, text);
    }
  }

  void broadcast() const {
    for (int root = 0; root < ranks_; ++root) {
      const auto value = [&](size_t i) { return input<T>(root, i, ncclSum); };
      const Buffer<T> from(count_), into(count_);
      from.fill(0, count_, [&](size_t i) { return input<T>(rank_, i, ncclSum); });
      done(ncclBroadcast(from.at(), into.at(), count_, type_, root, comm_, stream_));
      into.expect(0, count_, value, "broadcast");
      done(ncclBcast(from.at(), count_, type_, root, comm_, stream_));
      from.expect(0, count_, value, "bcast");
    }
  }

  void move_blocks() const {
    const size_t all = count_ * static_cast<size_t>(ranks_), mine = count_ * static_cast<size_t>(rank_);
    const Buffer<T> from(all), into(all), one(count_);
    from.fill(0, all, [&](size_t i) { return input<T>(rank_, i, ncclSum); });
    done(ncclAllGather(from.at(), into.at(), count_, type_, comm_, stream_));
    into.expect(
        0, all, [&](size_t i) { return serial_.gathered(i); }, "all gather");
    done(ncclAlltoAll(from.at(), into.at(), count_, type_, comm_, stream_));
    into.expect(
        0, all, [&](size_t i) { return serial_.exchanged(i, rank_); }, "all to all");
    const Buffer<T> place(all);
    place.fill(mine, count_, [&](size_t i) { return input<T>(rank_, i, ncclSum); });
    done(ncclAllGather(place.at(mine), place.at(), count_, type_, comm_, stream_));
    place.expect(
        0, all, [&](size_t i) { return serial_.gathered(i); }, "all gather in place");
    const int root = ranks_ - 1;
    const Buffer<T> at_root(all);
    done(ncclGather(from.at(), at_root.at(), count_, type_, root, comm_, stream_));
    if (rank_ == root)
      at_root.expect(
          0, all, [&](size_t i) { return serial_.gathered(i); }, "gather");
    if (rank_ != root) at_root.expect_untouched("gather, not at the root");
    done(ncclScatter(from.at(), one.at(), count_, type_, root, comm_, stream_));
    one.expect(
        0, count_, [&](size_t i) { return input<T>(root, mine + i, ncclSum); }, "scatter");
  }

 private:
  void scatter_reduced(ncclRedOp_t op, const std::string& text) const {
    const size_t all = count_ * static_cast<size_t>(ranks_), mine = count_ * static_cast<size_t>(rank_);
    const auto block = [&](size_t i) { return serial_.reduced(mine + i, op); };
    const Buffer<T> from(all), into(count_);
    from.fill(0, all, [&](size_t i) { return input<T>(rank_, i, op); });
    done(ncclReduceScatter(from.at(), into.at(), count_, type_, op, comm_, stream_));
    into.expect(0, count_, block, "reduce scatter, " + text);
    done(ncclReduceScatter(from.at(), from.at(mine), count_, type_, op, comm_, stream_));
    from.expect(mine, count_, block, "reduce scatter in place, " + text);
  }
  void done(ncclResult_t result) const {
    ASSERT_EQ(result, ncclSuccess) << last_error();
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  }

  const ncclComm_t comm_;
  const cudaStream_t stream_;
  const int rank_, ranks_;
  const size_t count_;
  const ncclDataType_t type_;
  const Reference<T> serial_;
};

// A stream of its own: with nine ranks on eight devices two share a default stream, and each would wait for the other.
class SerialReference : public ::testing::TestWithParam<int> {
 protected:
  template <typename... Types>
  void all_calls(const Types&... types) {
    on_comms(
        GetParam(),
        [&](ncclComm_t comm, int rank) {
          cudaStream_t stream = nullptr;
          ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
          (calls_of(comm, rank, stream, types), ...);
          ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
        },
        [](int rank) { ASSERT_EQ(cudaSetDevice(rank % 8), cudaSuccess); });
  }

 private:
  template <typename T>
  void calls_of(ncclComm_t comm, int rank, cudaStream_t stream, std::pair<T, ncclDataType_t> type) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{1003}}) {
      SCOPED_TRACE("type " + std::to_string(type.second) + ", count " + std::to_string(count));
      const Calls<T> calls(comm, stream, rank, GetParam(), count, type.second);
      calls.reduce_all();
      calls.broadcast();
      calls.move_blocks();
    }
  }
};

template <typename T>
std::pair<T, ncclDataType_t> type(ncclDataType_t named) {
  return {T{}, named};
}

TEST_P(SerialReference, of_integers) {
  all_calls(type<int8_t>(ncclInt8), type<uint8_t>(ncclUint8), type<int32_t>(ncclInt32), type<uint32_t>(ncclUint32),
            type<int64_t>(ncclInt64), type<uint64_t>(ncclUint64));
}

TEST_P(SerialReference, of_floating_point) {
  all_calls(type<float>(ncclFloat32), type<double>(ncclFloat64), type<__half>(ncclFloat16),
            type<__nv_bfloat16>(ncclBfloat16));
}

INSTANTIATE_TEST_SUITE_P(Ranks, SerialReference, ::testing::Range(1, 10));

}  // namespace
}  // namespace anygin::comm
