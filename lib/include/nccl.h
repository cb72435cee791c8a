/* SPDX-License-Identifier: Apache-2.0 */
/* The host API: communicators, windows, one-sided and two-sided transfers, collectives, groups, parameters.
 * Source-compatible with NCCL 2.30.7. C99 and C++17. Errors are those of ncclResult_t; the text of the calling thread's
 * last error is ncclGetLastError(). Every ncclX has a twin pncclX: a profiler may define ncclX and call pncclX.
 * Its first word is the name of the cause (docs/errors.md). What has no meaning in this library returns ncclInvalidUsage
 * and says so (GIN_ERR_NOT_SUPPORTED). */
#ifndef ANYGIN_NCCL_H_
#define ANYGIN_NCCL_H_

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#if CUDART_VERSION >= 11000
#include <cuda_bf16.h>
#endif
#if defined(__cplusplus) && CUDART_VERSION >= 11080
#include <cuda_fp8.h>
#endif
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* --- Version ------------------------------------------------------------------------------------------------------ */
#define NCCL_VERSION(X, Y, Z) (((X) <= 2 && (Y) <= 8) ? (X)*1000 + (Y)*100 + (Z) : (X)*10000 + (Y)*100 + (Z))
/* A program that is compiled with -DANYGIN_NCCL_VERSION=23102 or 23203 also sees names of that release. */
#if !defined(ANYGIN_NCCL_VERSION)
#define ANYGIN_NCCL_VERSION 23007
#endif
#if ANYGIN_NCCL_VERSION == 23007
#define NCCL_MINOR 30
#define NCCL_PATCH 7
#elif ANYGIN_NCCL_VERSION == 23102
#define NCCL_MINOR 31
#define NCCL_PATCH 2
#elif ANYGIN_NCCL_VERSION == 23203
#define NCCL_MINOR 32
#define NCCL_PATCH 3
#else
#error "ANYGIN_NCCL_VERSION: known releases are 23007, 23102 and 23203"
#endif
#define NCCL_MAJOR 2
#define NCCL_SUFFIX ""
#define NCCL_VERSION_CODE ANYGIN_NCCL_VERSION

#define NCCL_COMM_NULL NULL
#define NCCL_UNIQUE_ID_BYTES 128
#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_SPLIT_NOCOLOR -1
#define NCCL_UNDEF_FLOAT -1.0f
#define NCCL_API_MAGIC 0xcafebeef
#define NCCL_SIM_INFO_MAGIC 0x74685283

#ifdef __cplusplus
extern "C" {
#endif

/* --- Handles and results ------------------------------------------------------------------------------------------ */
typedef struct ncclComm* ncclComm_t;
/* A window, opaque on host and device. */
typedef struct ncclWindow_vidmem* ncclWindow_t;
typedef struct ncclParamHandle* ncclParamHandle_t;
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
  ncclTimeout = 8,
  ncclNumResults = 9
} ncclResult_t;

/* --- Constants ---------------------------------------------------------------------------------------------------- */
/* Window flags. */
#define NCCL_WIN_DEFAULT 0x00
#define NCCL_WIN_COLL_SYMMETRIC 0x01
#define NCCL_WIN_STRICT_ORDERING 0x02 /* signals by address may live in the window */
#if ANYGIN_NCCL_VERSION >= 23203
#define NCCL_WIN_GIN_ONLY 0x04    /* nobody loads from it or stores to it directly; here it is reachable all the same */
#define NCCL_WIN_CFT_COUNTED 0x08 /* refused: ncclInvalidUsage */
#endif
#define NCCL_WIN_REQUIRED_ALIGNMENT 4096
/* Config: bits of CTAPolicy. */
#define NCCL_CTA_POLICY_DEFAULT 0
#define NCCL_CTA_POLICY_EFFICIENCY 1
#define NCCL_CTA_POLICY_ZERO 2
/* Flags of shrink, revoke and suspend. */
#define NCCL_SHRINK_DEFAULT 0
#define NCCL_SHRINK_ABORT 1
#define NCCL_REVOKE_DEFAULT 0
#define NCCL_SUSPEND_MEM 0x01

typedef enum {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11,
  ncclNumTypes = 12
} ncclDataType_t;

