// SPDX-License-Identifier: Apache-2.0
// The engine's side of one descriptor ring: which slot is next, whether it is filled, what is in flight.
// A slot belongs to the engine from the publication of its word 0 until the consumer index passes it.
#pragma once

#include "anygin/base/order.h"
#include "anygin/proxy/proxy_device.h"
#include "anygin/proxy/proxy_gfd.h"

namespace anygin::proxy {

// Plain state of the engine; the owner token's holder calls.
class RingReader {
 public:
  RingReader() = default;
  // `claims` is null where the engine cannot read them.
  RingReader(const Gfd* slots, PeerWords* words, const PeerClaims* claims, int depth_log2)
      : slots_(slots), words_(words), claims_(claims), depth_log2_(depth_log2) {}

  // Has the producer published the next descriptor?
  bool filled() const { return tag_of(observe(&slot(decoded_).words[0])) == lap_tag(decoded_, depth_log2_); }
  // Index of the next descriptor, and of the oldest operation in flight.
  RingIndex decoded() const { return decoded_; }
  RingIndex completed() const { return completed_; }
  uint32_t in_flight() const { return decoded_.distance_from(completed_); }
  // Claimed by producers and not yet decoded; some may not be published yet. Without claims: whether there is any.
  uint32_t waiting() const {
    if (claims_ == nullptr) return filled() ? 1 : 0;
    return RingIndex(load_relaxed(&claims_->produced)).distance_from(decoded_);
  }

  // filled() was true: the next descriptor, in flight from now on.
  const Gfd& take() {
    const Gfd& gfd = slot(decoded_);
    decoded_ = decoded_ + 1;
    return gfd;
  }
  const Gfd& oldest() const { return slot(completed_); }
  const Gfd& next() const { return slot(decoded_); }
  // The oldest operation in flight is locally complete: its slot and credit go back to the producers.
  void complete(uint32_t count = 1) {
    completed_ = completed_ + count;
    publish(&words_->consumed, uint64_t{completed_.raw()});
  }

 private:
  const Gfd& slot(RingIndex index) const { return slots_[slot_of(index, depth_log2_)]; }

  const Gfd* slots_ = nullptr;
  PeerWords* words_ = nullptr;
  const PeerClaims* claims_ = nullptr;
  int depth_log2_ = 0;
  RingIndex decoded_{kFirstIndex};
  RingIndex completed_{kFirstIndex};
};

}  // namespace anygin::proxy
