// SPDX-License-Identifier: Apache-2.0
#include "task_runner.h"

#include <poll.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <list>

#include "rank_process.h"

namespace anygin::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kOutputKept = 16 * 1024;
constexpr int kTimedOut = 124;

struct Running {
  size_t index;
  RankProcess process;
  Clock::time_point since;
  TaskEnd end;
  bool ended_by_us = false;
};

double seconds_since(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

void read(Running& task) {
  for (const bool error : {false, true}) {
    for (const OutputLine& line : task.process.read_output(error)) task.end.output += line.text + "\n";
  }
  if (task.end.output.size() > 2 * kOutputKept) task.end.output.erase(0, task.end.output.size() - kOutputKept);
}

// True if the task is over.
bool advance(Running& task, double limit_s) {
  read(task);
  int status = 0;
  if (task.process.pid() < 0) return true;
  if (waitpid(task.process.pid(), &status, WNOHANG) == task.process.pid()) {
    task.process.set_exit(status);
    task.process.signal_group(SIGKILL);  // what it left behind
    read(task);
    task.end.seconds = seconds_since(task.since);
    task.end.exit_code = task.ended_by_us ? kTimedOut : task.process.exit_code();
    return true;
  }
  if (!task.ended_by_us && seconds_since(task.since) > limit_s) {
    task.ended_by_us = true;
    task.process.signal_group(SIGKILL);
  }
  return false;
}

void wait_for_output(const std::list<Running>& running) {
  std::vector<pollfd> watched;
  for (const Running& task : running) {
    for (const int fd : {task.process.output_fd(), task.process.error_fd()}) {
      if (fd >= 0) watched.push_back({fd, POLLIN, 0});
    }
  }
  poll(watched.data(), watched.size(), 5);
}

}  // namespace

void run_tasks(const std::vector<Task>& tasks, int at_a_time, const std::function<void(size_t, const TaskEnd&)>& done) {
  std::list<Running> running;
  size_t next = 0;
  while (next < tasks.size() || !running.empty()) {
    while (next < tasks.size() && running.size() < static_cast<size_t>(at_a_time)) {
      running.push_back({next, RankProcess(0, tasks[next].command, tasks[next].environment), Clock::now(), {}});
      ++next;
    }
    wait_for_output(running);
    for (auto task = running.begin(); task != running.end();) {
      if (!advance(*task, tasks[task->index].limit_s)) {
        ++task;
        continue;
      }
      done(task->index, task->end);
      task = running.erase(task);
    }
  }
}

}  // namespace anygin::tools
