// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/process_page.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "anygin/base/assert.h"
#include "anygin/base/env_real.h"
#include "anygin/base/world.h"

namespace anygin {
namespace {

constexpr size_t kPageFileBytes = size_t{1} << 30;  // sparse: rings of all peers

uint64_t round_up(uint64_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

SharedMapping create_page_file() {
  Result<SharedMapping> mapping = SharedMapping::create("anygin-process-page", kPageFileBytes);
  if (!mapping.ok()) {
    std::fprintf(stderr, "anygin: %s\n", mapping.status().message().c_str());
    ANYGIN_ASSERT(!"no process page");
  }
  return std::move(*mapping);
}

bool same_file(int fd, int other) {
  struct stat a {
  }, b{};
  return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

struct ProcessPage::State {
  SharedMapping mapping = create_page_file();
  std::mutex mutex;
  uint64_t end = round_up(sizeof(ControlPage));          // nothing beyond was ever given out
  std::map<uint64_t, std::vector<uint64_t>> free_areas;  // bytes -> offsets
};

ProcessPage::ProcessPage() : state_(std::make_unique<State>()) {
  auto* page = new (state_->mapping.base()) ControlPage;
  page->version = kProcessPageVersion;
  page->pid = process_id();
  page->start_time = process_start_time();
  page->magic = kProcessPageMagic;
}

ProcessPage::~ProcessPage() = default;

ControlPage& ProcessPage::control() {
  return *reinterpret_cast<ControlPage*>(state_->mapping.base());
}

uint64_t ProcessPage::allocate(size_t bytes) {
  const uint64_t whole = round_up(bytes);
  std::lock_guard lock(state_->mutex);
  std::vector<uint64_t>& same_size = state_->free_areas[whole];
  if (!same_size.empty()) {
    const uint64_t offset = same_size.back();
    same_size.pop_back();
    return offset;
  }
  ANYGIN_ASSERT(whole <= state_->mapping.bytes() - state_->end);
  const uint64_t offset = state_->end;
  state_->end += whole;
  return offset;
}

void ProcessPage::release(uint64_t offset, size_t bytes) {
  std::memset(at(offset), 0, round_up(bytes));
  std::lock_guard lock(state_->mutex);
  state_->free_areas[round_up(bytes)].push_back(offset);
}

char* ProcessPage::at(uint64_t offset) {
  ANYGIN_ASSERT(offset < state_->mapping.bytes());
  return state_->mapping.base() + offset;
}

int ProcessPage::fd() const {
  return state_->mapping.fd();
}
size_t ProcessPage::bytes() const {
  return state_->mapping.bytes();
}

Result<PeerPage> PeerPage::map(int fd, size_t bytes) {
  PeerPage peer;
  ProcessPage& own = world().page;
  if (same_file(fd, own.fd())) {
    close(fd);
    if (bytes > own.bytes()) {
      return Status(Cause::kPeerBuild, "process page",
                    fmt::format("announced as {} bytes, has {}", bytes, own.bytes()));
    }
    peer.base_ = own.at(0);
    peer.bytes_ = own.bytes();
    return peer;
  }
  Result<SharedMapping> mapping = SharedMapping::adopt(fd, bytes);
  if (!mapping.ok()) return mapping.status();
  if (bytes < sizeof(ControlPage)) {
    return Status(Cause::kPeerBuild, "process page", fmt::format("{} bytes are too few for a page", bytes));
  }
  peer.mapping_ = std::move(*mapping);
  peer.base_ = peer.mapping_.base();
  peer.bytes_ = bytes;
  const ControlPage& page = peer.control();
  if (page.magic != kProcessPageMagic || page.version != kProcessPageVersion) {
    return Status(Cause::kPeerBuild, "process page",
                  fmt::format("magic {:#x} version {}, wanted {:#x} version {}: the peer runs another build of AnyGIN",
                              page.magic, page.version, kProcessPageMagic, kProcessPageVersion));
  }
  return peer;
}

ControlPage& PeerPage::control() const {
  return *reinterpret_cast<ControlPage*>(base_);
}

char* PeerPage::at(uint64_t offset, size_t bytes) const {
  ANYGIN_ASSERT(offset <= bytes_ && bytes <= bytes_ - offset);
  return base_ + offset;
}

}  // namespace anygin
