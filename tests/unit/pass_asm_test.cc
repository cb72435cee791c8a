// SPDX-License-Identifier: Apache-2.0
#include "unit/rewriter_fixture.h"

namespace anygin::rewriter {
namespace {

const std::string kOpen =
    "::anygin::simt::ptx([] { static const ::anygin::simt::PtxProgram* const anygin_program = "
    "::anygin::simt::anygin_ptx_program(";
const std::string kSpaced = "::anygin::simt::ptx (" + kOpen.substr(kOpen.find("[] {"));
const std::string kOutputs = "); return anygin_program; }(), ::anygin::simt::ptx_operands(";
const std::string kInputs = "), ::anygin::simt::ptx_operands(";

std::string device(const std::string& body) {
  return rewritten("__device__ void f() { " + body + " }");
}
std::string made(const std::string& body) {
  return " void f() { " + body + " }";
}

TEST(Asm, becomes_a_call) {
  EXPECT_EQ(device("asm(\"membar.sys;\");"), made(kOpen + "\"membar.sys;\"" + kOutputs + kInputs + "));"));
  EXPECT_EQ(device("asm(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t));"),
            made(kOpen + "\"mov.u64 %0, %%globaltimer;\" " + kOutputs + " ::anygin::simt::ptx_out(\"=l\", (t))" +
                 kInputs + "));"));
  EXPECT_EQ(device("asm (\"st.release.sys.global.u32 [%0], %1;\" :: \"l\"(p), \"r\"(f(a, b)) : \"memory\");"),
            made(kSpaced + "\"st.release.sys.global.u32 [%0], %1;\" " + kOutputs + kInputs +
                 " ::anygin::simt::ptx_in(\"l\", (p)), ::anygin::simt::ptx_in(\"r\", (f(a, b))) ) );"));
  EXPECT_EQ(device("__asm__ (\"ld.acquire.gpu.u64 %0,\" \" [%1];\" : \"=l\"(x) : \"l\"(p));"),
            made(kSpaced + "\"ld.acquire.gpu.u64 %0,\" \" [%1];\" " + kOutputs +
                 " ::anygin::simt::ptx_out(\"=l\", (x)) " + kInputs + " ::anygin::simt::ptx_in(\"l\", (p))));"));
}

TEST(Asm, needs_no_volatile) {
  EXPECT_EQ(device("asm volatile(\"exit;\");"), device("asm (\"exit;\");"));
  EXPECT_EQ(device("__asm__ __volatile__(\"exit;\");"), device("__asm__ (\"exit;\");"));
}

TEST(Asm, operands_may_be_read_and_written) {
  EXPECT_EQ(
      device("asm(\"mov.b32 %0, %0;\" : \"+r\"(x));"),
      made(kOpen + "\"mov.b32 %0, %0;\" " + kOutputs + " ::anygin::simt::ptx_inout(\"+r\", (x))" + kInputs + "));"));
}

TEST(Asm, of_the_host_stays) {
  EXPECT_EQ(rewritten("void f() { asm volatile(\"pause\"); }"), "void f() { asm volatile(\"pause\"); }");
  EXPECT_EQ(device("asm volatile(\"\" ::: \"memory\");"), made("asm volatile(\"\" ::: \"memory\");"));
}

TEST(Asm, of_a_device_lambda_is_ptx) {
  EXPECT_EQ(rewritten("void h() { auto f = [] __device__ () { asm(\"exit;\"); }; }"),
            "void h() { auto f = []  () { " + kOpen + "\"exit;\"" + kOutputs + kInputs + ")); }; }");
}

TEST(Asm, that_is_not_known_is_named) {
  const auto error = [](const std::string& statement) {
    return only_error("\n__device__ void f() {\n" + statement + "\n}");
  };
  EXPECT_EQ(
      error("asm(\"wgmma.fence.sync.aligned;\");").find("3: PTX instruction `wgmma.fence.sync.aligned` is not known"),
      0u);
  EXPECT_EQ(error("asm(\"mov.u32 %0, %1;\" : \"=r\"(a));"), "3: this asm names operand %1 but is given 1");
  EXPECT_EQ(error("asm(\"mov.u32 %0, 1;\" : [x] \"=r\"(a));"),
            "3: `[`: operands of asm are written \"constraint\"(expression)");
  EXPECT_EQ(error("asm goto(\"bra\" : : : : label);"), "3: asm goto has no meaning in device code");
}

}  // namespace
}  // namespace anygin::rewriter
