// SPDX-License-Identifier: Apache-2.0
// Copies are private mappings at one distance a device, below the images; only the pages that an image's variables span
// are mapped. Variables come in from static constructors and, when they are local to a function, from lanes.
#include "anygin/simt/device_variables.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "anygin/base/mutant.h"
#include "anygin/base/platform.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device_table.h"

extern "C" {
__thread __attribute__((tls_model("initial-exec"))) ptrdiff_t anygin_device_distance = 0;
}

namespace anygin::simt {
namespace {

constexpr uintptr_t kPage = 4096;
// How far below an image its copies lie: images lie just under the top of the address space or in its
// middle, and some terabytes lower there is room. ThreadSanitizer keeps all but the images' own neighbourhoods for
// itself.
constexpr ptrdiff_t kGigabyte = ptrdiff_t{1} << 30;
#if defined(ANYGIN_SANITIZE_THREAD)
constexpr ptrdiff_t kNearest = 64 * kGigabyte, kStep = 64 * kGigabyte, kFarthest = 256 * kGigabyte;
constexpr ptrdiff_t kDeviceStride = 4 * kGigabyte;
#else
constexpr ptrdiff_t kNearest = 8192 * kGigabyte, kStep = 4096 * kGigabyte, kFarthest = 32768 * kGigabyte;
constexpr ptrdiff_t kDeviceStride = 64 * kGigabyte;  // room for the variables of one image
#endif

struct Variable {
  DeviceVariable given;
  std::vector<char> first;  // its bytes at registration; empty if all were zero
  uint64_t generation = 0;  // when it was registered
  bool end_of(uintptr_t address) const { return address < start() + given.bytes; }
  uintptr_t start() const { return reinterpret_cast<uintptr_t>(given.address); }
};

struct Range {
  uintptr_t low, high;
};

// One device's copies.
struct Copies {
  ptrdiff_t distance = 0;     // 0: not chosen
  uint64_t generation = 0;    // variables registered later have no copy yet
  std::vector<Range> mapped;  // of originals' pages
};

struct Table {
  std::mutex mutex;
  std::map<uintptr_t, Variable> variables;  // by address
  std::map<DeviceVariableSpan*, Range> spans;
  std::vector<Copies> devices;
  std::atomic<uint64_t> generation{0};
  int first_device = -1;  // that launched while an unclear variable was known
};

// Never destroyed: launches may happen in static destructors.
Table& table() {
  static Table& one = *new Table;
  return one;
}

bool all_zero(const char* bytes, size_t count) {
  return count == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, count - 1) == 0);
}

const Variable* find_original(const Table& t, uintptr_t address) {
  auto after = t.variables.upper_bound(address);
  if (after == t.variables.begin()) return nullptr;
  const Variable& variable = std::prev(after)->second;
  return variable.end_of(address) ? &variable : nullptr;
}

bool copied(const Variable& variable) {
  return variable.given.kind == DeviceVariableKind::kPerDevice;
}

// --- Pages ---

bool map_range(Range range, ptrdiff_t distance) {
  void* wanted = reinterpret_cast<void*>(range.low + static_cast<uintptr_t>(distance));
  const size_t bytes = range.high - range.low;
  void* got = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return true;
  if (got != MAP_FAILED) munmap(got, bytes);
  return false;
}

// What of `wanted` is not in `have`, piece by piece.
std::vector<Range> missing(std::vector<Range> have, Range wanted) {
  std::sort(have.begin(), have.end(), [](const Range& a, const Range& b) { return a.low < b.low; });
  std::vector<Range> pieces;
  for (const Range& one : have) {
    if (one.high <= wanted.low || one.low >= wanted.high) continue;
    if (one.low > wanted.low) pieces.push_back({wanted.low, one.low});
    wanted.low = std::max(wanted.low, one.high);
  }
  if (wanted.low < wanted.high) pieces.push_back(wanted);
  return pieces;
}

bool map_spans(const Table& t, Copies& copies) {
  const size_t before = copies.mapped.size();
  for (const auto& [span, range] : t.spans) {
    for (const Range& piece : missing(copies.mapped, range)) {
      if (map_range(piece, copies.distance)) {
        copies.mapped.push_back(piece);
        continue;
      }
      for (; copies.mapped.size() > before; copies.mapped.pop_back()) {
        const Range& mapped = copies.mapped.back();
        munmap(reinterpret_cast<void*>(mapped.low + static_cast<uintptr_t>(copies.distance)), mapped.high - mapped.low);
      }
      return false;
    }
  }
  return true;
}

bool place(const Table& t, int device, Copies& copies) {
  if (copies.distance != 0) return map_spans(t, copies);
  for (ptrdiff_t distance = kNearest; distance <= kFarthest; distance += kStep) {
    copies.distance = -distance - device * kDeviceStride;
    if (map_spans(t, copies)) return true;
  }
  copies.distance = 0;
  return false;
}

// --- Bytes ---

// First values into the copy. Words that hold the address of a variable point to the same device's copy of it.
void fill(const Table& t, const Variable& variable, ptrdiff_t distance) {
  char* to = reinterpret_cast<char*>(variable.start() + static_cast<uintptr_t>(distance));
  if (variable.first.empty()) {
    std::memset(to, 0, variable.given.bytes);
    return;
  }
  std::memcpy(to, variable.first.data(), variable.given.bytes);
  const size_t skip = (8 - variable.start() % 8) % 8;
  for (size_t at = skip; at + 8 <= variable.given.bytes; at += 8) {
    uintptr_t word;
    std::memcpy(&word, to + at, 8);
    const Variable* target = find_original(t, word);
    if (target == nullptr || !copied(*target)) continue;
    word += static_cast<uintptr_t>(distance);
    std::memcpy(to + at, &word, 8);
  }
}