typedef enum { ncclNumOps_dummy = 5 } ncclRedOp_dummy_t;
typedef enum {
  ncclSum = 0,
  ncclProd = 1,
  ncclMax = 2,
  ncclMin = 3,
  ncclAvg = 4,
  ncclNumOps = 5, /* operators made by ncclRedOpCreate* start here */
  ncclMaxRedOp = 0x7fffffff >> (32 - 8 * sizeof(ncclRedOp_dummy_t))
} ncclRedOp_t;

/* Where the scalar of a pre-multiplied sum is read, and when: by the device in stream order, or at the call. */
typedef enum { ncclScalarDevice = 0, ncclScalarHostImmediate = 1 } ncclScalarResidence_t;

typedef enum {
  ncclStatGpuMemSuspend = 0,
  ncclStatGpuMemSuspended = 1,
  ncclStatGpuMemPersist = 2,
  ncclStatGpuMemTotal = 3
} ncclCommMemStat_t;

/* --- Structures passed by the program ----------------------------------------------------------------------------- */
/* Start from NCCL_CONFIG_INITIALIZER. An int left at NCCL_CONFIG_UNDEF_INT takes its default; a value outside the range
 * given here is ncclInvalidArgument. */
#if ANYGIN_NCCL_VERSION >= 23100
typedef struct ncclConfig_v23100 {
#else
typedef struct ncclConfig_v23000 {
#endif
  size_t size;
  unsigned int magic;
  unsigned int version;
  int blocking;       /* 0 or 1 (default): failures of a non-blocking communicator come by ncclCommGetAsyncError */
  int cgaClusterSize; /* >= 0 */
  int minCTAs;        /* 1..maxCTAs */
  int maxCTAs;        /* > 0 */
  const char* netName;
  int splitShare; /* 0 (default) or 1 */
  int trafficClass;
  const char* commName;
  int collnetEnable; /* 0 (default) or 1 */
  int CTAPolicy;     /* NCCL_CTA_POLICY_* */
  int shrinkShare;   /* 0 (default) or 1 */
  int nvlsCTAs;      /* > 0 */
  int nChannelsPerNetPeer;
  int nvlinkCentricSched;  /* 0 (default) or 1 */
  int graphUsageMode;      /* 0, 1 or 2 (default) */
  int numRmaCtx;           /* >= 0, default 1; 0: no host RMA */
  int maxP2pPeers;         /* > 0 */
  int graphStreamOrdering; /* 0 or 1 (default) */
#if ANYGIN_NCCL_VERSION >= 23100
  int numRmaSig;           /* >= 1, default 1: sigIdx of host one-sided calls is below it, their ctx below numRmaCtx */
  int rmaEagerInit;        /* 0 or 1 (default): here it is always so */
  int launchOrderImplicit; /* 0 (default) or 1 */
  int hostCftMode;         /* 0 (default) only */
#endif
} ncclConfig_t;

#if ANYGIN_NCCL_VERSION >= 23100
#define ANYGIN_NCCL_CONFIG_NEWER \
  , NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT
#else
#define ANYGIN_NCCL_CONFIG_NEWER
#endif

#define NCCL_CONFIG_INITIALIZER                          \
  {                                                      \
    sizeof(ncclConfig_t),      /* size */                \
        NCCL_API_MAGIC,        /* magic */               \
        NCCL_VERSION_CODE,     /* version */             \
        NCCL_CONFIG_UNDEF_INT, /* blocking */            \
        NCCL_CONFIG_UNDEF_INT, /* cgaClusterSize */      \
        NCCL_CONFIG_UNDEF_INT, /* minCTAs */             \
        NCCL_CONFIG_UNDEF_INT, /* maxCTAs */             \
        NCCL_CONFIG_UNDEF_PTR, /* netName */             \
        NCCL_CONFIG_UNDEF_INT, /* splitShare */          \
        NCCL_CONFIG_UNDEF_INT, /* trafficClass */        \
        NCCL_CONFIG_UNDEF_PTR, /* commName */            \
        NCCL_CONFIG_UNDEF_INT, /* collnetEnable */       \
        NCCL_CONFIG_UNDEF_INT, /* CTAPolicy */           \
        NCCL_CONFIG_UNDEF_INT, /* shrinkShare */         \
        NCCL_CONFIG_UNDEF_INT, /* nvlsCTAs */            \
        NCCL_CONFIG_UNDEF_INT, /* nChannelsPerNetPeer */ \
        NCCL_CONFIG_UNDEF_INT, /* nvlinkCentricSched */  \
        NCCL_CONFIG_UNDEF_INT, /* graphUsageMode */      \
        NCCL_CONFIG_UNDEF_INT, /* numRmaCtx */           \
        NCCL_CONFIG_UNDEF_INT, /* maxP2pPeers */         \
        NCCL_CONFIG_UNDEF_INT  /* graphStreamOrdering */ \
            ANYGIN_NCCL_CONFIG_NEWER                     \
  }

typedef struct ncclSimInfo_v22200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  float estimatedTime; /* microseconds; NCCL_UNDEF_FLOAT if unknown */
} ncclSimInfo_t;

