// SPDX-License-Identifier: Apache-2.0
// The agent for mapped memory: plain loads, stores and atomics of this process, done before the call returns.
//
// Aligned 8-byte words of the destination are never torn. The bytes before the first and after the last aligned word
// are stored one by one; the words between are stored either one by one, or by memcpy in pieces of at most kPiece
// bytes. The latter holds on x86-64: a piece starts at a word and is a multiple of 8 long, every store instruction of a
// memcpy of that size moves 8, 16, 32 or 64 bytes whose distance from the piece's start or end is a multiple of 8, and
// a core splits a store only at cache lines, which are word boundaries too. (Longer copies may use `rep movsb`, of
// which the manuals promise nothing; hence the pieces.) Elsewhere words are stored one by one.
#include "anygin/base/memory_agent.h"

#include <algorithm>
#include <cstring>

#include "anygin/base/env_real.h"
#include "anygin/base/mutant.h"
#include "anygin/base/world.h"

namespace anygin {
namespace {

constexpr uint64_t kWord = sizeof(uint64_t);
constexpr uint64_t kPiece = 1024;

void store_bytes(char* to, const char* from, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i) __atomic_store_n(to + i, from[i], __ATOMIC_RELAXED);
}

void store_word(char* to, const char* from) {
  uint64_t word;
  std::memcpy(&word, from, kWord);
  if (MUTANT(words_in_halves)) {
    store_bytes(to, from, kWord / 2);
    yield_thread();  // so that a test need not be lucky
    return store_bytes(to + kWord / 2, from + kWord / 2, kWord / 2);
  }
  __atomic_store_n(reinterpret_cast<uint64_t*>(to), word, __ATOMIC_RELAXED);
}

void store_words(char* to, const char* from, uint64_t bytes) {
#if defined(__x86_64__) && !defined(ANYGIN_SANITIZE_THREAD)
  constexpr uint64_t kFewWords = 128;
  for (; bytes > kFewWords; bytes -= std::min(bytes, kPiece)) {
    const uint64_t piece = std::min(bytes, kPiece);
    std::memcpy(to, from, piece);
    to += piece;
    from += piece;
  }
#endif
  for (uint64_t i = 0; i < bytes; i += kWord) store_word(to + i, from + i);
}

void move(char* to, const char* from, uint64_t bytes) {
  const uint64_t head = std::min(bytes, (kWord - reinterpret_cast<uintptr_t>(to) % kWord) % kWord);
  const uint64_t middle = (bytes - head) / kWord * kWord;
  store_bytes(to, from, head);
  store_words(to + head, from + head, middle);
  store_bytes(to + head + middle, from + head + middle, bytes - head - middle);
}

class MappedMemoryAgent final : public MemoryAgent {
 public:
  Ticket read(void* to, MemName from, uint64_t bytes) override {
    move(static_cast<char*>(to), world().memory.address(from), bytes);
    return kDone;
  }
  Ticket write(MemName to, const void* from, uint64_t bytes) override {
    move(world().memory.address(to), static_cast<const char*>(from), bytes);
    return kDone;
  }
  Ticket copy(MemName to, MemName from, uint64_t bytes) override {
    move(world().memory.address(to), world().memory.address(from), bytes);
    return kDone;
  }
  Ticket fetch_add(MemName cell, uint64_t value, uint64_t* old) override {
    auto* word = reinterpret_cast<uint64_t*>(world().memory.address(cell));
    const uint64_t before = __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
    if (old) *old = before;
    return kDone;
  }
  bool poll(Ticket) override { return true; }
};

}  // namespace

MemoryAgent& mapped_memory_agent() {
  static MappedMemoryAgent& agent = *new MappedMemoryAgent;
  return agent;
}

}  // namespace anygin
