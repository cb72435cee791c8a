// SPDX-License-Identifier: Apache-2.0
// Arithmetic and addresses of ncclSymPtr. Contract 6.4.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_PTR__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_PTR__FUNCS_H_

#include "../ptr.h"
#include "comm__funcs.h"
#include "core__funcs.h"

template <typename T>
template <typename U>
NCCL_HOST_DEVICE_INLINE ncclSymPtr<T>::operator ncclSymPtr<U>() const {
  return {window, offset};
}

// A negative number of elements wraps around in size_t and back.
#define ANYGIN_SYM_PTR_STEP(Int)                                            \
  template <typename T>                                                     \
  NCCL_HOST_DEVICE_INLINE ncclSymPtr<T>& ncclSymPtr<T>::operator+=(Int d) { \
    offset += static_cast<size_t>(d) * sizeof(T);                           \
    return *this;                                                           \
  }                                                                         \
  template <typename T>                                                     \
  NCCL_HOST_DEVICE_INLINE ncclSymPtr<T>& ncclSymPtr<T>::operator-=(Int d) { \
    offset -= static_cast<size_t>(d) * sizeof(T);                           \
    return *this;                                                           \
  }
ANYGIN_SYM_PTR_STEP(int)
ANYGIN_SYM_PTR_STEP(unsigned int)
ANYGIN_SYM_PTR_STEP(long)
ANYGIN_SYM_PTR_STEP(unsigned long)
ANYGIN_SYM_PTR_STEP(long long)
ANYGIN_SYM_PTR_STEP(unsigned long long)
#undef ANYGIN_SYM_PTR_STEP

template <typename T, typename Int>
NCCL_HOST_DEVICE_INLINE ncclSymPtr<T> operator+(ncclSymPtr<T> p, Int d) {
  return p += d;
}
template <typename T, typename Int>
NCCL_HOST_DEVICE_INLINE ncclSymPtr<T> operator-(ncclSymPtr<T> p, Int d) {
  return p -= d;
}
template <typename T>
NCCL_HOST_DEVICE_INLINE ptrdiff_t operator-(ncclSymPtr<T> a, ncclSymPtr<T> b) {
  return static_cast<ptrdiff_t>(a.offset - b.offset) / static_cast<ptrdiff_t>(sizeof(T));
}
template <typename T>
NCCL_HOST_DEVICE_INLINE bool operator==(ncclSymPtr<T> a, ncclSymPtr<T> b) {
  return a.window == b.window && a.offset == b.offset;
}
template <typename T>
NCCL_HOST_DEVICE_INLINE bool operator!=(ncclSymPtr<T> a, ncclSymPtr<T> b) {
  return !(a == b);
}

#if NCCL_CHECK_CUDACC
template <typename T>
NCCL_DEVICE_INLINE T* ncclSymPtr<T>::localPtr() const {
  if (window == nullptr) return reinterpret_cast<T*>(offset);
  return static_cast<T*>(ncclGetLocalPointer(window, offset));
}
template <typename T>
NCCL_DEVICE_INLINE T* ncclSymPtr<T>::lsaPtr(int peer) const {
  return static_cast<T*>(ncclGetLsaPointer(window, offset, peer));
}
template <typename T>
NCCL_DEVICE_INLINE T* ncclSymPtr<T>::peerPtr(int peer) const {
  return static_cast<T*>(ncclGetPeerPointer(window, offset, peer));
}
template <typename T>
NCCL_DEVICE_INLINE T* ncclSymPtr<T>::peerPtr(ncclTeam team, int peer) const {
  return static_cast<T*>(ncclGetPeerPointer(window, offset, team, peer));
}
template <typename T>
NCCL_DEVICE_INLINE T* ncclSymPtr<T>::multimemPtr(ncclMultimemHandle mm) const {
  return static_cast<T*>(ncclGetMultimemPointer(window, offset, mm));
}
template <typename T>
NCCL_DEVICE_INLINE T* ncclSymPtr<T>::lsaMultimemPtr(ncclDevComm const& comm) const {
  return static_cast<T*>(ncclGetLsaMultimemPointer(window, offset, comm));
}

NCCL_DEVICE_INLINE ncclSymPtr<char> ncclGetResourceBuffer(ncclDevComm const& comm, ncclDevResourceHandle h) {
  return {comm.resourceWindow, ncclGetResourceBufferOffset(h)};
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_PTR__FUNCS_H_
