/* SPDX-License-Identifier: Apache-2.0 */
/* A C program that uses the host half of the API (contract 1.3, B.1). */
#include <nccl.h>
#include <nccl_device/core.h>

int use_of_everything_c_sees(ncclComm_t comm, ncclWindow_t window);
int use_of_everything_c_sees(ncclComm_t comm, ncclWindow_t window) {
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  ncclSimInfo_t sim = NCCL_SIM_INFO_INITIALIZER;
  ncclDevResourceRequirements_t node;
  ncclLsaBarrierHandle_t barrier;
  ncclDevComm_t device_comm;
  void* address = NULL;
  ncclTeam_t team = ncclTeamLsa(comm);
  reqs.resourceRequirementsList = &node;
  return ncclCommQueryProperties(comm, &properties) == ncclSuccess &&
         ncclLsaBarrierCreateRequirement(team, 4, &barrier, &node) == ncclSuccess &&
         ncclDevCommCreate(comm, &reqs, &device_comm) == ncclSuccess &&
         ncclGetPeerDevicePointer(window, 0, ncclTeamRankToWorld(comm, team, 0), &address) == ncclSuccess &&
         pncclCommDestroy(comm) == ncclSuccess && config.size == sizeof(config) && sim.size == sizeof(sim) &&
         device_comm.nRanks > 0;
}
