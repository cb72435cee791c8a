// SPDX-License-Identifier: Apache-2.0
// Posting: validation, and what can be done at once.
#include <cerrno>
#include <cstring>

#include "anygin/emulated/hca.h"

namespace anygin::emulated {
namespace {

constexpr uint32_t kWord = sizeof(uint64_t);

}  // namespace

PostScope::PostScope(Hca& hca, QueuePair& pair) : hca_(hca), pair_(pair), lock_(hca.mutex_) {
  hca.stored_ = false;
}

PostScope::~PostScope() {
  if (hca_.stored_) hca_.port_->wake(pair_.peer_);
  if (!queued_) return;
  hca_.settle(pair_);
  hca_.changed();
  hca_.world_.executor.kick(hca_);
}

int PostScope::add(const PostRequest& request) {
  const bool ready = pair_.state_ == QueuePairState::kReadyToSend || pair_.state_ == QueuePairState::kError;
  if (!ready || request.bytes > Hca::kBytesMax) return EINVAL;
  if (request.is_inline && (request.kind != WorkKind::kWrite || request.bytes > kInlineMax)) return EINVAL;
  if (request.kind == WorkKind::kFetchAdd && request.bytes != kWord) return EINVAL;
  if (pair_.slots_used_ == pair_.options_.depth) return ENOMEM;
  Work work;
  work.kind = request.kind;
  work.may_pass = request.may_pass && request.kind != WorkKind::kRead;
  work.grouped = request.kind == WorkKind::kFetchAdd && after_write_;
  work.signaled = request.signaled || pair_.options_.signal_all;
  work.is_inline = request.is_inline;
  work.bytes = request.bytes;
  work.rkey = request.rkey;
  work.cookie = request.cookie;
  work.remote_address = request.remote_address;
  work.add = request.add;
  after_write_ = request.kind == WorkKind::kWrite;
  ++pair_.slots_used_;
  hca_.world_.charge(Step::kPost, request.bytes);
  const MemoryRegion* region = nullptr;
  if (request.is_inline) {
    std::memcpy(work.inline_data.data(), request.local, request.bytes);
  } else if (request.bytes > 0) {
    region = hca_.find_local(request.lkey);
    if (!hca_.local_allows(region, request)) {
      pair_.outgoing_->post_failed(work, WorkStatus::kLocalProtection);
      queued_ = true;
      return 0;
    }
    work.local = region->place + static_cast<uint64_t>(request.local - region->address);
  }
  FlowSend::Now now = FlowSend::Now::kDeclined;
  if (work.bytes <= budget_) now = pair_.outgoing_->do_now(work);
  if (now == FlowSend::Now::kDone) {
    budget_ -= work.bytes;
    hca_.complete(pair_, {work.cookie, work.kind, WorkStatus::kOk, work.signaled, work.bytes});
    return 0;
  }
  queued_ = true;
  if (now == FlowSend::Now::kDeclined) {
    const bool may_hold = hca_.options_.profile != Profile::kInorder;
    pair_.outgoing_->post(work, hca_.world_.choices, may_hold ? hca_.world_.clock.now() : 0);
  }
  return 0;
}

}  // namespace anygin::emulated
