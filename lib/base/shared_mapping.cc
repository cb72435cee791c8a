// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "anygin/base/memory_map.h"

namespace anygin {
namespace {

constexpr const char* kWhere = "shared memory";

Status system_error(std::string_view what, size_t bytes) {
  const int error = errno;
  return Status(Cause::kSystemCall, kWhere, fmt::format("{} ({} bytes): {}", what, bytes, std::strerror(error)));
}

constexpr size_t kPage = 4096, kLargePage = size_t{2} << 20;

size_t up_to(size_t unit, size_t bytes) {
  return (bytes + unit - 1) / unit * unit;
}

// A large file begins at a large page: what is aligned in memory is then aligned in the file, wherever that lies.
Result<char*> map_file(int fd, size_t bytes) {
  const size_t room = up_to(kPage, bytes) + (bytes >= kLargePage ? kLargePage : 0);
  void* const found = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return system_error("no room among the addresses for a file", bytes);
  char* const first = static_cast<char*>(found);
  char* const base = bytes < kLargePage ? first : first - reinterpret_cast<uintptr_t>(first) % kLargePage + kLargePage;
  if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0) == MAP_FAILED) {
    const Status failed = system_error("cannot map the file", bytes);
    munmap(first, room);
    return failed;
  }
  char* const end = base + up_to(kPage, bytes);
  if (base > first) munmap(first, static_cast<size_t>(base - first));
  if (first + room > end) munmap(end, static_cast<size_t>(first + room - end));
  return base;
}

// A peer that could shrink the file could kill us with SIGBUS.
Status check_foreign_file(int fd, size_t bytes) {
  struct stat file {};
  if (fstat(fd, &file) != 0) return system_error("cannot look at the file a peer sent", bytes);
  if (!S_ISREG(file.st_mode) || static_cast<uint64_t>(file.st_size) < bytes) {
    return Status(Cause::kPeerBuild, kWhere,
                  fmt::format("a peer sent a file of {} bytes where {} were announced", file.st_size, bytes));
  }
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK)) {
    return Status(Cause::kPeerBuild, kWhere, "a peer sent a file that is not sealed against shrinking");
  }
  return Status();
}

}  // namespace

Result<SharedMapping> SharedMapping::create(const char* name, size_t bytes) {
  SharedMapping mapping;
  mapping.fd_ = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (mapping.fd_ < 0) return system_error("cannot create a memory file", bytes);
  if (fchmod(mapping.fd_, S_IRUSR | S_IWUSR) != 0 || ftruncate(mapping.fd_, static_cast<off_t>(bytes)) != 0) {
    return system_error("cannot size a memory file", bytes);
  }
  if (fcntl(mapping.fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return system_error("cannot seal a memory file", bytes);
  }
  Result<char*> base = map_file(mapping.fd_, bytes);
  if (!base.ok()) return base.status();
  mapping.base_ = *base;
  mapping.bytes_ = bytes;
  return mapping;
}

Result<SharedMapping> SharedMapping::adopt(int fd, size_t bytes) {
  SharedMapping mapping;
  mapping.fd_ = fd;
  ANYGIN_TRY(check_foreign_file(fd, bytes));
  Result<char*> base = map_file(fd, bytes);
  if (!base.ok()) return base.status();
  mapping.base_ = *base;
  mapping.bytes_ = bytes;
  return mapping;
}

SharedMapping::SharedMapping(SharedMapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      fd_(std::exchange(other.fd_, -1)) {}

SharedMapping& SharedMapping::operator=(SharedMapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(fd_, other.fd_);
  return *this;
}

SharedMapping::~SharedMapping() {
  if (base_) munmap(base_, bytes_);
  if (fd_ >= 0) close(fd_);
}

}  // namespace anygin
