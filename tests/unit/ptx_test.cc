// SPDX-License-Identifier: Apache-2.0
// Inline PTX: what is decoded, what it does, and what is refused. Host threads may run what needs no lane.
#include "anygin/simt/ptx.h"

#include <gtest/gtest.h>

#include "anygin/simt/ptx_decode.h"

namespace anygin::simt {
namespace {

template <size_t kOutputs, size_t kInputs>
void run(const char* text, PtxOperands<kOutputs> outputs, PtxOperands<kInputs> inputs) {
  const PtxProgram* program = anygin_ptx_program(text);
  ASSERT_EQ(program->error, "");
  ptx(program, outputs, inputs);
}

TEST(Ptx, moves) {
  uint64_t wide = 0;
  uint32_t narrow = 0;
  run("mov.u64 %0, %1;", ptx_operands(ptx_out("=l", wide)), ptx_operands(ptx_in("l", uint64_t{1} << 40)));
  EXPECT_EQ(wide, uint64_t{1} << 40);
  run("mov.u32 %0, 0x1F;", ptx_operands(ptx_out("=r", narrow)), ptx_operands());
  EXPECT_EQ(narrow, 31u);
  run("mov.b32 %0, %1; mov.b32 %1, -2;", ptx_operands(ptx_out("=r", narrow), ptx_inout("+l", wide)), ptx_operands());
  EXPECT_EQ(narrow, 0u);  // %1's value before: the low half of 1 << 40
}

TEST(Ptx, reads_clocks) {
  uint64_t first = 0, second = 0;
  run("mov.u64 %0, %%globaltimer;", ptx_operands(ptx_out("=l", first)), ptx_operands());
  run("mov.u64 %0, %globaltimer;", ptx_operands(ptx_out("=l", second)), ptx_operands());
  EXPECT_GT(first, 0u);
  EXPECT_GE(second, first);
}

TEST(Ptx, loads_every_width) {
  struct {
    uint64_t u64 = 0xF123456789ABCDEF;
    uint32_t u32 = 0x89ABCDEF;
    uint16_t u16 = 0xFFFE;
    uint8_t u8 = 0x80;
  } memory;
  uint64_t wide = 0;
  uint32_t narrow = 0;
  int32_t integer = 0;
  run("ld.acquire.sys.global.u64 %0, [%1];", ptx_operands(ptx_out("=l", wide)), ptx_operands(ptx_in("l", &memory.u64)));
  EXPECT_EQ(wide, memory.u64);
  run("ld.volatile.global.u32 %0, [%1+8];", ptx_operands(ptx_out("=r", narrow)),
      ptx_operands(ptx_in("l", &memory.u64)));
  EXPECT_EQ(narrow, 0x89ABCDEFu);
  run("ld.relaxed.gpu.s16 %0, [%1];", ptx_operands(ptx_out("=r", integer)), ptx_operands(ptx_in("l", &memory.u16)));
  EXPECT_EQ(integer, -2);
  run("ld.global.nc.L1::no_allocate.L2::256B.u8 %0, [%1];", ptx_operands(ptx_out("=r", narrow)),
      ptx_operands(ptx_in("l", &memory.u8)));
  EXPECT_EQ(narrow, 0x80u);
}

TEST(Ptx, stores_every_width) {
  uint64_t wide = 0;
  uint32_t narrow = 0;
  uint8_t byte[3] = {1, 2, 3};
  run("st.release.sys.global.u64 [%0], %1;", ptx_operands(),
      ptx_operands(ptx_in("l", &wide), ptx_in("l", ~uint64_t{0})));
  EXPECT_EQ(wide, ~uint64_t{0});
  run("st.relaxed.sys.b32 [%0], %1;", ptx_operands(), ptx_operands(ptx_in("l", &narrow), ptx_in("r", -5)));
  EXPECT_EQ(narrow, 0xFFFFFFFBu);
  run("st.volatile.u8 [%0+1], %1;", ptx_operands(), ptx_operands(ptx_in("l", byte), ptx_in("r", 0x1FF)));
  EXPECT_EQ(byte[0], 1);
  EXPECT_EQ(byte[1], 0xFF);
  EXPECT_EQ(byte[2], 3);
}

TEST(Ptx, moves_vectors) {
  const float from[4] = {1.5f, 2.5f, 3.5f, 4.5f};
  float to[4] = {}, a = 0, b = 0, c = 0, d = 0;
  run("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];",
      ptx_operands(ptx_out("=f", a), ptx_out("=f", b), ptx_out("=f", c), ptx_out("=f", d)),
      ptx_operands(ptx_in("l", from)));
  run("st.global.v2.f32 [%0], {%1, %2};", ptx_operands(),
      ptx_operands(ptx_in("l", to + 1), ptx_in("f", c), ptx_in("f", d)));
  EXPECT_EQ(a, 1.5f);
  EXPECT_EQ(b, 2.5f);
  EXPECT_EQ(to[0], 0.0f);
  EXPECT_EQ(to[1], 3.5f);
  EXPECT_EQ(to[2], 4.5f);
  EXPECT_EQ(to[3], 0.0f);
}

TEST(Ptx, atomics_return_what_was_there) {
  uint64_t word = 5, old = 0;
  const auto on = [&](const char* text, uint64_t operand) {
    run(text, ptx_operands(ptx_out("=l", old)), ptx_operands(ptx_in("l", &word), ptx_in("l", operand)));
  };
  on("atom.add.release.gpu.global.u64 %0, [%1], %2;", 3);
  EXPECT_EQ(old, 5u);
  EXPECT_EQ(word, 8u);
  on("atom.exch.b64 %0, [%1], %2;", 100);
  EXPECT_EQ(old, 8u);
  on("atom.min.s64 %0, [%1], %2;", static_cast<uint64_t>(-7));
  EXPECT_EQ(word, static_cast<uint64_t>(-7));
  on("atom.max.u64 %0, [%1], %2;", 9);
  EXPECT_EQ(word, static_cast<uint64_t>(-7));
  on("atom.and.b64 %0, [%1], %2;", 0xF0);
  EXPECT_EQ(word, 0xF0u);
  run("red.release.sys.global.add.u64 [%0], %1;", ptx_operands(), ptx_operands(ptx_in("l", &word), ptx_in("l", 1)));
  EXPECT_EQ(word, 0xF1u);
}

TEST(Ptx, compare_and_swap) {
  uint32_t word = 5, old = 0;
  const auto swap = [&](uint32_t expected, uint32_t next) {
    run("atom.acq_rel.sys.cas.b32 %0, [%1], %2, %3;", ptx_operands(ptx_out("=r", old)),
        ptx_operands(ptx_in("l", &word), ptx_in("r", expected), ptx_in("r", next)));
  };
  swap(4, 9);
  EXPECT_EQ(old, 5u);
  EXPECT_EQ(word, 5u);
  swap(5, 9);
  EXPECT_EQ(old, 5u);
  EXPECT_EQ(word, 9u);
}

TEST(Ptx, adds_floats) {
  float word = 1.5f, old = 0;
  run("atom.global.add.f32 %0, [%1], %2;", ptx_operands(ptx_out("=f", old)),
      ptx_operands(ptx_in("l", &word), ptx_in("f", 2.0f)));
  EXPECT_EQ(old, 1.5f);
  EXPECT_EQ(word, 3.5f);
}

TEST(PtxDecode, knows_what_programs_use) {
  for (const char* text :
       {"membar.cta;",
        "membar.gl;",
        "membar.sys;",
        "fence.acq_rel.sys;",
        "fence.sc.gpu;",
        "fence.proxy.async;",
        "nanosleep.u32 %0;",
        "nanosleep.u32 100;",
        "mov.u32 %0, %laneid;",
        "mov.u32 %0, %%warpid;",
        "mov.u32 %0, %smid;",
        "mov.u32 %0, %lanemask_lt;",
        "mov.u32 %0, %tid.x;",
        "mov.u32 %0, %nctaid.z;",
        "bar.sync 0;",
        "bar.sync %0, %1;",
        "barrier.sync.aligned 1, 64;",
        "bar.warp.sync 0xffffffff;",
        "exit;",
        "trap;",
        "activemask.b32 %0;",
        "ld.relaxed.sys.global.u32 %0, [%1];",
        "cvta.to.global.u64 %0, %1;",
        "red.async.global.add.u32 [%0], 1;",
        "// note\nmembar.sys; // more\n",
        "bar.arrive 1, 64;",
        "barrier.cta.arrive.aligned %0, %1;",
        "shfl.sync.bfly.b32 %0, %1, %2, 0x1f, -1;",
        "vote.sync.ballot.b32 %0, %1, -1;",
        "match.all.sync.b64 %0, %1, -1;",
        "redux.sync.xor.b32 %0, %1, -1;",
        "mbarrier.init.shared::cta.b64 [%0], 1;",
        "mbarrier.inval.shared.b64 [%0];",
        "mbarrier.arrive.shared.b64 %0, [%1];",
        "mbarrier.arrive.expect_tx.release.cta.shared::cluster.b64 _, [%0], %1;",
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %0, [%1], %2, 1000;",
        "mbarrier.test_wait.shared.b64 %0, [%1], %2;",
        "cp.async.ca.shared.global [%0], [%1], 4;",
        "cp.async.bulk.wait_group.read 0;",
        "cp.async.mbarrier.arrive.noinc.shared.b64 [%0];",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], 16, [%2], %3;",
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;",
        "ld.b128 %0, [%1];"}) {
    const PtxProgram program = decode_ptx(text);
    if (std::string(text).find("async.global") != std::string::npos) {
      EXPECT_NE(program.error, "") << text;
    } else {
      EXPECT_EQ(program.error, "") << text;
      EXPECT_EQ(program.instructions.size(), 1u) << text;
    }
  }
}

TEST(PtxDecode, refuses_what_it_does_not_know) {
  EXPECT_NE(decode_ptx("tcgen05.ld.f32 [%0], %1;").error.find("`tcgen05.ld.f32` is not known"), std::string::npos);
  for (const char* text :
       {"ld.release.u32 %0, [%1];", "shfl.up.b32 %0, %1, 1, 0, -1;", "shfl.sync.any.b32 %0, %1, 1, 0, -1;",
        "vote.sync.idx.pred %0, %1, -1;", "vote.any.pred %0, %1;", "match.ballot.sync.b32 %0, %1, -1;",
        "redux.sync.exch.b32 %0, %1, -1;", "bar.arrive 1;", "barrier.cta.red.popc.u32 %0, 1, %1;",
        "mbarrier.init.shared.b64 %0, 1;", "mbarrier.arrive_drop.shared.b64 _, [%0];",
        "mbarrier.try_wait.parity.shared.b64 %0, [%1];", "cp.async.ca.shared.global [%0], %1, 4;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1], [%2];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16;"}) {
    EXPECT_NE(decode_ptx(text).error, "") << text;
  }
  EXPECT_NE(decode_ptx("st.acquire.u32 [%0], %1;").error, "");
  EXPECT_EQ(decode_ptx("ld.u32 %0, %1;").error, "`ld.u32 %0, %1`: the operands do not fit the instruction");
  EXPECT_EQ(decode_ptx("st.u32 %1, [%0];").error, "`st.u32 %1, [%0]`: the operands do not fit the instruction");
  EXPECT_EQ(decode_ptx("mov.u32 %0;").error, "`mov.u32 %0`: the operands do not fit the instruction");
  EXPECT_EQ(decode_ptx("mov.u32 %0, %nothing;").error, "PTX operand `%nothing` is not known");
  EXPECT_EQ(decode_ptx("@p bra done;").error, "PTX predicate `p` is not declared");
  EXPECT_EQ(decode_ptx("bra done;").error, "PTX label `done` is not there");
  EXPECT_EQ(decode_ptx(".shared .b32 x;").error, "`.shared .b32 x`: this directive of PTX is not supported");
  EXPECT_EQ(decode_ptx(".reg .b32 r<99>;").error, "`.reg .b32 r<99>`: at most 64 registers");
  EXPECT_EQ(decode_ptx("setp.eq.b32 %0, %1;").error, "`setp.eq.b32 %0, %1`: the operands do not fit the instruction");
  EXPECT_NE(decode_ptx("multimem.ld_reduce.exch.u32 %0, [%1];").error, "");
  EXPECT_NE(decode_ptx("atom.add.u16 %0, [%1], %2;").error, "");
}

}  // namespace
}  // namespace anygin::simt
