// SPDX-License-Identifier: Apache-2.0
// Device communicators and windows as lib/comm fills them, made by hand: every rank of a communicator in this process,
// over plain memory.
#pragma once

#include <nccl.h>
#include <nccl_device.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "anygin/backends/misuse.h"

namespace anygin::testing {

struct NcclShape {
  int ranks = 2;
  int lsa_size = 2;
  int signals = 8;
  int counters = 8;
  int contexts = 2;
  int barriers = 2;  // of each kind; the GIN ones use the last signals
};

class NcclRanks {
 public:
  static constexpr uint64_t kCommunicator = 77;
  static constexpr uint64_t kWindowBytes = 4096;

  explicit NcclRanks(const NcclShape& shape) : shape_(shape), view_{kCommunicator, 0, 0, true, nullptr, &reported_} {
    const uint32_t words = static_cast<uint32_t>(shape.barriers * (3 + shape.lsa_size));
    for (int r = 0; r < shape.ranks; ++r) {
      resources_.emplace_back(words, 0u);
      shadows_.emplace_back(static_cast<size_t>(shape.contexts * total_signals()), uint64_t{0});
      buffers_.emplace_back(kWindowBytes, '\0');
    }
    sizes_.assign(static_cast<size_t>(shape.ranks), kWindowBytes);
    for (int node = 0; node < shape.ranks / shape.lsa_size; ++node) {
      for (int i = 0; i < shape.lsa_size; ++i) {
        const auto r = static_cast<size_t>(node * shape.lsa_size + i);
        resource_bases_.push_back(reinterpret_cast<char*>(resources_[r].data()));
        buffer_bases_.push_back(buffers_[r].data());
      }
    }
  }
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  int total_signals() const { return shape_.signals + 2 * shape_.barriers * shape_.ranks; }

  // Lives as long as this object.
  ncclWindow_t window(int rank, uint16_t id = 1, uint16_t flags = NCCL_WIN_COLL_SYMMETRIC) {
    return add_window(rank, id, flags, buffer_bases_);
  }

  // `handle` is the backend's; null: no GIN.
  ncclDevComm comm(int rank, void* handle) {
    ncclDevComm comm{};
    comm.rank = rank;
    comm.nRanks = shape_.ranks;
    comm.lsaSize = shape_.lsa_size;
    comm.lsaRank = rank % shape_.lsa_size;
    comm.resourceWindow = add_window(rank, 0, 0, resource_bases_);
    comm.resourceWindow_inlined.view = &view_;
    comm.lsaBarrier = comm.hybridLsaBarrier = {0, shape_.barriers};
    comm.worldGinBarrier.signal0 = static_cast<uint32_t>(shape_.signals);
    comm.railGinBarrier.signal0 = static_cast<uint32_t>(shape_.signals + shape_.barriers * shape_.ranks);
    if (handle) {
      comm.ginConnectionCount = 1;
      comm.ginNetDeviceTypes[0] = NCCL_NET_DEVICE_GIN_PROXY;
      comm.ginHandles[0] = handle;
      comm.ginSignalCount = total_signals();
      comm.ginCounterCount = shape_.counters;
      comm.ginSignalShadows = shadows_[static_cast<size_t>(rank)].data();
      comm.ginContextCount = static_cast<uint32_t>(shape_.contexts);
    }
    comm.ginStrongLegacySignals = true;
    comm.abortFlag = &abort_word;
    return comm;
  }

  anyginDevCommView& view() { return view_; }
  // Also of windows that are there.
  void set_size(int rank, uint64_t bytes) {
    sizes_[static_cast<size_t>(rank)] = bytes;
    for (const auto& block : windows_) block->sizes[rank] = bytes;
  }
  char* buffer(int rank) { return buffers_[static_cast<size_t>(rank)].data(); }

  uint32_t abort_word = 0;

 private:
  static constexpr int kRanksMax = 64;
  struct WindowBlock {
    ncclWindow_vidmem window;
    uint64_t sizes[kRanksMax];
  };

  ncclWindow_t add_window(int rank, uint16_t id, uint16_t flags, const std::vector<char*>& bases) {
    windows_.push_back(std::make_unique<WindowBlock>());
    WindowBlock& block = *windows_.back();
    const int lsa_rank = rank % shape_.lsa_size;
    block.window = {kAnyginWindowLive,
                    kCommunicator,
                    WindowId(id),
                    flags,
                    rank,
                    shape_.ranks,
                    lsa_rank,
                    shape_.lsa_size,
                    nullptr,
                    bases.data() + (rank - lsa_rank),
                    nullptr,
                    0};
    std::copy(sizes_.begin(), sizes_.end(), block.sizes);
    return &block.window;
  }

  const NcclShape shape_;
  uint32_t reported_ = 0;
  anyginDevCommView view_;
  std::vector<std::vector<uint32_t>> resources_;
  std::vector<std::vector<uint64_t>> shadows_;
  std::vector<std::vector<char>> buffers_;
  std::vector<char*> resource_bases_, buffer_bases_;
  std::vector<uint64_t> sizes_;
  std::vector<std::unique_ptr<WindowBlock>> windows_;
};

}  // namespace anygin::testing
