// SPDX-License-Identifier: Apache-2.0
// Demand 14: a window for the network only (2.32; compiled with -DANYGIN_NCCL_VERSION=23203).
#include "limited_ring.h"

int main(int argc, char** argv) {
  return put_round_the_ring(argc, argv, NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_GIN_ONLY);
}
