// SPDX-License-Identifier: Apache-2.0
// The agent for mapped memory: plain loads, stores and atomics of this process, done before the call returns.
//
// Aligned 8-byte words of the destination are never torn. The bytes before the first and after the last aligned word
// are stored one by one; the words between are stored one by one, or on x86-64 as vectors of two or four. The latter
// holds because a vector starts at a word, and a core splits a store only at cache lines, which are word boundaries
// too. The compiler may turn a memcpy into `rep movs`, of which the manuals promise nothing, so none is used here.
#include "anygin/base/memory_agent.h"

#include <algorithm>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "anygin/base/env_real.h"
#include "anygin/base/mutant.h"
#include "anygin/base/platform.h"
#include "anygin/base/world.h"

namespace anygin {
namespace {

constexpr uint64_t kWord = sizeof(uint64_t);

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

#if defined(__x86_64__) && !defined(ANYGIN_SANITIZE_THREAD)
// Both store whole blocks of so many bytes, which are words, and return how many bytes that was.
constexpr uint64_t kBlock = 128;

uint64_t store_blocks_sse2(char* to, const char* from, uint64_t bytes) {
  uint64_t done = 0;
  for (; bytes - done >= kBlock; done += kBlock) {
    for (uint64_t i = done; i < done + kBlock; i += sizeof(__m128i)) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
  }
  return done;
}

__attribute__((target("avx"))) uint64_t store_blocks_avx(char* to, const char* from, uint64_t bytes) {
  uint64_t done = 0;
  for (; bytes - done >= kBlock; done += kBlock) {
    const auto* source = reinterpret_cast<const __m256i*>(from + done);
    auto* destination = reinterpret_cast<__m256i*>(to + done);
    const __m256i a = _mm256_loadu_si256(source), b = _mm256_loadu_si256(source + 1);
    const __m256i c = _mm256_loadu_si256(source + 2), d = _mm256_loadu_si256(source + 3);
    _mm256_storeu_si256(destination, a);
    _mm256_storeu_si256(destination + 1, b);
    _mm256_storeu_si256(destination + 2, c);
    _mm256_storeu_si256(destination + 3, d);
  }
  return done;
}

uint64_t store_blocks(char* to, const char* from, uint64_t bytes) {
  static const bool has_avx = __builtin_cpu_supports("avx");
  return has_avx ? store_blocks_avx(to, from, bytes) : store_blocks_sse2(to, from, bytes);
}
#else
uint64_t store_blocks(char*, const char*, uint64_t) {
  return 0;
}
#endif

void store_words(char* to, const char* from, uint64_t bytes) {
  for (uint64_t i = store_blocks(to, from, bytes); i < bytes; i += kWord) store_word(to + i, from + i);
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
