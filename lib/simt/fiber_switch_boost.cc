// SPDX-License-Identifier: Apache-2.0
// The switch between lanes for CPUs that have no hand-written one: Boost.Context's, under the names of fiber.h. A
// suspended fiber's registers lie on its own stack; `sp` is where. Slower than the other: its jump also saves the
// floating-point control words and returns through the stack.
#include <boost/context/detail/fcontext.hpp>

#include "anygin/simt/fiber.h"

// These frames are left by a jump: AddressSanitizer would keep their poison where later frames lie.
#define ANYGIN_LEFT_BY_JUMP __attribute__((no_sanitize_address))

namespace anygin::simt {

namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Boost wants a size where stacks have guards of its making; ours are the pool's.
constexpr size_t kStackBytes = 64 * 1024;
// More than make_fcontext() writes at a stack's top, on any CPU.
constexpr size_t kRoomBytes = 1024;

// What a fiber jumps with. Lives on the stack that is left.
struct Departure {
  FiberContext* save;  // null: nobody comes back
  FiberEntry entry;    // for a fresh stack
  void* argument;
};

// Called first thing on arrival: only now is known where the one that left stands.
ANYGIN_LEFT_BY_JUMP void* note_departure(transfer_t from) {
  const auto& departure = *static_cast<const Departure*>(from.data);
  if (departure.save) departure.save->sp = static_cast<char*>(from.fctx);
  return from.data;
}

// The first frame of a stack. Its room keeps what is below intact when restart makes the stack's top new while it is
// still on it.
ANYGIN_LEFT_BY_JUMP void arrive_fresh(transfer_t from) {
  char room[kRoomBytes];
  asm volatile("" : : "r"(room) : "memory");
  const Departure departure = *static_cast<const Departure*>(note_departure(from));
  departure.entry(departure.argument);
  __builtin_unreachable();
}

ANYGIN_LEFT_BY_JUMP void run_call(transfer_t from) {
  const auto& departure = *static_cast<const Departure*>(from.data);
  departure.entry(departure.argument);
  jump_fcontext(from.fctx, nullptr);
  __builtin_unreachable();
}

[[noreturn]] ANYGIN_LEFT_BY_JUMP void leave_for(fcontext_t to, const Departure& departure) {
  jump_fcontext(to, const_cast<Departure*>(&departure));
  __builtin_unreachable();
}

}  // namespace

extern "C" {
extern const char anygin_fiber_switch_name[] = "boost";

// For reports: where the lane stands, as the hand-written switch has it.
ANYGIN_LEFT_BY_JUMP void anygin_fiber_switch(FiberContext* save, const FiberContext* to) {
  save->pc = __builtin_return_address(0);
  Departure departure{save, nullptr, nullptr};
  note_departure(jump_fcontext(to->sp, &departure));
}

ANYGIN_LEFT_BY_JUMP void anygin_fiber_resume(const FiberContext* to) {
  leave_for(to->sp, {});
}

ANYGIN_LEFT_BY_JUMP void anygin_fiber_start(FiberContext* save, void* top, FiberEntry entry, void* argument) {
  save->pc = __builtin_return_address(0);
  Departure departure{save, entry, argument};
  note_departure(jump_fcontext(make_fcontext(top, kStackBytes, &arrive_fresh), &departure));
}

ANYGIN_LEFT_BY_JUMP void anygin_fiber_restart(void* top, FiberEntry entry, void* argument) {
  leave_for(make_fcontext(top, kStackBytes, &arrive_fresh), {nullptr, entry, argument});
}

ANYGIN_LEFT_BY_JUMP void anygin_call_on_stack(void* top, FiberEntry call, void* argument) {
  Departure departure{nullptr, call, argument};
  jump_fcontext(make_fcontext(top, kStackBytes, &run_call), &departure);
}
}

}  // namespace anygin::simt
