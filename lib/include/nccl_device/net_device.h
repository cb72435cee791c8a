/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of network device and the handle a plugin returns for one. C99 and C++17. Contract 2.2, 10. */
#ifndef ANYGIN_NCCL_DEVICE_NET_DEVICE_H_
#define ANYGIN_NCCL_DEVICE_NET_DEVICE_H_

#include <stddef.h>

#define NCCL_NET_DEVICE_INVALID_VERSION 0x0
#define NCCL_NET_MTU_SIZE 4096
#define NCCL_NET_DEVICE_UNPACK_VERSION 0x7
#define NCCL_GIN_PROXY_VERSION 100
#define NCCL_GIN_GDAKI_VERSION 200
#define NCCL_GIN_GPI_VERSION 100

typedef enum {
  NCCL_NET_DEVICE_HOST = 0,
  NCCL_NET_DEVICE_UNPACK = 1,
  NCCL_NET_DEVICE_GIN_PROXY = 2,
  NCCL_NET_DEVICE_GIN_GDAKI = 3,
  NCCL_NET_DEVICE_GIN_GPI = 4
} ncclNetDeviceType;

typedef struct {
  ncclNetDeviceType netDeviceType;
  int netDeviceVersion; /* NCCL_GIN_*_VERSION */
  void* handle;         /* for kernels */
  size_t size;
  int needsProxyProgress;
} ncclNetDeviceHandle_v7_t;

typedef ncclNetDeviceHandle_v7_t ncclNetDeviceHandle_v8_t;
typedef ncclNetDeviceHandle_v8_t ncclNetDeviceHandle_v9_t;
typedef ncclNetDeviceHandle_v9_t ncclNetDeviceHandle_v10_t;
typedef ncclNetDeviceHandle_v10_t ncclNetDeviceHandle_v11_t;
typedef ncclNetDeviceHandle_v11_t ncclNetDeviceHandle_v12_t;
typedef ncclNetDeviceHandle_v12_t ncclNetDeviceHandle_t;

#endif /* ANYGIN_NCCL_DEVICE_NET_DEVICE_H_ */
