// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/shared_memory.h"

#include <sys/mman.h>

#include "anygin/base/assert.h"
#include "anygin/base/platform.h"
#include "anygin/simt/lane_runner.h"

#if defined(ANYGIN_SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#endif

namespace anygin::simt {

namespace {

// Room for everything and for the padding of alignments; a page more, so that running over the end faults.
constexpr size_t kAreaBytes = 288 * 1024;
constexpr size_t kDynamicAlignment = 1024;
// Between objects, so that AddressSanitizer sees a lane that runs from one into the next.
#if defined(ANYGIN_SANITIZE_ADDRESS)
constexpr size_t kRedZone = 32;
#else
constexpr size_t kRedZone = 0;
#endif

size_t align_up(size_t offset, size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Under AddressSanitizer only declared bytes may be touched.
void allow(char* from, size_t bytes) {
#if defined(ANYGIN_SANITIZE_ADDRESS)
  __asan_unpoison_memory_region(from, bytes);
#else
  (void)from, (void)bytes;
#endif
}

void forbid(char* from, size_t bytes) {
#if defined(ANYGIN_SANITIZE_ADDRESS)
  __asan_poison_memory_region(from, bytes);
#else
  (void)from, (void)bytes;
#endif
}

}  // namespace

SharedMemory::~SharedMemory() {
  if (!area_) return;
  allow(area_, kAreaBytes);
  munmap(area_, kAreaBytes);
}

char* SharedMemory::area() {
  if (!area_) {
    void* mapping =
        mmap(nullptr, kAreaBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ANYGIN_ASSERT(mapping != MAP_FAILED);
    area_ = static_cast<char*>(mapping);
    forbid(area_, kAreaBytes);
    allow(area_, dynamic_bytes_);
  }
  return area_;
}

void SharedMemory::begin(size_t dynamic_bytes) {
  if (area_ && used_ > 0) forbid(area_, used_);
  dynamic_bytes_ = dynamic_bytes;
  used_ = dynamic_bytes;
  static_used_ = 0;
  declared_.clear();
  if (area_) allow(area_, dynamic_bytes_);
}

void* SharedMemory::dynamic() {
  static_assert(kDynamicAlignment <= 4096);  // mappings are page-aligned
  return area();
}

void* SharedMemory::static_object(const void* key, size_t bytes, size_t alignment) {
  for (const Declared& declared : declared_) {
    if (declared.key == key) return declared.object;
  }
  const size_t at = align_up(used_ + kRedZone, alignment < 16 ? 16 : alignment);
  if (static_used_ + bytes > kStaticMax || at + bytes > kAreaBytes) return nullptr;
  static_used_ += bytes;
  used_ = at + bytes;
  char* object = area() + at;
  allow(object, bytes);
  declared_.push_back({key, object});
  return object;
}

extern "C" void* anygin_shared_static(const void* key, size_t bytes, size_t alignment) {
  Block& block = runner_of_caller("a __shared__ variable").block();
  void* object = block.shared.static_object(key, bytes, alignment);
  if (!object)
    anygin_trap("static shared memory of a block is limited to 49152 bytes, and this declaration does not fit");
  return object;
}

extern "C" void* anygin_shared_dynamic() {
  return runner_of_caller("dynamic shared memory").block().shared.dynamic();
}

extern "C" size_t anygin_shared_dynamic_bytes() {
  return runner_of_caller("dynamic shared memory").block().shared.dynamic_bytes();
}

}  // namespace anygin::simt
