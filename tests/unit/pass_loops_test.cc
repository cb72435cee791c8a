// SPDX-License-Identifier: Apache-2.0
#include "unit/rewriter_fixture.h"

namespace anygin::rewriter {
namespace {

const std::string kTick = " ::anygin::simt::tick();";
const std::string kElse = " if (::anygin::simt::tick()) {} else ";

std::string all(const std::string& source) {
  return rewritten(source, Ticks::kAll);
}
bool ticks_alone(const std::string& source) {
  return rewritten(source, Ticks::kAuto).find("tick()") != std::string::npos;
}

TEST(Loops, tick_at_the_start_of_their_body) {
  EXPECT_EQ(all("while (x) { y(); }"), "while (x) {" + kTick + " y(); }");
  EXPECT_EQ(all("for (int i = 0; i < n; ++i) f(i);"), "for (int i = 0; i < n; ++i)" + kElse + " f(i);");
  EXPECT_EQ(all("for (auto x : y) { f(x); }"), "for (auto x : y) {" + kTick + " f(x); }");
  EXPECT_EQ(all("while (*p != x);"), "while (*p != x){ ::anygin::simt::tick(); }");
  EXPECT_EQ(all("while (x) while (y) f();"), "while (x)" + kElse + " while (y)" + kElse + " f();");
}

TEST(Loops, know_the_end_of_do) {
  EXPECT_EQ(all("do { f(); } while (x);"), "do {" + kTick + " f(); } while (x);");
  EXPECT_EQ(all("do f(); while (x);"), "do" + kElse + " f(); while (x);");
  EXPECT_EQ(all("do while (a) f(); while (b);"), "do" + kElse + " while (a)" + kElse + " f(); while (b);");
  EXPECT_EQ(all("do do f(); while (a); while (b);"), "do" + kElse + " do" + kElse + " f(); while (a); while (b);");
  EXPECT_EQ(all("do if (a) f(); else g(); while (b); while (c) h();"),
            "do" + kElse + " if (a) f(); else g(); while (b); while (c)" + kElse + " h();");
  EXPECT_EQ(all("do { } while (x); while (y);"), "do {" + kTick + " } while (x); while (y){ ::anygin::simt::tick(); }");
  EXPECT_EQ(all("do switch (x) { case 1: f(); } while (y);"), "do" + kElse + " switch (x) { case 1: f(); } while (y);");
}

TEST(Loops, take_no_else_from_others) {
  // Every inserted `if` brings its `else`: the next one belongs to whom it belonged before.
  EXPECT_EQ(all("if (a) while (b) f(); else g();"), "if (a) while (b)" + kElse + " f(); else g();");
  EXPECT_EQ(all("if (a) while (b) if (c) f(); else g();"), "if (a) while (b)" + kElse + " if (c) f(); else g();");
}

TEST(Loops, that_may_spin_tick_by_themselves) {
  EXPECT_TRUE(ticks_alone("while (*(volatile int*)p != x) n++;"));
  EXPECT_TRUE(ticks_alone("while (__atomic_load_n(p, 2) == 0) n++;"));
  EXPECT_TRUE(ticks_alone("__device__ void f() { std::atomic<int> r; while (r.load(acquire) != x) n++; }"));
  EXPECT_TRUE(ticks_alone(
      "__global__ void f(std::atomic_ref<int>* p) { std::atomic<int>* q = p; while (q->exchange(1) != x) n++; }"));
  EXPECT_TRUE(ticks_alone("__device__ void f() { while (std::atomic_load(&r) != x) n++; }"));
  EXPECT_TRUE(ticks_alone("for (n = 0; n < 5;) { asm volatile(\"\" ::: \"memory\"); }"));
  EXPECT_TRUE(ticks_alone("while (n) {}"));
  EXPECT_TRUE(ticks_alone("while (n);"));
  EXPECT_TRUE(ticks_alone("while (true) { if (f()) break; }"));
  EXPECT_TRUE(ticks_alone("for (;;) { if (f()) break; }"));
  EXPECT_TRUE(ticks_alone("volatile int* flag; void f() { while (*flag == 0) n++; }"));
  EXPECT_TRUE(ticks_alone("void f(volatile int* flag) { while (*flag == 0) n++; }"));
  EXPECT_TRUE(
      ticks_alone("__device__ int get(int* p) { return *(volatile int*)p; } "
                  "__device__ int twice(int* p) { return get(p); } void f() { while (twice(p) == 0) n++; }"));
  EXPECT_TRUE(
      ticks_alone("__device__ int get(int* p) { int v; asm volatile(\"ld.acquire.sys.global.u32 %0, [%1];\" : "
                  "\"=r\"(v) : \"l\"(p)); return v; } void f() { while (get(p) == 0) n++; }"));
}

// They are yield points themselves: a second tick would only cost.
TEST(Loops, whose_operations_let_others_run_have_no_tick_of_their_own) {
  for (const char* condition : {"r.load(acquire) != x", "p->load() != x", "atomicAdd(p, 0) == 0", "__ldcv(p) == 0",
                                "atomicCAS(p, 0, 1) != 0", "cuda::atomic_ref<int>(*p).load() == 0", "clock64() < t"}) {
    EXPECT_FALSE(ticks_alone(std::string("while (") + condition + ") n++;")) << condition;
  }
  EXPECT_FALSE(ticks_alone("__device__ void f() { cuda::std::atomic<int> r; while (r.load() != x) n++; }"));
  EXPECT_FALSE(ticks_alone("void host() { std::atomic<int> a; } __device__ void f() { while (r.load() != x) n++; }"));
}

TEST(Loops, that_jump_backwards_tick_at_their_label) {
  EXPECT_EQ(rewritten("void f() { again: if (*(volatile int*)p == 0) goto again; }", Ticks::kAuto),
            "void f() { again: ::anygin::simt::tick(); if (*(volatile int*)p == 0) goto again; }");
  EXPECT_EQ(all("void f() { n++; a: b: n++; if (n < 5) goto a; if (n < 9) goto b; goto a; }"),
            "void f() { n++; a: ::anygin::simt::tick(); b: ::anygin::simt::tick(); n++; if (n < 5) goto a; if (n < 9) "
            "goto b; "
            "goto a; }");
  EXPECT_FALSE(ticks_alone("void f() { again: if (n++ < 5) goto again; }"));
  EXPECT_FALSE(ticks_alone("void f() { volatile int v; if (v == n) goto out; n++; out: n--; }"));
  EXPECT_FALSE(ticks_alone("void g() { out: v(); } void f() { volatile int v; if (v == n) goto out; out: n--; }"));
}

TEST(Loops, that_count_do_not) {
  EXPECT_FALSE(ticks_alone("for (int i = 0; i < n; ++i) { s += a[i]; }"));
  EXPECT_FALSE(ticks_alone("while (i < n) s += a[i++];"));
  EXPECT_FALSE(ticks_alone("volatile int flag; void f() { for (int i = 0; i < n; ++i) s += i; }"));
  EXPECT_FALSE(ticks_alone("do { load(x); } while (--n);"));
}

TEST(Loops, can_be_left_alone) {
  EXPECT_EQ(rewritten("while (x);", Ticks::kNone), "while (x);");
}

}  // namespace
}  // namespace anygin::rewriter
