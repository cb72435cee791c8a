/* SPDX-License-Identifier: Apache-2.0
 * The part of MPI that NCCL programs start with, for checks on a machine without MPI: libmpi.so over AnyGIN's control
 * plane. Ranks are processes that `anygin run` started (RANK, WORLD_SIZE); a process started by hand is a world of one.
 * Thread-safe (MPI_THREAD_MULTIPLE). Errors are fatal, as MPI's default is: they are said on stderr and end the job. */
#ifndef ANYGIN_MPI_H_
#define ANYGIN_MPI_H_

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 3
#define MPI_SUBVERSION 1

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Info;
typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  long long anygin_bytes; /* received */
} MPI_Status;

enum {
  MPI_SUCCESS = 0,
  MPI_ERR_COMM = 5,
  MPI_ERR_ARG = 12,
  MPI_ERR_OTHER = 15,

  MPI_COMM_NULL = 0,
  MPI_COMM_WORLD = 1,
  MPI_COMM_SELF = 2,

  MPI_ANY_SOURCE = -1,
  MPI_ANY_TAG = -1,
  MPI_PROC_NULL = -2,
  MPI_UNDEFINED = -32766,
  MPI_COMM_TYPE_SHARED = 1,
  MPI_INFO_NULL = 0,
  MPI_MAX_ERROR_STRING = 256,
  MPI_MAX_PROCESSOR_NAME = 256,

  MPI_THREAD_SINGLE = 0,
  MPI_THREAD_FUNNELED = 1,
  MPI_THREAD_SERIALIZED = 2,
  MPI_THREAD_MULTIPLE = 3,

  MPI_DATATYPE_NULL = 0,
  MPI_BYTE,
  MPI_CHAR,
  MPI_SIGNED_CHAR,
  MPI_UNSIGNED_CHAR,
  MPI_SHORT,
  MPI_UNSIGNED_SHORT,
  MPI_INT,
  MPI_UNSIGNED,
  MPI_LONG,
  MPI_UNSIGNED_LONG,
  MPI_LONG_LONG,
  MPI_UNSIGNED_LONG_LONG,
  MPI_FLOAT,
  MPI_DOUBLE,
  MPI_C_BOOL,
  MPI_INT8_T = MPI_SIGNED_CHAR,
  MPI_UINT8_T = MPI_UNSIGNED_CHAR,
  MPI_INT16_T = MPI_SHORT,
  MPI_UINT16_T = MPI_UNSIGNED_SHORT,
  MPI_INT32_T = MPI_INT,
  MPI_UINT32_T = MPI_UNSIGNED,
  MPI_INT64_T = MPI_LONG,
  MPI_UINT64_T = MPI_UNSIGNED_LONG,
  MPI_LONG_LONG_INT = MPI_LONG_LONG,

  MPI_OP_NULL = 0,
  MPI_SUM,
  MPI_PROD,
  MPI_MAX,
  MPI_MIN,
  MPI_LAND,
  MPI_LOR,
  MPI_BAND,
  MPI_BOR
};

#define MPI_IN_PLACE ((void*)-1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)

int MPI_Init(int* argc, char*** argv);
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Initialized(int* flag);
int MPI_Finalize(void);
int MPI_Finalized(int* flag);
int MPI_Abort(MPI_Comm comm, int exit_code);
double MPI_Wtime(void);
int MPI_Error_string(int error, char* text, int* length);
int MPI_Get_processor_name(char* name, int* length);
int MPI_Type_size(MPI_Datatype type, int* bytes);
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count);

int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part);
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part);
int MPI_Comm_free(MPI_Comm* comm);

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* received, int received_count,
                 MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm, MPI_Status* status);
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Gather(const void* data, int count, MPI_Datatype type, void* all, int all_count, MPI_Datatype all_type,
               int root, MPI_Comm comm);
int MPI_Allgather(const void* data, int count, MPI_Datatype type, void* all, int all_count, MPI_Datatype all_type,
                  MPI_Comm comm);
int MPI_Reduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int MPI_Allreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

#ifdef __cplusplus
}
#endif

#endif
