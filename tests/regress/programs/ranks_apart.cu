// SPDX-License-Identifier: Apache-2.0
// Ranks that do not come together, or late. The argument says how.
#include <cuda_runtime.h>
#include <nccl.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

int number(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

bool works(ncclResult_t result) {
  if (result != ncclSuccess) std::printf("%s: %s\n", ncclGetErrorString(result), ncclGetLastError(nullptr));
  return result == ncclSuccess;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "together";
  const int rank = number("RANK"), ranks = number("WORLD_SIZE");
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  if (!works(ncclGetUniqueId(&id)) || !works(ncclCommInitRank(&comm, ranks, id, rank))) return 1;
  // The last rank has something else to do, outside of the library.
  if (std::strcmp(how, "late") == 0 && rank == ranks - 1) std::this_thread::sleep_for(std::chrono::seconds(4));
  void* buffer = nullptr;
  ncclWindow_t window;
  if (!works(ncclMemAlloc(&buffer, 4096))) return 1;
  if (!works(ncclCommWindowRegister(comm, buffer, 4096, &window, NCCL_WIN_COLL_SYMMETRIC))) return 1;
  if (!works(ncclCommWindowDeregister(comm, window)) || !works(ncclMemFree(buffer))) return 1;
  return works(ncclCommDestroy(comm)) ? 0 : 1;
}
