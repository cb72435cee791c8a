// SPDX-License-Identifier: Apache-2.0
// What programs do between "I am rank r of n" and their first kernel.
#pragma once

#include <nccl_device.h>

#include <vector>

#include "corpus_check.h"

struct Ranks {
  int rank = 0, size = 1, local = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
};

// Symmetric memory of one rank, registered.
struct Window {
  void* data = nullptr;
  ncclWindow_t handle = nullptr;

  Window(const Ranks& ranks, size_t bytes, int flags = NCCL_WIN_COLL_SYMMETRIC) : comm_(ranks.comm) {
    NCCLCHECK(ncclMemAlloc(&data, bytes));
    CUDACHECK(cudaMemset(data, 0, bytes));
    CUDACHECK(cudaDeviceSynchronize());
    NCCLCHECK(ncclCommWindowRegister(comm_, data, bytes, &handle, flags));
  }
  ~Window() {
    NCCLCHECK(ncclCommWindowDeregister(comm_, handle));
    NCCLCHECK(ncclMemFree(data));
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  template <typename T>
  std::vector<T> read(size_t count, size_t first = 0) const {
    std::vector<T> values(count);
    CUDACHECK(cudaMemcpy(values.data(), static_cast<T*>(data) + first, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  template <typename T>
  void write(const std::vector<T>& values) const {
    CUDACHECK(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }

 private:
  ncclComm_t comm_;
};

// A device communicator with full GIN connections, signals and barriers.
struct DeviceComm {
  ncclDevComm comm{};

  DeviceComm(const Ranks& ranks, int signals, int barriers = 0, int counters = 0) : host_(ranks.comm) {
    ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    requirements.ginSignalCount = signals;
    requirements.ginCounterCount = counters;
    requirements.barrierCount = barriers;
    requirements.lsaBarrierCount = barriers;
    requirements.railGinBarrierCount = barriers;
    create(requirements);
  }
  DeviceComm(const Ranks& ranks, ncclDevCommRequirements_t requirements) : host_(ranks.comm) { create(requirements); }
  ~DeviceComm() { NCCLCHECK(ncclDevCommDestroy(host_, &comm)); }
  DeviceComm(const DeviceComm&) = delete;
  DeviceComm& operator=(const DeviceComm&) = delete;

 private:
  void create(ncclDevCommRequirements_t& requirements) { NCCLCHECK(ncclDevCommCreate(host_, &requirements, &comm)); }
  ncclComm_t host_;
};

inline void open_ranks(Ranks* ranks, const ncclUniqueId& id) {
  int devices = 0;
  CUDACHECK(cudaGetDeviceCount(&devices));
  CUDACHECK(cudaSetDevice(ranks->local % devices));
  NCCLCHECK(ncclCommInitRank(&ranks->comm, ranks->size, id, ranks->rank));
  CUDACHECK(cudaStreamCreateWithFlags(&ranks->stream, cudaStreamNonBlocking));
}

inline void close_ranks(Ranks* ranks) {
  CUDACHECK(cudaStreamSynchronize(ranks->stream));
  CUDACHECK(cudaStreamDestroy(ranks->stream));
  NCCLCHECK(ncclCommFinalize(ranks->comm));
  NCCLCHECK(ncclCommDestroy(ranks->comm));
}
