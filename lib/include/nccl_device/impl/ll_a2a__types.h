// SPDX-License-Identifier: Apache-2.0
// State of a low-latency all-to-all session. Contract 8.4.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__TYPES_H_
#define ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__TYPES_H_

#include "../comm.h"
#include "../coop.h"

namespace anygin {
namespace ll_a2a {

// 16 bytes that carry 8 of an element. Each word is data in the low half and the epoch in the high half and is stored
// at once, so that whoever sees the epoch has the data.
struct alignas(16) Line {
  uint64_t words[2];
};

}  // namespace ll_a2a
}  // namespace anygin

#if NCCL_CHECK_CUDACC
template <typename Coop>
struct ncclLLA2ASession_internal {
  Coop coop;
  ncclDevComm const& comm;
  ncclTeam team;
  ncclLLA2AHandle handle;
  int block;
  int pitch;  // maxElts: part u of slot s is line s + u * pitch
  bool multimem;
  ncclMultimemHandle mmHandle;
  uint32_t epoch;        // 2 to 2^32 - 1
  uint32_t slotsOffset;  // in lines, of the half that this epoch uses

  // The block's memory: a line whose first word saves the epoch, then two halves of nSlots lines.
  NCCL_DEVICE_INLINE uint32_t first_line() const;
  NCCL_DEVICE_INLINE uint32_t half_of_epoch() const;
  NCCL_DEVICE_INLINE anygin::ll_a2a::Line* lines(int lsaPeer) const;
  NCCL_DEVICE_INLINE uint32_t* saved_epoch() const;
  NCCL_DEVICE_INLINE void check_slot(int slot, int parts, const void* callSite) const;
  // The element's first line lies `slot` lines into this epoch's half of what begins at `lines`.
  template <typename T>
  NCCL_DEVICE_INLINE void store(anygin::ll_a2a::Line* lines, int lsaPeer, int slot, T const& data) const;
  template <typename T>
  NCCL_DEVICE_INLINE T receive(int slot, const void* callSite) const;
};
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__TYPES_H_
