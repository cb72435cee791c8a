// SPDX-License-Identifier: Apache-2.0
// Three calls that differ in one argument: a compiler that merges their tails gives them one place.
#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>
#include <unistd.h>

#include <cstdlib>

__global__ void misuse(ncclDevComm comm, ncclWindow_t window, int which) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  switch (which) {
    case 0: gin.put(world, 0, window, 4092, window, 0, 8); break;  // line of case 0
    case 1: gin.put(world, 0, window, 0, window, 4092, 8); break;  // line of case 1
    case 2: gin.put(world, 0, window, 8, window, 8, 4096); break;  // line of case 2
  }
}

int main(int argc, char** argv) {
  if (argc == 3) {  // "self CASE": once more, under a name that means something else to every other process
    char* again[] = {argv[0], argv[2], nullptr};
    return execv("/proc/self/exe", again);
  }
  ncclUniqueId id;
  ncclComm_t comm;
  void* buffer;
  ncclWindow_t window;
  ncclDevComm dev_comm;
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  if (ncclGetUniqueId(&id) != ncclSuccess || ncclCommInitRank(&comm, 1, id, 0) != ncclSuccess ||
      ncclMemAlloc(&buffer, 4096) != ncclSuccess ||
      ncclCommWindowRegister(comm, buffer, 4096, &window, NCCL_WIN_COLL_SYMMETRIC) != ncclSuccess ||
      ncclDevCommCreate(comm, &requirements, &dev_comm) != ncclSuccess) {
    return 3;
  }
  misuse<<<1, 1>>>(dev_comm, window, std::atoi(argv[1]));
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
