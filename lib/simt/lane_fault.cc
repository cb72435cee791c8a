// SPDX-License-Identifier: Apache-2.0
// Runs in a signal handler: nothing here allocates, and of locks only those of kernel names and of the dynamic linker
// are taken, which no lane holds while it runs code of its own.
#include "anygin/simt/lane_fault.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <mutex>

#include "anygin/simt/lane_runner.h"

namespace anygin::simt {

namespace {

constexpr size_t kSignalStackBytes = 128 * 1024;  // handlers behind ours may be a sanitizer's

// What a lane's own code can raise.
struct WatchedSignal {
  int number;
  struct sigaction before;  // written once, before the handler is in place
};
WatchedSignal watched[] = {{SIGSEGV, {}}, {SIGFPE, {}}};

WatchedSignal& watched_signal(int number) {
  return watched[number == SIGSEGV ? 0 : 1];
}

const char* stack_pointer(const void* context) {
#if defined(__x86_64__)
  return reinterpret_cast<const char*>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const char*>(static_cast<const ucontext_t*>(context)->uc_mcontext.sp);
#else
  (void)context;
  return nullptr;
#endif
}

// As Grid::name(), but without memory of its own: a symbol stays mangled.
const char* kernel_name(const Grid& grid) {
  if (const KernelRecord* record = anygin_find_kernel(grid.kernel.function)) return record->name;
  Dl_info info{};
  if (grid.kernel.function && dladdr(grid.kernel.function, &info) != 0 && info.dli_sname) return info.dli_sname;
  return "kernel";
}

class Line {
 public:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    const auto room = sizeof text_ - used_;
    used_ += std::min(room, fmt::format_to_n(text_ + used_, room, format, std::forward<Args>(args)...).size);
  }
  void write() const {
    if (::write(STDERR_FILENO, text_, used_) < 0) return;
  }

 private:
  char text_[1024];
  size_t used_ = 0;
};

void report(const LaneRunner& runner, int signal, const void* address, const char* sp) {
  const Block& block = runner.block();
  const StackPool& stacks = runner.stacks_of_block();
  const Index3 thread = block.grid->thread_of(block.current);
  const size_t bytes = stacks.bytes();
  Line line;
  line.add("anygin ERROR: kernel {} (grid {}): block ({},{},{}) thread ({},{},{}): ", kernel_name(*block.grid),
           block.grid->id, block.index.x, block.index.y, block.index.z, thread.x, thread.y, thread.z);
  if (signal == SIGFPE) {
    line.add(
        "integer division by zero, or of the least number by -1 (SIGFPE); on a GPU the quotient would be undefined");
  } else if (stacks.in_guard(address)) {
    line.add("its stack of {} KiB overflowed (SIGSEGV at {}, in the guard below a stack); {}", bytes / 1024, address,
             StackRemedy(bytes).text);
  } else {
    line.add("SIGSEGV at {}", address);
    if (stacks.contains(sp)) {
      const auto left =
          static_cast<size_t>(std::clamp<ptrdiff_t>(sp - stacks.low_of(sp), 0, static_cast<ptrdiff_t>(bytes)));
      line.add("; its stack of {} KiB has {} bytes left", bytes / 1024, left);
    }
  }
  line.add("\n");
  line.write();
}

bool is_function(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// Calls the handler that was there before, the way the kernel would have.
void call_before(int signal, siginfo_t* info, void* context) {
  struct sigaction& kept = watched_signal(signal).before;
  const struct sigaction before = kept;
  if ((before.sa_flags & SA_RESETHAND) != 0) {
    kept.sa_flags = 0;
    kept.sa_handler = SIG_DFL;
  }
  pthread_sigmask(SIG_BLOCK, &before.sa_mask, nullptr);  // until the handler returns
  if ((before.sa_flags & SA_NODEFER) != 0) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signal);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  }
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  before.sa_handler(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const bool sent = info->si_code <= 0;  // by kill() and the like: no lane's doing
  const struct sigaction& before = watched_signal(signal).before;
  // A handler of the program may mend faults: then they are none of our business, unless a stack ended.
  if (current_runner && !sent && (!is_function(before) || current_runner->stacks_of_block().in_guard(info->si_addr))) {
    report(*current_runner, signal, info->si_addr, stack_pointer(context));
  }
  if (is_function(before)) {
    call_before(signal, info, context);
  } else if (!sent || before.sa_handler == SIG_DFL) {
    sigaction(signal, &before, nullptr);  // the instruction faults again, now with its usual end
    if (sent) raise(signal);
  }
  errno = error;
}

// A thread's alternate stack, unless it has one.
class SignalStack {
 public:
  SignalStack() {
    stack_t present{};
    if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
    void* memory = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t own{};
    own.ss_sp = memory;
    own.ss_size = kSignalStackBytes;
    if (sigaltstack(&own, nullptr) == 0) memory_ = memory;
  }
  ~SignalStack() {
    if (!memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(memory_, kSignalStackBytes);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace

__thread bool has_signal_stack __attribute__((tls_model("initial-exec"))) = false;

void make_signal_stack() {
  thread_local const SignalStack stack;
  (void)stack;
  has_signal_stack = true;
}

void watch_lane_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (WatchedSignal& signal : watched) {
      sigaction(signal.number, nullptr, &signal.before);
      struct sigaction ours {};
      ours.sa_sigaction = &on_fault;
      ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&ours.sa_mask);
      sigaction(signal.number, &ours, nullptr);
    }
  });
}

}  // namespace anygin::simt
