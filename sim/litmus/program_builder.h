// SPDX-License-Identifier: Apache-2.0
// Makes a litmus program statement by statement: gives cells and flows their numbers, turns calls into operations and
// barriers into the signals and waits that our device API makes of them.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "anygin/sim/litmus/litmus_program.h"

namespace anygin::litmus {

// A limit or rule that a statement breaks, with what would be right. The parser adds file and line.
class BuildError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Granules of a named buffer.
struct Range {
  uint8_t first = 0;  // cell
  uint8_t count = 0;
};

// What a put or signal does besides moving bytes.
struct Actions {
  std::optional<uint32_t> signal;  // id
  bool strong = false;
  uint64_t add = 1;
  std::optional<uint32_t> counter;  // id
  uint32_t context = 0;
};

struct Barrier {
  bool put = false, get = false;
  bool all_contexts = false;
  uint32_t context = 0;
  uint32_t index = 0;
};

class ProgramBuilder {
 public:
  Program program;

  void add_memory(Rank rank, const std::string& name, const std::vector<uint64_t>& values);
  // What stands between brackets; absent: the whole buffer.
  struct Slice {
    uint32_t first = 0, count = 1;
  };
  Range range(Rank rank, const std::string& name, std::optional<Slice> slice) const;
  uint8_t signal_cell(Rank rank, uint32_t context, uint32_t id);
  uint8_t counter_cell(Rank rank, uint32_t context, uint32_t id);
  uint8_t new_register(const std::string& name);
  uint8_t find_register(const std::string& name) const;

  // Statements of the thread that was begun last; `text` is theirs in the file.
  void begin_thread(Rank rank);
  Rank rank() const { return thread().rank; }
  void put(Rank peer, Range to, Range from, const Actions& actions, const std::string& text);
  void put_value(Rank peer, Range to, uint64_t value, const Actions& actions, const std::string& text);
  void put_nothing(Rank peer, const Actions& actions, const std::string& text);
  void get(Range to, Rank peer, Range from, uint32_t context, const std::string& text);
  void flush(std::optional<Rank> peer, uint32_t context, const std::string& text);
  // A flush request, and the wait for it.
  void ask(const std::string& request, Rank peer, uint32_t context, const std::string& text);
  void await(const std::string& request, const std::string& text);
  void barrier(const Barrier& barrier, const std::string& text);
  void sync(const std::string& text);
  void append(Micro micro);  // the others

  // What can only be known of the whole program.
  void finish();

 private:
  struct Asked {
    uint64_t number;  // from 1
    uint32_t works;
    Rank peer;
    uint32_t context;
  };

  const Thread& thread() const;
  uint8_t add_cell(Cell cell);
  uint8_t flow(Rank peer, uint32_t context);
  int add_work(const Work& work);
  void post(Post post, const std::string& text);
  void signal_peer(Rank peer, uint32_t context, uint32_t id, bool strong, const std::string& text);
  uint32_t posted_by_thread(size_t thread, size_t micros, Rank peer, uint32_t context) const;
  void add_flush(std::optional<Rank> peer, uint32_t context, uint32_t works, const std::string& text);
  void widen_flush(size_t thread, size_t at);
  bool changes(uint8_t first, uint8_t count) const;

  std::map<std::tuple<Rank, std::string>, Range> memory_;
  std::map<std::tuple<Rank, CellKind, uint32_t, uint32_t>, uint8_t> cells_;
  std::map<std::string, Asked> asked_;
  std::map<std::tuple<Rank, uint32_t, uint32_t>, uint32_t> epochs_;  // of (rank, context, barrier)
  uint32_t granules_[kRanksMax] = {};
};

}  // namespace anygin::litmus
