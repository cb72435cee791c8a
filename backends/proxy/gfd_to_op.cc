// SPDX-License-Identifier: Apache-2.0
#include "anygin/proxy/gfd_to_op.h"

#include <fmt/format.h>

#include <string>

namespace anygin::proxy {
namespace {

const char* name_of(GfdOp op) {
  switch (op) {
    case GfdOp::kPut:
      return "put";
    case GfdOp::kPutInline:
      return "putValue";
    case GfdOp::kGet:
      return "get";
  }
  return "unknown operation";
}

Status misuse(const GfdFields& gfd, Rank peer, Cause cause, std::string what) {
  return Status(cause, name_of(gfd.op), fmt::format("to rank {}: {} (call site {:#x})", peer, what, gfd.call_site));
}

// One range of a descriptor, and what to call it in an error.
struct Range {
  const char* what;
  GfdPlace place;
  uint64_t bytes;
  Rank owner;
  Cause error;  // when it does not fit
};

class Translator {
 public:
  Translator(const GfdFields& gfd, const OpContext& context, Rank peer, const WindowTable& windows,
             const Transport& transport)
      : gfd_(gfd), context_(context), peer_(peer), windows_(windows), transport_(transport) {}

  Result<Op> run() {
    op_.kind = kind();
    op_.context = context_.transport_context;
    op_.peer = peer_;
    op_.bytes = gfd_.bytes;
    op_.inline_value = gfd_.inline_value;
    op_.call_site = reinterpret_cast<const void*>(gfd_.call_site);
    ANYGIN_TRY(payload());
    if (gfd_.has_signal) ANYGIN_TRY(signal());
    if (gfd_.has_counter && gfd_.counter_id >= context_.counter_count) {
      return misuse(gfd_, peer_, Cause::kKernelCounterIndex,
                    fmt::format("counter {} does not exist, there are {}", gfd_.counter_id, context_.counter_count));
    }
    return op_;
  }

 private:
  OpKind kind() const {
    if (gfd_.op == GfdOp::kGet) return OpKind::kGet;
    return gfd_.op == GfdOp::kPutInline ? OpKind::kPutInline : OpKind::kPut;
  }

  Status payload() {
    if (gfd_.bytes == 0) return Status();
    const bool get = gfd_.op == GfdOp::kGet;
    if (gfd_.op != GfdOp::kPutInline) {
      ANYGIN_TRY(resolve({get ? "destination" : "source", gfd_.local, gfd_.bytes, context_.rank, Cause::kKernelSource},
                         &op_.local));
    }
    return resolve({get ? "source" : "destination", gfd_.remote, gfd_.bytes, peer_, Cause::kKernelDestination},
                   &op_.remote);
  }

  Status signal() {
    op_.signal.present = true;
    op_.signal.strength = gfd_.strong ? Strength::kStrong : Strength::kWeak;
    op_.signal.add = gfd_.signal_add;
    if (gfd_.signal_in_window) return window_signal();
    if (gfd_.signal_id >= context_.signal_count) {
      return misuse(gfd_, peer_, Cause::kKernelSignalIndex,
                    fmt::format("signal {} does not exist, there are {}", gfd_.signal_id, context_.signal_count));
    }
    op_.signal.cell = {context_.signal_region, context_.signal_offset + uint64_t{gfd_.signal_id} * 8};
    return Status();
  }

  Status window_signal() {
    if (gfd_.signal_place.offset % 8 != 0) {
      return misuse(gfd_, peer_, Cause::kKernelSignalMisaligned,
                    fmt::format("signal offset {} is not a multiple of 8 bytes", gfd_.signal_place.offset));
    }
    ANYGIN_TRY(resolve({"signal", gfd_.signal_place, 8, peer_, Cause::kKernelSignalBounds}, &op_.signal.cell));
    if (windows_.find(gfd_.signal_place.window)->strict_ordering) return Status();
    return misuse(gfd_, peer_, Cause::kKernelSignalUnordered,
                  fmt::format("a signal in window {}, which was not registered with strict ordering",
                              gfd_.signal_place.window.value));
  }

  Status resolve(const Range& range, RegionRef* out) const {
    const std::optional<WindowEntry> window = windows_.find(range.place.window);
    if (!window) {
      return misuse(gfd_, peer_, Cause::kKernelWindowDead,
                    fmt::format("{} window {} is not registered", range.what, range.place.window.value));
    }
    const uint64_t size = transport_.region_bytes(window->region, range.owner);
    if (range.place.offset > size || range.bytes > size - range.place.offset) {
      return misuse(gfd_, peer_, range.error,
                    fmt::format("{} of {} bytes at offset {} of window {}: rank {} registered {} bytes", range.what,
                                range.bytes, range.place.offset, range.place.window.value, range.owner, size));
    }
    *out = {window->region, range.place.offset};
    return Status();
  }

  const GfdFields& gfd_;
  const OpContext& context_;
  const Rank peer_;
  const WindowTable& windows_;
  const Transport& transport_;
  Op op_;
};

}  // namespace

Result<Op> gfd_to_op(const GfdFields& gfd, const OpContext& context, Rank peer, const WindowTable& windows,
                     const Transport& transport) {
  return Translator(gfd, context, peer, windows, transport).run();
}

std::string describe(const GfdFields& gfd) {
  std::string text = fmt::format("{} of {} bytes", name_of(gfd.op), gfd.bytes);
  if (gfd.has_signal) {
    text += fmt::format(", {} signal {} += {}", gfd.strong ? "strong" : "weak",
                        gfd.signal_in_window
                            ? fmt::format("at window {} + {}", gfd.signal_place.window.value, gfd.signal_place.offset)
                            : fmt::format("{}", gfd.signal_id),
                        gfd.signal_add);
  }
  if (gfd.has_counter) text += fmt::format(", counter {} += 1", gfd.counter_id);
  return text + fmt::format(" (call site {:#x})", gfd.call_site);
}

}  // namespace anygin::proxy
