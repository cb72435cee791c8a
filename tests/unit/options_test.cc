// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/reaches.h"

namespace anygin {
namespace {

Result<Options> parse(std::vector<const char*> environment) {
  return parse_options(environment);
}

Options good(const char* entry) {
  const Result<Options> parsed = parse({entry});
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? *parsed : Options{};
}

std::string refusal(const char* entry) {
  const Result<Options> parsed = parse({entry});
  EXPECT_FALSE(parsed.ok()) << entry;
  REACHES(GIN_ERR_ENVIRONMENT, parsed.status());
  return parsed.ok() ? "" : parsed.status().text();
}

TEST(Options, DefaultsWhenNothingIsSet) {
  const Result<Options> parsed = parse({"PATH=/bin", "RANK=3", "NOT_AN_ASSIGNMENT"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->nic, "emu");
  EXPECT_EQ(parsed->profile, Profile::kInorder);
  EXPECT_EQ(parsed->seed, 1u);
  EXPECT_EQ(parsed->hang_timeout_ns, 10'000'000'000u);
  EXPECT_TRUE(parsed->topology.ranks_of_node.empty());
}

TEST(Options, EveryVariableReachesItsField) {
  EXPECT_EQ(good("ANYGIN_NIC=none").nic, "none");
  EXPECT_EQ(good("ANYGIN_FABRIC=direct").fabric, "direct");
  EXPECT_EQ(good("ANYGIN_PROFILE=cx7").profile, Profile::kCx7);
  EXPECT_EQ(good("ANYGIN_PROFILE=relaxed").profile, Profile::kRelaxed);
  EXPECT_EQ(good("ANYGIN_PROFILE=srd").profile, Profile::kSrd);
  EXPECT_EQ(good("ANYGIN_TOPOLOGY=2x4").topology.ranks_of_node, (std::vector<int>{4, 4}));
  EXPECT_EQ(good("ANYGIN_DEVICES=12").devices, 12);
  EXPECT_EQ(good("ANYGIN_SEED=18446744073709551615").seed, ~uint64_t{0});
  EXPECT_EQ(good("ANYGIN_HANG_TIMEOUT=0").hang_timeout_ns, 0u);
  EXPECT_EQ(good("ANYGIN_HANG_TIMEOUT=1.5").hang_timeout_ns, 1'500'000'000u);
  EXPECT_EQ(good("ANYGIN_WORKERS=2").workers, 2);
  EXPECT_EQ(good("ANYGIN_ENGINE_THREADS=0").engine_threads, 0);
  EXPECT_EQ(good("ANYGIN_COMM_TOKEN=00ffAA").comm_token, "00ffAA");
  EXPECT_EQ(good("ANYGIN_WORLD=/x/libsim.so").world, "/x/libsim.so");
  EXPECT_EQ(good("ANYGIN_SIM=strategy=canonical").sim, "strategy=canonical");
  EXPECT_EQ(good("ANYGIN_DEVICE_ERROR=trap").device_error, "trap");
  EXPECT_EQ(good("ANYGIN_TRACE=t.%p.json").trace_file, "t.%p.json");
  EXPECT_EQ(good("NCCL_COMM_ID=127.0.0.1:4000").nccl_comm_id, "127.0.0.1:4000");
  EXPECT_EQ(good("NCCL_DEBUG=info").nccl_debug, "INFO");
  EXPECT_EQ(good("NCCL_GIN_ENABLE=0").nccl_gin_enable, 0);
  EXPECT_EQ(good("NCCL_GIN_TYPE=2").nccl_gin_type, 2);
  EXPECT_EQ(good("NCCL_GIN_PROXY_QUEUE_SIZE=128").nccl_gin_proxy_queue_size, 128);
  EXPECT_EQ(good("NCCL_WIN_ENABLE=0").nccl_win_enable, 0);
  EXPECT_EQ(good("NCCL_LSA_TEAM_SIZE=2").nccl_lsa_team_size, 2);
  EXPECT_EQ(good("NCCL_CROSS_NIC=0").nccl_cross_nic, 0);
  EXPECT_EQ(good("NCCL_NVLS_ENABLE=0").nccl_nvls_enable, 0);
}

TEST(Options, BadValuesNameTheVariableAndWhatIsValid) {
  EXPECT_EQ(refusal("ANYGIN_NIC=mlx5"), "ANYGIN_NIC='mlx5' is not valid; valid: emu, none");
  EXPECT_EQ(refusal("ANYGIN_PROFILE=Relaxed"),
            "ANYGIN_PROFILE='Relaxed' is not valid; valid: inorder, cx7, relaxed, srd");
  EXPECT_EQ(refusal("ANYGIN_DEVICES=-1"), "ANYGIN_DEVICES='-1' is not valid; valid: a whole number from 1 to 4096");
  EXPECT_EQ(refusal("ANYGIN_DEVICES=0"), "ANYGIN_DEVICES='0' is not valid; valid: a whole number from 1 to 4096");
  EXPECT_EQ(refusal("ANYGIN_WORKERS=0"), "ANYGIN_WORKERS='0' is not valid; valid: a whole number from 1 to 4096");
  EXPECT_EQ(refusal("ANYGIN_DEVICES=8 "), "ANYGIN_DEVICES='8 ' is not valid; valid: a whole number from 1 to 4096");
  EXPECT_EQ(refusal("ANYGIN_DEVICES="), "ANYGIN_DEVICES='' is not valid; valid: a whole number from 1 to 4096");
  EXPECT_EQ(refusal("ANYGIN_SEED=18446744073709551616"),
            "ANYGIN_SEED='18446744073709551616' is not valid; valid: a whole number from 0 to 2^64-1, random");
  EXPECT_EQ(refusal("ANYGIN_HANG_TIMEOUT=-1"),
            "ANYGIN_HANG_TIMEOUT='-1' is not valid; valid: seconds from 0 (never) to 1000000");
  EXPECT_EQ(refusal("ANYGIN_HANG_TIMEOUT=nan"),
            "ANYGIN_HANG_TIMEOUT='nan' is not valid; valid: seconds from 0 (never) to 1000000");
  EXPECT_EQ(refusal("ANYGIN_DEVICE_ERROR=exit"), "ANYGIN_DEVICE_ERROR='exit' is not valid; valid: leave, trap");
  EXPECT_EQ(refusal("NCCL_COMM_ID=localhost"),
            "NCCL_COMM_ID='localhost' is not valid; valid: host:port, with a port from 1 to 65535");
  EXPECT_EQ(refusal("NCCL_COMM_ID=h:70000"),
            "NCCL_COMM_ID='h:70000' is not valid; valid: host:port, with a port from 1 to 65535");
  EXPECT_EQ(refusal("NCCL_GIN_TYPE=1"),
            "NCCL_GIN_TYPE='1' is not valid; valid: -1 (any), 2 (proxy), 3 (GDAKI), 4 (GPI)");
  EXPECT_NE(refusal("ANYGIN_FABRIC=tcp").find("not supported by this version"), std::string::npos);
}

TEST(Options, ASecretIsNotRepeated) {
  const std::string text = refusal("ANYGIN_COMM_TOKEN=5ec2e7x");
  EXPECT_EQ(text.find("5ec2e7x"), std::string::npos);
  EXPECT_NE(text.find("an even number of hexadecimal digits"), std::string::npos);
}

TEST(Options, UnknownVariablesOfOursAreErrorsAndTheClosestNameComesFirst) {
  const std::string text = refusal("ANYGIN_PROFIL=relaxed");
  EXPECT_EQ(text.substr(0, 61), "there is no variable ANYGIN_PROFIL; there are: ANYGIN_PROFILE") << text;
  for (const OptionInfo& info : option_table()) {
    const bool ours = info.name.substr(0, 7) == "ANYGIN_";
    EXPECT_EQ(ours, text.find(info.name) != std::string::npos) << info.name;
  }
  EXPECT_EQ(refusal("ANYGIN_HANGTIMEOUT=1").substr(0, 71),
            "there is no variable ANYGIN_HANGTIMEOUT; there are: ANYGIN_HANG_TIMEOUT");
}

TEST(Options, OtherLibrarysUnknownVariablesAreTheirs) {
  EXPECT_TRUE(parse({"NCCL_IB_DISABLE=1"}).ok());
}

TEST(Options, ARandomSeedIsDrawnAndPrinted) {
  ::testing::internal::CaptureStderr();
  const uint64_t first = good("ANYGIN_SEED=random").seed;
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(printed, "anygin: ANYGIN_SEED=" + std::to_string(first) + "\n");
  ::testing::internal::CaptureStderr();
  EXPECT_NE(good("ANYGIN_SEED=random").seed, first);
  ::testing::internal::GetCapturedStderr();
}

TEST(Options, TheTableIsWhatTheParserKnows) {
  EXPECT_EQ(option_table().size(), 31u);
  for (const OptionInfo& info : option_table()) {
    EXPECT_FALSE(info.meaning.empty()) << info.name;
    EXPECT_FALSE(info.default_value.empty()) << info.name;
  }
}

TEST(Options, OtherNamesOfAVariable) {
  EXPECT_EQ(good("NCCL_GIN_BACKEND=proxy").nccl_gin_type, 2);
  EXPECT_EQ(good("NCCL_GIN_BACKEND=gpi").nccl_gin_type, 4);
  EXPECT_EQ(good("NCCL_GIN_BACKEND=any").nccl_gin_type, -1);
  EXPECT_EQ(good("NCCL_GIN_BACKEND=3").nccl_gin_type, 3);
  EXPECT_EQ(refusal("NCCL_GIN_BACKEND=pigeon"),
            "NCCL_GIN_BACKEND='pigeon' is not valid; valid: any, proxy, gdaki, gpi");
  EXPECT_EQ(good("NCCL_PROXY_THREADS=3").engine_threads, 3);
  EXPECT_EQ(good("NCCL_GIN_CONTEXTS_PER_COMM=64").nccl_gin_contexts_per_comm, 64);
  EXPECT_EQ(good("NCCL_NUM_RMA_CTX=0").nccl_num_rma_ctx, 0);
  EXPECT_EQ(good("NCCL_ENABLE_VERSION_CHECK=0").nccl_enable_version_check, 0);
  EXPECT_TRUE(good("NCCL_PARAM_DUMP_ALL=true").nccl_param_dump_all);
  const Result<Options> both = parse({"NCCL_PROXY_THREADS=1", "ANYGIN_ENGINE_THREADS=1"});
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(both.status().text(),
            "ANYGIN_ENGINE_THREADS and NCCL_PROXY_THREADS are one variable; only one of them would be right");
}

TEST(Options, UnknownNamesOfGinAreWarnedOf) {
  using Warnings = std::vector<std::string>;
  EXPECT_EQ(good("NCCL_GIN_ENABEL=0").warnings,
            Warnings{"there is no variable NCCL_GIN_ENABEL; the nearest one is NCCL_GIN_ENABLE"});
  EXPECT_EQ(good("NCCL_GIN_PLUGIN=x").warnings, Warnings{"NCCL_GIN_PLUGIN has no effect in this library"});
  EXPECT_EQ(good("NCCL_GIN_ENABLE=0").warnings, Warnings{});
  EXPECT_EQ(good("NCCL_IB_HCA=mlx5").warnings, Warnings{}) << "NCCL has many others";
}

TEST(OptionsDeathTest, AWarningIsToldOnceAndTheRunGoesOn) {
  EXPECT_EXIT(
      {
        setenv("NCCL_GIN_TYP", "2", 1);
        options();
        const int type = options().nccl_gin_type;
        std::exit(type == -1 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0),
      "^anygin WARN: there is no variable NCCL_GIN_TYP; the nearest one is NCCL_GIN_TYPE\n$");
}

TEST(Options, ValuesAreShownAsTheyWereRead) {
  EXPECT_EQ(option_value(good("ANYGIN_TOPOLOGY=2x2,rail"), "ANYGIN_TOPOLOGY"), "2,2,rail");
  EXPECT_EQ(option_value(good("ANYGIN_HANG_TIMEOUT=1.5"), "ANYGIN_HANG_TIMEOUT"), "1.5");
  EXPECT_EQ(option_value(good("ANYGIN_COMM_TOKEN=00ff"), "ANYGIN_COMM_TOKEN"), "") << "a secret";
  EXPECT_EQ(option_value(good("NCCL_GIN_BACKEND=gdaki"), "NCCL_GIN_TYPE"), "3");
  EXPECT_EQ(option_value(Options{}, "NCCL_NONSENSE"), std::nullopt);
}

TEST(OptionsDeathTest, ABadEnvironmentEndsTheProcess) {
  EXPECT_EXIT(
      {
        setenv("ANYGIN_NIC", "floppy", 1);
        options();
      },
      ::testing::ExitedWithCode(2),
      "GIN_ERR_ENVIRONMENT: environment: ANYGIN_NIC='floppy' is not valid; valid: emu, none");
}

TEST(Topology, IsAProductOrAList) {
  const auto nodes = [](std::string_view text) {
    const Result<Topology> topology = parse_topology(text);
    return topology.ok() ? topology->ranks_of_node : std::vector<int>{};
  };
  EXPECT_EQ(nodes("1x1"), (std::vector<int>{1}));
  EXPECT_EQ(nodes("3x2"), (std::vector<int>{2, 2, 2}));
  EXPECT_EQ(nodes("3,5"), (std::vector<int>{3, 5}));
  EXPECT_EQ(nodes("8"), (std::vector<int>{8}));
  EXPECT_FALSE(parse_topology("2x4")->rail_only);
  const Result<Topology> rails = parse_topology("2x4,rail");
  ASSERT_TRUE(rails.ok());
  EXPECT_TRUE(rails->rail_only);
  EXPECT_EQ(rails->ranks_of_node, (std::vector<int>{4, 4}));
  EXPECT_EQ(parse_topology("3,5,rail")->ranks_of_node, (std::vector<int>{3, 5}));
  for (const char* bad : {"", "x", "2x", "x4", "0x4", "2x0", "2x4x", "3,,5", "3,", ",rail", "rail", "2x4,rails", "-1",
                          "1000000x1000000", "2 x4"}) {
    EXPECT_FALSE(parse_topology(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace anygin
