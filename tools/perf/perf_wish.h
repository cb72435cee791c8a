// SPDX-License-Identifier: Apache-2.0
// What is to be measured, as the command line says it. What cannot be understood ends the process with exit code 2.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../../examples/launcher.h"

namespace perf {

struct Wish {
  std::string test;
  uint64_t least = 0, most = 0;  // bytes; 0: not said
  uint64_t turns = 2000;         // of the smallest size; larger ones take fewer
  uint64_t tokens = 4096;
  std::vector<uint64_t> threads{1, 32, 128, 512};
  std::vector<uint64_t> contexts{1, 4, 16};
  int ranks = 4;      // as threads, if no launcher started this process
  std::string table;  // of a mixture of experts
  std::string file;   // what is measured is appended; empty: nowhere
};

constexpr uint64_t kMostBytes = uint64_t{1} << 30;
constexpr const char* kTests = "puts, rate, barrier, alltoall, moe and sendrecv";

// 8 bytes and powers of four from 1 KiB to 16 MiB, or as the command line says, each four times the one before.
inline std::vector<uint64_t> sizes_of(const Wish& wish) {
  std::vector<uint64_t> sizes;
  const bool said = wish.least != 0 || wish.most != 0;
  const uint64_t most = wish.most != 0 ? wish.most : uint64_t{16} << 20;
  if (!said) sizes.push_back(8);
  for (uint64_t bytes = !said ? 1024 : wish.least != 0 ? wish.least : 8; bytes <= most; bytes *= 4)
    sizes.push_back(bytes);
  if (sizes.empty() || sizes.back() < most) sizes.push_back(most);
  return sizes;
}

// At most 64 MiB a run.
inline uint64_t turns_for(const Wish& wish, uint64_t bytes) {
  const uint64_t most = (uint64_t{64} << 20) / (bytes == 0 ? 1 : bytes);
  const uint64_t turns = wish.turns < most ? wish.turns : most;
  return turns == 0 ? 1 : turns;
}

// One rank says it.
[[noreturn]] inline void refuse(const std::string& text) {
  if (find_place().rank == 0) std::fprintf(stderr, "anygin perf: %s\n", text.c_str());
  std::exit(2);
}

inline uint64_t number_of_text(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (!text.empty() && text[0] >= '0' && text[0] <= '9' && *end == '\0' && value > 0) return value;
  refuse(name + " " + text + ": a number from 1 on would be right");
}

// "1,32,128"
inline std::vector<uint64_t> list_of(const std::string& name, const std::string& text, uint64_t most) {
  std::vector<uint64_t> values;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    values.push_back(number_of_text(name, text.substr(at, comma - at)));
    if (values.back() > most)
      refuse(name + " " + text + ": numbers from 1 to " + std::to_string(most) + " would be right");
    at = comma + 1;
  }
  return values;
}

inline void set_option(Wish& wish, const std::string& name, const char* text) {
  constexpr uint64_t kMostThreads = 1024, kMostContexts = 16;
  if (name == "--min") {
    wish.least = number_of_text(name, text);
  } else if (name == "--max") {
    wish.most = number_of_text(name, text);
  } else if (name == "--turns") {
    wish.turns = number_of_text(name, text);
  } else if (name == "--tokens") {
    wish.tokens = number_of_text(name, text);
  } else if (name == "--threads") {
    wish.threads = list_of(name, text, kMostThreads);
  } else if (name == "--contexts") {
    wish.contexts = list_of(name, text, kMostContexts);
  } else if (name == "--table") {
    wish.table = text;
  } else if (name == "--append") {
    wish.file = text;
  } else if (name == "-r") {  // run_example reads it too
    wish.ranks = static_cast<int>(number_of_text(name, text));
  } else {
    refuse("'" + name +
           "'; --min, --max, --turns, --tokens, --threads, --contexts, --table, --append and -r are known");
  }
}

//   anygin-perf TEST [--min BYTES] [--max BYTES] [--turns N] ... [-r RANKS]
inline Wish parse(int argc, char** argv) {
  Wish wish;
  if (find_place().ranks > 0) wish.ranks = find_place().ranks;
  if (argc > 1) wish.test = argv[1];
  for (int i = 2; i < argc; i += 2) {
    if (i + 1 == argc) refuse(std::string(argv[i]) + " wants a value");
    set_option(wish, argv[i], argv[i + 1]);
  }
  const uint64_t most = wish.most != 0 ? wish.most : kMostBytes;
  if (wish.least <= most && most <= kMostBytes) return wish;
  refuse("--min " + std::to_string(wish.least) + " --max " + std::to_string(most) +
         ": the first is to be the smaller, the second at most 1 GiB");
}

}  // namespace perf