#define NCCL_SIM_INFO_INITIALIZER \
  { sizeof(ncclSimInfo_t), NCCL_SIM_INFO_MAGIC, NCCL_VERSION_CODE, NCCL_UNDEF_FLOAT }

/* One source that ncclWaitSignal waits for: `opCnt` more puts or signals of communicator rank `peer`. */
typedef struct {
  int opCnt; /* > 0 */
  int peer;
  int sigIdx; /* 0 */
  int ctx;    /* 0 */
} ncclWaitSignalDesc_t;

/* --- Library ------------------------------------------------------------------------------------------------------ */
/* Writes NCCL_VERSION_CODE of the library. NULL: ncclInvalidArgument. (contract 2.4) */
ncclResult_t ncclGetVersion(int* version);
ncclResult_t pncclGetVersion(int* version);
/* Opens the meeting place of a new communicator; the id is passed to all its ranks by the program. */
ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId);
ncclResult_t pncclGetUniqueId(ncclUniqueId* uniqueId);
/* Static text; "unknown result code" for anything else. */
const char* ncclGetErrorString(ncclResult_t result);
const char* pncclGetErrorString(ncclResult_t result);
/* What went wrong last in this thread: what, where, and what would be right. `comm` may be NULL. Valid until the
 * thread's next call of this API. */
const char* ncclGetLastError(ncclComm_t comm);
const char* pncclGetLastError(ncclComm_t comm);
#if defined(NCCL_OS_LINUX)
/* Deprecated: does nothing. */
void ncclResetDebugInit(void);
void pncclResetDebugInit(void);
#else
#define ncclResetDebugInit()
#endif

/* --- Communicators ------------------------------------------------------------------------------------------------ */
/* Joins `nranks` ranks as `rank` on the calling thread's current device; collective. Writes NULL to *comm on failure.
 * ncclInvalidArgument: NULL, nranks < 1, rank outside [0, nranks). */
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank);
ncclResult_t pncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank);
/* As ncclCommInitRank; `config` NULL means defaults. */
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config);
ncclResult_t pncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config);
/* As ncclCommInitRankConfig with `nId` meeting places, 1..nranks. */
ncclResult_t ncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int nId, ncclUniqueId* commIds,
                                      ncclConfig_t* config);
ncclResult_t pncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int nId, ncclUniqueId* commIds,
                                       ncclConfig_t* config);
/* All ranks in this process: comm[i] on device devlist[i], or i if devlist is NULL. A device named twice is
 * ncclInvalidUsage unless NCCL_MULTI_RANK_GPU_ENABLE is set. */
ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist);
ncclResult_t pncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist);
/* Collective: ranks of one `color` form a new communicator ordered by `key`, then old rank. NCCL_SPLIT_NOCOLOR takes no
 * part and gets NULL. NULL config: the parent's. Works on a communicator that all ranks have revoked. (contract 2.4) */
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config);
ncclResult_t pncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config);
/* Called by the surviving ranks only: a communicator without the listed ranks. The list is sorted in place. With
 * NCCL_SHRINK_ABORT what is under way on `comm` is given up, and its asynchronous error is no obstacle; a device that
 * was lost with it works again. NULL config: the parent's. (contract 2.4) */
ncclResult_t ncclCommShrink(ncclComm_t comm, int* excludeRanksList, int excludeRanksCount, ncclComm_t* newcomm,
                            ncclConfig_t* config, int shrinkFlags);
ncclResult_t pncclCommShrink(ncclComm_t comm, int* excludeRanksList, int excludeRanksCount, ncclComm_t* newcomm,
                             ncclConfig_t* config, int shrinkFlags);
/* Opens a meeting place for ncclCommGrow, on one rank; new ranks are given the id by the program. */
ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* uniqueId);
ncclResult_t pncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* uniqueId);
/* A larger communicator: present ranks pass rank -1, new ones comm NULL with id and rank. */
ncclResult_t ncclCommGrow(ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId, int rank, ncclComm_t* newcomm,
                          ncclConfig_t* config);
