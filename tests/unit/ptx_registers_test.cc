// SPDX-License-Identifier: Apache-2.0
// Inline PTX that computes: registers, predicates, jumps, arithmetic, conversions; and multimem addresses.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "anygin/base/multimem.h"
#include "anygin/simt/ptx.h"
#include "anygin/simt/ptx_decode.h"

namespace anygin::simt {
namespace {

// Runs `text` with one output and up to three inputs.
template <typename Result, typename... Inputs>
Result run(const char* text, Inputs... inputs) {
  Result out{};
  const PtxProgram* program = anygin_ptx_program(text);
  EXPECT_EQ(program->error, "") << text;
  if (program->error.empty()) ptx(program, ptx_operands(ptx_out("", out)), ptx_operands(ptx_in("", inputs)...));
  return out;
}

TEST(PtxRegisters, PredicatesChoose) {
  const char* text = "{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b32 %0, 7, 9, p; }";
  EXPECT_EQ(run<int>(text, -1, 1), 7);
  EXPECT_EQ(run<int>(text, 1, -1), 9);
  const char* unsigned_text = "{ .reg .pred %%p1, q; setp.lt.u32 %%p1|q, %1, %2; selp.b32 %0, 7, 9, q; }";
  EXPECT_EQ(run<int>(unsigned_text, -1, 1), 7);
  const char* guarded =
      "{ .reg .pred p; mov.u32 %0, 5; setp.ne.b32 p, %1, 0; @p mov.u32 %0, 6; @!p add.u32 %0, %0, 1; }";
  EXPECT_EQ(run<int>(guarded, 1), 6);
  EXPECT_EQ(run<int>(guarded, 0), 6);
  EXPECT_EQ(run<int>("{ .reg .pred p; setp.eq.f32 p, %1, %1; selp.b32 %0, 1, 0, p; }", NAN), 0);
}

TEST(PtxRegisters, JumpsLoop) {
  const char* text =
      "{\n .reg .b32 r<2>;\n .reg .pred p;\n mov.b32 r0, 0; mov.b32 r1, %1;\n"
      "AGAIN:\n setp.eq.u32 p, r1, 0;\n @p bra.uni DONE; /* sums up */\n add.u32 r0, r0, r1; sub.u32 r1, r1, 1;\n"
      " bra AGAIN;\nDONE: mov.b32 %0, r0;\n}";
  EXPECT_EQ(run<int>(text, 10), 55);
  EXPECT_EQ(run<int>(text, 0), 0);
}

TEST(PtxRegisters, IntegerArithmetic) {
  EXPECT_EQ(run<int>("add.s32 %0, %1, %2;", 5, -7), -2);
  EXPECT_EQ(run<uint64_t>("mul.wide.u32 %0, %1, %2;", ~0u, 2u), 0x1fffffffeu);
  EXPECT_EQ(run<int64_t>("mad.wide.s32 %0, %1, %2, %3;", -3, 4, int64_t{1} << 40), (int64_t{1} << 40) - 12);
  EXPECT_EQ(run<unsigned>("mul.hi.u32 %0, %1, %2;", 1u << 31, 6u), 3u);
  EXPECT_EQ(run<int64_t>("mul.hi.s64 %0, %1, %2;", int64_t{-1}, int64_t{1}), -1);
  EXPECT_EQ(run<int>("shr.s32 %0, %1, %2;", -8, 1), -4);
  EXPECT_EQ(run<unsigned>("shr.u32 %0, %1, %2;", 0x80000000u, 40), 0u);
  EXPECT_EQ(run<int>("rem.s32 %0, %1, %2;", -7, 4), -3);
  EXPECT_EQ(run<int>("min.s32 %0, %1, %2;", -7, 4), -7);
  EXPECT_EQ(run<unsigned>("min.u32 %0, %1, %2;", -7, 4), 4u);
  EXPECT_EQ(run<unsigned>("popc.b32 %0, %1;", 0xf0f0u), 8u);
  EXPECT_EQ(run<unsigned>("clz.b64 %0, %1;", uint64_t{1} << 32), 31u);
  EXPECT_EQ(run<unsigned>("brev.b32 %0, %1;", 1u), 0x80000000u);
  EXPECT_EQ(run<unsigned>("not.b32 %0, %1;", 0xffff0000u), 0xffffu);
}

TEST(PtxRegisters, FloatingPointArithmetic) {
  EXPECT_EQ(run<float>("fma.rn.f32 %0, %1, %2, %3;", 2.0f, 3.0f, 0.5f), 6.5f);
  EXPECT_EQ(run<float>("ex2.approx.ftz.f32 %0, %1;", 3.0f), 8.0f);
  EXPECT_EQ(run<float>("lg2.approx.f32 %0, %1;", 0.25f), -2.0f);
  EXPECT_EQ(run<float>("rcp.approx.ftz.f32 %0, %1;", 4.0f), 0.25f);
  EXPECT_EQ(run<float>("rsqrt.approx.f32 %0, %1;", 16.0f), 0.25f);
  EXPECT_EQ(run<double>("add.rn.f64 %0, %1, %2;", 0.1, 0.2), 0.1 + 0.2);
  EXPECT_EQ(run<float>("add.sat.f32 %0, %1, %2;", 0.75f, 0.75f), 1.0f);
  // 1.5 and -2 in one word, twice.
  EXPECT_EQ(run<unsigned>("add.rn.f16x2 %0, %1, %2;", 0xc0003e00u, 0xc0003e00u), 0xc4004200u);
  EXPECT_EQ(run<unsigned>("fma.rn.bf16x2 %0, %1, %2, %3;", 0x3fc04000u, 0x40004040u, 0x3f800000u), 0x408040c0u);
}

TEST(PtxRegisters, Conversions) {
  EXPECT_EQ(run<int>("cvt.rzi.s32.f32 %0, %1;", -2.75f), -2);
  EXPECT_EQ(run<int>("cvt.rni.s32.f32 %0, %1;", 2.5f), 2);
  EXPECT_EQ(run<unsigned>("cvt.rzi.u32.f32 %0, %1;", -1.0f), 0u);
  EXPECT_EQ(run<float>("cvt.rn.f32.u32 %0, %1;", 0xffffffffu), 4294967296.0f);
  EXPECT_EQ(run<uint64_t>("cvt.u64.u32 %0, %1;", 0xffffffffu), 0xffffffffu);
  EXPECT_EQ(run<int64_t>("cvt.s64.s32 %0, %1;", -5), -5);
  EXPECT_EQ(run<uint16_t>("cvt.rn.f16.f32 %0, %1;", 1.5f), 0x3e00);
  EXPECT_EQ(run<float>("cvt.f32.bf16 %0, %1;", uint16_t{0x3fc0}), 1.5f);
  EXPECT_EQ(run<uint64_t>("mov.b64 %0, {%1, %2};", 1u, 2u), uint64_t{2} << 32 | 1);
  unsigned low = 0, high = 0;
  ptx(anygin_ptx_program("mov.b64 {%0, %1}, %2;"), ptx_operands(ptx_out("=r", low), ptx_out("=r", high)),
      ptx_operands(ptx_in("l", uint64_t{3} << 32 | 4)));
  EXPECT_EQ(low, 4u);
  EXPECT_EQ(high, 3u);
}

// Three replicas behind one range of addresses.
class Multimem : public testing::Test {
 protected:
  void SetUp() override {
    base_ = reserve_multimem(sizeof(Words));
    ASSERT_NE(base_, nullptr);
    char* const replicas[] = {at(0), at(1), at(2)};
    map_multimem(base_, sizeof(Words), replicas);
  }
  void TearDown() override {
    unmap_multimem(base_);
    release_multimem(base_, sizeof(Words));
  }
  struct alignas(16) Words {
    uint32_t word[8];
  };
  char* at(int rank) { return reinterpret_cast<char*>(&replicas_[rank]); }
  void set(int index, float a, float b, float c) {
    replicas_[0].word[index] = std::bit_cast<uint32_t>(a);
    replicas_[1].word[index] = std::bit_cast<uint32_t>(b);
    replicas_[2].word[index] = std::bit_cast<uint32_t>(c);
  }
  Words replicas_[3] = {};
  char* base_ = nullptr;
};

TEST_F(Multimem, LoadsReduceOverTheReplicas) {
  set(0, 1, 2, 4);
  set(1, 0.5f, 0.25f, -1);
  EXPECT_EQ(run<float>("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];", base_), 7.0f);
  EXPECT_EQ(run<float>("multimem.ld_reduce.weak.global.add.f32 %0, [%1+4];", base_), -0.25f);
  for (uint32_t rank = 0; rank < 3; ++rank) replicas_[rank].word[2] = 10 * rank + 5;
  EXPECT_EQ(run<unsigned>("multimem.ld_reduce.acquire.sys.global.max.u32 %0, [%1+8];", base_), 25u);
  EXPECT_EQ(run<unsigned>("multimem.ld_reduce.global.min.u32 %0, [%1+8];", base_), 5u);
  EXPECT_EQ(run<unsigned>("multimem.ld_reduce.global.xor.b32 %0, [%1+8];", base_), 5u ^ 15u ^ 25u);
  // 1.5 and -2 in each replica: 4.5 and -6.
  for (Words& one : replicas_) one.word[3] = 0xc0003e00;
  EXPECT_EQ(run<unsigned>("multimem.ld_reduce.global.add.acc::f32.f16x2 %0, [%1+12];", base_), 0xc6004480u);
  float a = 0, b = 0, c = 0, d = 0;
  set(2, 1, 1, 1);
  set(3, 3, 3, 3);
  ptx(anygin_ptx_program("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0,%1,%2,%3}, [%4];"),
      ptx_operands(ptx_out("=f", a), ptx_out("=f", b), ptx_out("=f", c), ptx_out("=f", d)),
      ptx_operands(ptx_in("l", base_)));
  EXPECT_EQ(a, 7.0f);
  EXPECT_EQ(b, -0.25f);
  EXPECT_EQ(c, 3.0f);
  EXPECT_EQ(d, 9.0f);
}

TEST_F(Multimem, StoresAndReductionsReachEveryReplica) {
  ptx(anygin_ptx_program("multimem.st.relaxed.sys.global.v2.f32 [%0+8], {%1, %2};"), ptx_operands(),
      ptx_operands(ptx_in("l", base_), ptx_in("f", 1.5f), ptx_in("f", 2.5f)));
  ptx(anygin_ptx_program("multimem.red.release.sys.global.add.u32 [%0], %1;"), ptx_operands(),
      ptx_operands(ptx_in("l", base_), ptx_in("r", 3u)));
  ptx(anygin_ptx_program("multimem.red.relaxed.sys.global.add.u32 [%0], %1;"), ptx_operands(),
      ptx_operands(ptx_in("l", base_), ptx_in("r", 4u)));
  for (const Words& one : replicas_) {
    EXPECT_EQ(one.word[0], 7u);
    EXPECT_EQ(std::bit_cast<float>(one.word[2]), 1.5f);
    EXPECT_EQ(std::bit_cast<float>(one.word[3]), 2.5f);
  }
}

TEST_F(Multimem, RangesEnd) {
  MultimemReplicas found;
  anygin_find_multimem(base_ + 28, 4, &found);
  ASSERT_EQ(found.count, 3);
  EXPECT_EQ(found.at(1), at(1) + 28);
  anygin_find_multimem(base_ + 28, 8, &found);
  EXPECT_EQ(found.count, 0);
  anygin_find_multimem(base_ - 1, 1, &found);
  EXPECT_EQ(found.count, 0);
  anygin_find_multimem(at(0), 4, &found);
  EXPECT_EQ(found.count, 0);
}

}  // namespace
}  // namespace anygin::simt
