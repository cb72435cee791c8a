// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/host_share.h"

#include <charconv>
#include <string>

#include "anygin/base/env_real.h"

namespace anygin::simt {

int processes_of_host() {
  for (const char* name : {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_TASKS_PER_NODE"}) {
    const std::string text = environment_variable(name);
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    // Slurm writes "4(x2)" or "4,3": this host's count is taken to be the first.
    const bool ends = end == text.data() + text.size() || *end == '(' || *end == ',';
    if (error == std::errc{} && ends && count > 0) return count;
  }
  return 1;
}

}  // namespace anygin::simt
