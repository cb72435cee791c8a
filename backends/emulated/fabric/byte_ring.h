// SPDX-License-Identifier: Apache-2.0
// A ring of messages for one producer and one consumer in shared memory. It lies in the producer's page; the consumer
// writes nothing but `taken`. Neither side trusts what the other wrote: a consumer that reads nonsense says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "anygin/base/assert.h"
#include "anygin/base/platform.h"
#include "anygin/emulated/wire.h"

namespace anygin::emulated {

inline constexpr uint64_t kRingBytes = 256 * 1024;

struct ByteRing {
  alignas(kCacheLine) std::atomic<uint64_t> given;  // producer writes: bytes ever put in, free-running
  alignas(kCacheLine) std::atomic<uint64_t> taken;  // consumer writes: bytes ever taken out
  alignas(kCacheLine) char data[kRingBytes];
};

// A record is its length in a word of 8 bytes, then the message, padded to 8. One never wraps: what is left before
// the end is skipped.
namespace ring_detail {
inline constexpr uint64_t kWordBytes = 8;
inline constexpr uint64_t kSkip = ~uint64_t{0};
inline constexpr uint64_t kMessageMax = kWireHeaderBytes + kChunkBytes;
constexpr uint64_t record_bytes(uint64_t message) {
  return kWordBytes + (message + kWordBytes - 1) / kWordBytes * kWordBytes;
}
}  // namespace ring_detail

class RingProducer {
 public:
  RingProducer() = default;
  explicit RingProducer(ByteRing* ring) : ring_(ring), given_(ring->given.load(std::memory_order_relaxed)) {}

  bool open() const { return ring_ != nullptr; }
  // The consumer has taken everything.
  bool drained() const { return ring_->taken.load(std::memory_order_acquire) == given_; }
  bool fits(uint64_t bytes) const { return needed(bytes) <= free_bytes(); }

  // False: no room. The message is visible to the consumer on return.
  bool push(const char* head, uint64_t head_bytes, const char* body, uint64_t body_bytes) {
    const uint64_t bytes = head_bytes + body_bytes;
    if (!fits(bytes)) return false;
    uint64_t at = given_ % kRingBytes;
    if (at + ring_detail::record_bytes(bytes) > kRingBytes) {
      store_word(at, ring_detail::kSkip);
      given_ += kRingBytes - at;
      at = 0;
    }
    store_word(at, bytes);
    char* to = ring_->data + at + ring_detail::kWordBytes;
    std::memcpy(to, head, head_bytes);
    if (body_bytes > 0) std::memcpy(to + head_bytes, body, body_bytes);
    given_ += ring_detail::record_bytes(bytes);
    ring_->given.store(given_, std::memory_order_release);
    return true;
  }

 private:
  void store_word(uint64_t at, uint64_t word) { std::memcpy(ring_->data + at, &word, sizeof(word)); }
  uint64_t needed(uint64_t bytes) const {
    const uint64_t at = given_ % kRingBytes;
    const uint64_t record = ring_detail::record_bytes(bytes);
    return at + record > kRingBytes ? kRingBytes - at + record : record;
  }
  uint64_t free_bytes() const {
    const uint64_t used = given_ - ring_->taken.load(std::memory_order_acquire);
    return used > kRingBytes ? 0 : kRingBytes - used;  // a consumer that took more than was given gets nothing more
  }

  ByteRing* ring_ = nullptr;
  uint64_t given_ = 0;
};

class RingConsumer {
 public:
  enum class Got : uint8_t { kMessage, kNothing, kNonsense };

  RingConsumer() = default;
  explicit RingConsumer(ByteRing* ring) : ring_(ring), taken_(ring->taken.load(std::memory_order_relaxed)) {}

  bool open() const { return ring_ != nullptr; }

  // kMessage: [*data, *data + *bytes) is the oldest message, valid until pop().
  Got front(const char** data, uint64_t* bytes) {
    while (true) {
      const uint64_t present = ring_->given.load(std::memory_order_acquire) - taken_;
      if (present == 0) return Got::kNothing;
      const uint64_t at = taken_ % kRingBytes;
      if (present > kRingBytes || present < ring_detail::kWordBytes || at % ring_detail::kWordBytes != 0) {
        return Got::kNonsense;
      }
      uint64_t word;
      std::memcpy(&word, ring_->data + at, sizeof(word));
      if (word == ring_detail::kSkip) {
        if (kRingBytes - at > present) return Got::kNonsense;
        taken_ += kRingBytes - at;
        continue;
      }
      if (word > ring_detail::kMessageMax) return Got::kNonsense;
      const uint64_t record = ring_detail::record_bytes(word);
      if (record > present || record > kRingBytes - at) return Got::kNonsense;
      *data = ring_->data + at + ring_detail::kWordBytes;
      *bytes = word;
      front_ = record;
      return Got::kMessage;
    }
  }

  void pop() {
    taken_ += front_;
    ring_->taken.store(taken_, std::memory_order_release);
  }

 private:
  ByteRing* ring_ = nullptr;
  uint64_t taken_ = 0;
  uint64_t front_ = 0;
};

}  // namespace anygin::emulated
