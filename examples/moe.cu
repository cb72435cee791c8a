// SPDX-License-Identifier: Apache-2.0
// Mixture of experts: kernels decide where each token goes, put it to its experts' ranks and fetch the answers. The
// table of choices is skewed, as routers are: a few experts get most of the tokens.
//   moe [-t TABLE.csv] [-r RANKS]        the table: one as data/moe_routing.csv, which is the default
#include <string>

#include "common.h"
#include "moe_layer.h"

namespace {

constexpr int kSteps = 3;

// The table that lies beside this source.
std::string shipped_table() {
  const std::string source = __FILE__;
  const size_t slash = source.rfind('/');
  return (slash == std::string::npos ? std::string() : source.substr(0, slash + 1)) + "data/moe_routing.csv";
}

int run_steps(RankEnv& env, const std::vector<moe::Choice>& table) {
  if (moe::kExperts % env.ranks != 0) {
    std::fprintf(stderr, "moe: %d ranks; a divisor of %d experts would be right\n", env.ranks, moe::kExperts);
    std::exit(2);
  }
  if (table.size() < static_cast<size_t>(env.ranks)) {
    std::fprintf(stderr, "moe: a table of %zu tokens for %d ranks; at least one each would be right\n", table.size(),
                 env.ranks);
    std::exit(2);
  }
  const moe::Court court{env.ranks, table.size() / static_cast<size_t>(env.ranks)};
  const size_t first = static_cast<size_t>(env.rank) * court.tokens;
  const auto mine = table.begin() + static_cast<ptrdiff_t>(first);
  std::vector<float> numbers;
  for (size_t token = first; token < first + court.tokens; ++token) {
    for (int i = 0; i < moe::kHidden; ++i) numbers.push_back(moe::token_value(token, i));
  }
  const SharedMemory memory(env.comm, court.bytes());
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginContextCount = moe::kExperts;
  requirements.ginSignalCount = moe::kSignals;
  const DeviceComm comm(env.comm, requirements);
  const DeviceArray<float> tokens(env, numbers), out(env, numbers.size());
  const DeviceArray<moe::Choice> choices(env,
                                         std::vector<moe::Choice>(mine, mine + static_cast<ptrdiff_t>(court.tokens)));
  const DeviceArray<int> places(env, court.tokens * moe::kTop);
  const moe::Layer layer{comm.view(), memory.window(), court, tokens.data(), choices.data(), places.data(), out.data()};

  int wrong = 0;
  for (uint64_t step = 0; step < kSteps; ++step) {
    moe::dispatch<<<moe::kExperts, moe::kThreads, 0, env.stream>>>(layer, step);
    moe::combine<<<4, moe::kThreads, 0, env.stream>>>(layer);
    CHECK_CUDA(cudaGetLastError());
    const std::vector<float> got = out.on_host();
    for (size_t at = 0; at < got.size(); ++at) {
      const size_t token = first + at / moe::kHidden;
      wrong += got[at] != moe::reference(table[token], token, static_cast<int>(at % moe::kHidden), step);
    }
  }
  const std::string text = std::to_string(court.tokens) + " tokens to " + std::to_string(moe::kExperts) +
                           " experts and back, " + std::to_string(kSteps) + " steps";
  return verdict(env, text.c_str(), wrong);
}

}  // namespace

int main(int argc, char** argv) {
  std::string file = shipped_table();
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "-t") == 0) file = argv[i + 1];
  }
  const std::vector<moe::Choice> table = moe::read_table(file.c_str());
  if (table.empty()) return 2;
  return run_example(argc, argv, [&](RankEnv& env) { return run_steps(env, table); });
}