ncclResult_t pncclCommGrow(ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId, int rank, ncclComm_t* newcomm,
                           ncclConfig_t* config);
/* Drains the communicator's work. NULL: success. Twice: ncclInvalidArgument. */
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t pncclCommFinalize(ncclComm_t comm);
/* Frees the communicator. NULL: success. */
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t pncclCommDestroy(ncclComm_t comm);
/* Ends every wait of the communicator, on all ranks within 1 s, and frees it. NULL: success. */
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t pncclCommAbort(ncclComm_t comm);
/* Ends every wait of the communicator, on all ranks within 1 s. Afterwards questions, split, shrink, abort and destroy
 * work, other calls are ncclInvalidUsage. `revokeFlags` is 0; NULL: success; twice: ncclInvalidArgument. (contract 2.4)
 */
ncclResult_t ncclCommRevoke(ncclComm_t comm, int revokeFlags);
ncclResult_t pncclCommRevoke(ncclComm_t comm, int revokeFlags);
/* Releases memory that can be rebuilt, and rebuilds it; collective. */
ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags);
ncclResult_t pncclCommSuspend(ncclComm_t comm, int flags);
ncclResult_t ncclCommResume(ncclComm_t comm);
ncclResult_t pncclCommResume(ncclComm_t comm);
/* Bytes held by the communicator. */
ncclResult_t ncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value);
ncclResult_t pncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value);
/* The error that the communicator met outside any call: a dead peer, a NIC error, a kernel's misuse. Any thread. */
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError);
ncclResult_t pncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError);
/* Number of ranks, the device, and the caller's rank. */
ncclResult_t ncclCommCount(const ncclComm_t comm, int* count);
ncclResult_t pncclCommCount(const ncclComm_t comm, int* count);
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device);
ncclResult_t pncclCommCuDevice(const ncclComm_t comm, int* device);
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank);
ncclResult_t pncclCommUserRank(const ncclComm_t comm, int* rank);

/* --- Memory and windows ------------------------------------------------------------------------------------------- */
/* Device memory that windows can be made of, rounded up to the allocation granularity. Size 0 is as cudaMalloc. */
ncclResult_t ncclMemAlloc(void** ptr, size_t size);
ncclResult_t pncclMemAlloc(void** ptr, size_t size);
ncclResult_t ncclMemFree(void* ptr);
ncclResult_t pncclMemFree(void* ptr);
/* Registers a buffer for collectives and send/recv; local. */
ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle);
ncclResult_t pncclCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle);
ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle);
ncclResult_t pncclCommDeregister(const ncclComm_t comm, void* handle);
/* Collective, same order on all ranks; buffers and sizes may differ. *win is NULL until the outermost group ends, and
 * stays NULL with ncclSuccess where windows are not supported. `buff` lies a multiple of NCCL_WIN_REQUIRED_ALIGNMENT
 * bytes into an allocation of ncclMemAlloc. `winFlags`: NCCL_WIN_*. (contract 2.7) */
ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int winFlags);
ncclResult_t pncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int winFlags);
/* Local and immediate; no peer uses the window any more. NULL window: success. */
ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win);
ncclResult_t pncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win);
/* The `buff` given at registration. */
ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** outUserPtr);
ncclResult_t pncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** outUserPtr);

/* --- One-sided transfers of the host ------------------------------------------------------------------------------ */
/* In stream order: copies count elements from `localbuff`, which lies in a symmetric window, to byte `peerWinOffset` of
 * the peer's window, then adds one to the peer's signal for this source. sigIdx, ctx and flags are 0. (contract 3) */