int bring_up_to_date(Table& t, int device, std::string* why) {
  Copies& copies = t.devices[static_cast<size_t>(device)];
  const uint64_t now = t.generation.load(std::memory_order_relaxed);
  if (copies.generation == now) return kCudaSuccess;
  if (!place(t, device, copies)) {
    const char* name = t.variables.begin()->second.given.name;
    *why = fmt::format("no room in the address space for device {}'s copies of __device__ variables such as {}", device,
                       name);
    return kCudaMemoryAllocation;
  }
  for (const auto& [address, variable] : t.variables) {
    if (copied(variable) && variable.generation > copies.generation) fill(t, variable, copies.distance);
  }
  copies.generation = now;
  return kCudaSuccess;
}

int check_unclear(Table& t, int device, std::string* why) {
  for (const auto& [address, variable] : t.variables) {
    if (variable.given.kind != DeviceVariableKind::kUnclear) continue;
    if (t.first_device < 0) t.first_device = device;
    if (t.first_device == device) return kCudaSuccess;
    *why = fmt::format(
        "the __device__ variable {} is of a class with a destructor, so device {} cannot have a copy of its own "
        "(device "
        "{} uses it): make its class trivially destructible, or run one process a device",
        variable.given.name, device, t.first_device);
    return kCudaNotSupported;
  }
  return kCudaSuccess;
}

FoundVariable found(const Variable& variable, ptrdiff_t distance, int device) {
  const bool own = copied(variable);
  return {static_cast<char*>(variable.given.address) + (own ? distance : 0), variable.given.bytes, variable.given.name,
          variable.given.kind, own ? device : -1};
}

}  // namespace

extern "C" void anygin_register_device_variable(const DeviceVariable* given) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  Variable variable{*given, {}, 0};
  const auto known = t.variables.find(variable.start());
  // An inline variable registers once a translation unit; an image may lie where an unloaded one lay.
  if (known != t.variables.end() && known->second.given.span == given->span &&
      known->second.given.bytes == given->bytes) {
    return;
  }
  const char* bytes = static_cast<const char*>(given->address);
  if (copied(variable) && !all_zero(bytes, given->bytes)) variable.first.assign(bytes, bytes + given->bytes);
  if (copied(variable)) {
    DeviceVariableSpan& span = *given->span;
    span.low = std::min(span.low, variable.start());
    span.high = std::max(span.high, variable.start() + given->bytes);
    t.spans[given->span] = {span.low / kPage * kPage, (span.high + kPage - 1) / kPage * kPage};
  }
  variable.generation = t.generation.load(std::memory_order_relaxed) + 1;
  t.variables.insert_or_assign(variable.start(), std::move(variable));
  t.generation.store(t.generation.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  // Local to a function: its device is running already.
  std::string why;
  for (size_t device = 1; device < t.devices.size(); ++device) {
    if (t.devices[device].distance != 0) bring_up_to_date(t, static_cast<int>(device), &why);
  }
}

extern "C" ptrdiff_t anygin_device_distance_of(const void* address) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  const Variable* variable = find_original(t, reinterpret_cast<uintptr_t>(address));
  return variable != nullptr && copied(*variable) ? anygin_device_distance : 0;
}

int prepare_device_variables(int device, bool launch, std::string* why) {
  Table& t = table();
  if (t.generation.load(std::memory_order_acquire) == 0) return kCudaSuccess;
  const std::lock_guard lock(t.mutex);
  if (t.devices.empty()) t.devices.resize(static_cast<size_t>(device_count()));
  if (launch) {
    if (const int error = check_unclear(t, device, why)) return error;
  }
  if (device == 0 || MUTANT(device_variables_are_shared)) return kCudaSuccess;
  const int error = bring_up_to_date(t, device, why);
  if (error == kCudaSuccess) {
    device_table().load(device).variables_distance.store(t.devices[static_cast<size_t>(device)].distance,
                                                         std::memory_order_relaxed);
  }
  return error;
}

ptrdiff_t device_variable_distance(int device) {
  return device_table().load(device).variables_distance.load(std::memory_order_relaxed);
}

void reset_device_variables(int device) {
  Table& t = table();
  if (t.generation.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(t.mutex);
  if (device == 0) {
    for (const auto& [address, variable] : t.variables) {
      if (copied(variable)) fill(t, variable, 0);
    }
  } else if (!t.devices.empty() && t.devices[static_cast<size_t>(device)].distance != 0) {
    Copies& copies = t.devices[static_cast<size_t>(device)];
    copies.generation = 0;
    std::string why;
    bring_up_to_date(t, device, &why);
  }
}

std::optional<FoundVariable> find_device_variable(const void* pointer) {
  Table& t = table();
  if (t.generation.load(std::memory_order_acquire) == 0) return std::nullopt;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard lock(t.mutex);
  if (const Variable* variable = find_original(t, address)) return found(*variable, 0, 0);
  for (size_t device = 1; device < t.devices.size(); ++device) {
    const ptrdiff_t distance = t.devices[device].distance;
    if (distance == 0) continue;
    const Variable* variable = find_original(t, address - static_cast<uintptr_t>(distance));
    if (variable != nullptr && copied(*variable)) return found(*variable, distance, static_cast<int>(device));
  }
  return std::nullopt;
}

std::optional<FoundVariable> device_variable_of_symbol(const void* symbol, int device) {
  Table& t = table();
  const ptrdiff_t distance = device_variable_distance(device);
  const std::lock_guard lock(t.mutex);
  const auto known = t.variables.find(reinterpret_cast<uintptr_t>(symbol));
  if (known == t.variables.end()) return std::nullopt;
  return found(known->second, distance, device);
}

}  // namespace anygin::simt