ncclResult_t ncclPutSignal(const void* localbuff, size_t count, ncclDataType_t datatype, int peer, ncclWindow_t peerWin,
                           size_t peerWinOffset, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t pncclPutSignal(const void* localbuff, size_t count, ncclDataType_t datatype, int peer,
                            ncclWindow_t peerWin, size_t peerWinOffset, int sigIdx, int ctx, unsigned int flags,
                            ncclComm_t comm, cudaStream_t stream);
/* The signal alone. */
ncclResult_t ncclSignal(int peer, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclSignal(int peer, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm, cudaStream_t stream);
/* Holds the stream until every descriptor's count has arrived. Counts accumulate over calls; surplus is kept. */
ncclResult_t ncclWaitSignal(int nDesc, ncclWaitSignalDesc_t* signalDescs, ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclWaitSignal(int nDesc, ncclWaitSignalDesc_t* signalDescs, ncclComm_t comm, cudaStream_t stream);

/* --- Two-sided transfers and collectives -------------------------------------------------------------------------- */
/* Sends match receives per pair of ranks in call order, with equal count and type. (contract 2.5) */
ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t pncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t stream);
ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t pncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t stream);
ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                         int root, ncclComm_t comm, cudaStream_t stream);
/* Deprecated: ncclBroadcast in place. */
ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream);
ncclResult_t pncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                        cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                            ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                            ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                                ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                            ncclComm_t comm, cudaStream_t stream);
/* `count` elements for each peer. */
ncclResult_t ncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                          cudaStream_t stream);
ncclResult_t pncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                        ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                         ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclScatter(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                         ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclScatter(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                          ncclComm_t comm, cudaStream_t stream);
/* An operator that multiplies by *scalar, then sums. */
ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                      ncclScalarResidence_t residence, ncclComm_t comm);
ncclResult_t pncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                       ncclScalarResidence_t residence, ncclComm_t comm);
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);
ncclResult_t pncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);

/* --- Groups ------------------------------------------------------------------------------------------------------- */
/* Per thread, nestable; the work of a group starts at the outermost end, which returns the last error of the group. An
 * end without a start is ncclInvalidUsage. */
ncclResult_t ncclGroupStart(void);
ncclResult_t pncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
ncclResult_t pncclGroupEnd(void);
ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* simInfo);
ncclResult_t pncclGroupSimulateEnd(ncclSimInfo_t* simInfo);

/* --- Parameters --------------------------------------------------------------------------------------------------- */
/* Reads of NCCL's parameters by name. Strings and tables belong to the calling thread until its next call of this
 * section. NULL, unknown key, wrong type: ncclInvalidArgument. (contract 2.6) */
ncclResult_t ncclParamBind(ncclParamHandle_t* out, const char* key);
ncclResult_t pncclParamBind(ncclParamHandle_t* out, const char* key);
ncclResult_t ncclParamGetI8(ncclParamHandle_t h, int8_t* out);
ncclResult_t pncclParamGetI8(ncclParamHandle_t h, int8_t* out);
ncclResult_t ncclParamGetI16(ncclParamHandle_t h, int16_t* out);
ncclResult_t pncclParamGetI16(ncclParamHandle_t h, int16_t* out);
ncclResult_t ncclParamGetI32(ncclParamHandle_t h, int32_t* out);
ncclResult_t pncclParamGetI32(ncclParamHandle_t h, int32_t* out);
ncclResult_t ncclParamGetI64(ncclParamHandle_t h, int64_t* out);
ncclResult_t pncclParamGetI64(ncclParamHandle_t h, int64_t* out);
ncclResult_t ncclParamGetU8(ncclParamHandle_t h, uint8_t* out);
ncclResult_t pncclParamGetU8(ncclParamHandle_t h, uint8_t* out);
ncclResult_t ncclParamGetU16(ncclParamHandle_t h, uint16_t* out);
ncclResult_t pncclParamGetU16(ncclParamHandle_t h, uint16_t* out);
ncclResult_t ncclParamGetU32(ncclParamHandle_t h, uint32_t* out);
ncclResult_t pncclParamGetU32(ncclParamHandle_t h, uint32_t* out);
ncclResult_t ncclParamGetU64(ncclParamHandle_t h, uint64_t* out);
ncclResult_t pncclParamGetU64(ncclParamHandle_t h, uint64_t* out);
ncclResult_t ncclParamGetStr(ncclParamHandle_t h, const char** out);
ncclResult_t pncclParamGetStr(ncclParamHandle_t h, const char** out);
ncclResult_t ncclParamGet(ncclParamHandle_t h, void* out, int maxLen, int* len);
ncclResult_t pncclParamGet(ncclParamHandle_t h, void* out, int maxLen, int* len);
ncclResult_t ncclParamGetParameter(const char* key, const char** value, int* valueLen);
ncclResult_t pncclParamGetParameter(const char* key, const char** value, int* valueLen);
ncclResult_t ncclParamGetAllParameterKeys(const char*** table, int* tableLen);
ncclResult_t pncclParamGetAllParameterKeys(const char*** table, int* tableLen);
void ncclParamDumpAll(void);
void pncclParamDumpAll(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ANYGIN_NCCL_H_ */
