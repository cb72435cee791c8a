// SPDX-License-Identifier: Apache-2.0
// How lanes of a warp meet, and what each kind of operation computes.
#include "anygin/simt/warp_ops.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <vector>

#include "anygin/base/code_site.h"
#include "anygin/base/mutant.h"
#include "anygin/simt/block.h"

namespace anygin::simt {

namespace {

const char* name_of(WarpOpKind kind) {
  switch (kind) {
    case WarpOpKind::kSync:
      return "syncwarp";
    case WarpOpKind::kShuffle:
      return "shfl";
    case WarpOpKind::kBallot:
      return "ballot";
    case WarpOpKind::kMatchAny:
      return "match_any";
    case WarpOpKind::kMatchAll:
      return "match_all";
    case WarpOpKind::kReduceAdd:
      return "reduce_add";
    case WarpOpKind::kReduceMin:
      return "reduce_min";
    case WarpOpKind::kReduceMax:
      return "reduce_max";
    case WarpOpKind::kReduceAnd:
      return "reduce_and";
    case WarpOpKind::kReduceOr:
      return "reduce_or";
    case WarpOpKind::kReduceXor:
      return "reduce_xor";
  }
  return "?";
}

// Calls `visit(lane)` for the lanes of `mask`, lowest first.
template <typename Visit>
void for_each_lane(uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<uint32_t>(std::countr_zero(mask)));
}

void shuffle(WarpOp* const* ops, uint32_t lanes) {
  const unsigned bytes = ops[std::countr_zero(lanes)]->bytes;
  char small[32 * 16];
  std::vector<char> large;
  char* values = small;
  if (bytes > 16) {
    large.resize(32 * size_t{bytes});
    values = large.data();
  }
  // Results may lie where values lie: all values are read first.
  for_each_lane(lanes, [&](uint32_t lane) { std::memcpy(values + lane * bytes, ops[lane]->value, bytes); });
  for_each_lane(lanes, [&](uint32_t lane) {
    const uint32_t wanted = static_cast<uint32_t>(ops[lane]->source_lane + MUTANT(simt_shuffle_next_lane)) % kWarpSize;
    const uint32_t source = lanes >> wanted & 1 ? wanted : lane;
    std::memcpy(ops[lane]->result, values + source * bytes, bytes);
  });
}

void give_all(WarpOp* const* ops, uint32_t lanes, uint64_t result) {
  for_each_lane(lanes, [&](uint32_t lane) { std::memcpy(ops[lane]->result, &result, ops[lane]->bytes); });
}

uint32_t lanes_with(WarpOp* const* ops, uint32_t lanes, uint64_t value) {
  uint32_t found = 0;
  for_each_lane(lanes, [&](uint32_t lane) { found |= uint32_t{ops[lane]->predicate == value} << lane; });
  return found;
}

uint32_t lanes_that_say_yes(WarpOp* const* ops, uint32_t lanes) {
  uint32_t yes = 0;
  for_each_lane(lanes, [&](uint32_t lane) { yes |= uint32_t{ops[lane]->predicate != 0} << lane; });
  return yes;
}

void match_any(WarpOp* const* ops, uint32_t lanes) {
  for_each_lane(lanes, [&](uint32_t lane) {
    const uint64_t found = lanes_with(ops, lanes, ops[lane]->predicate);
    std::memcpy(ops[lane]->result, &found, ops[lane]->bytes);
  });
}

uint64_t combine(WarpOpKind kind, bool is_signed, uint64_t a, uint64_t b) {
  const bool less = is_signed ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  switch (kind) {
    case WarpOpKind::kReduceAdd:
      return a + b;
    case WarpOpKind::kReduceMin:
      return less ? a : b;
    case WarpOpKind::kReduceMax:
      return less ? b : a;
    case WarpOpKind::kReduceAnd:
      return a & b;
    case WarpOpKind::kReduceOr:
      return a | b;
    default:
      return a ^ b;
  }
}

void reduce(WarpOp* const* ops, uint32_t lanes) {
  const WarpOp& first = *ops[std::countr_zero(lanes)];
  uint64_t result = first.predicate;
  for_each_lane(lanes & (lanes - 1),
                [&](uint32_t lane) { result = combine(first.kind, first.is_signed, result, ops[lane]->predicate); });
  give_all(ops, lanes, result);
}

void compute(WarpOp* const* ops, uint32_t lanes) {
  const WarpOp& first = *ops[std::countr_zero(lanes)];
  switch (first.kind) {
    case WarpOpKind::kSync:
      return;
    case WarpOpKind::kShuffle:
      return shuffle(ops, lanes);
    case WarpOpKind::kBallot:
      return give_all(ops, lanes, lanes_that_say_yes(ops, lanes));
    case WarpOpKind::kMatchAny:
      return match_any(ops, lanes);
    case WarpOpKind::kMatchAll:
      return give_all(ops, lanes, lanes_with(ops, lanes, first.predicate) == lanes ? lanes : 0);
    default:
      return reduce(ops, lanes);
  }
}

std::string misuse(uint32_t lane, const WarpOp& op, uint32_t other_lane, const WarpOp& other) {
  return fmt::format(
      "lanes of one warp met in different warp operations: lane {} came with {}(mask {:#x}) at {}, but lane {} waits "
      "for "
      "it in {}(mask {:#x}) at {}; all lanes of a mask must call the same operation with the same mask",
      lane, name_of(op.kind), op.mask, describe_line(op.call_site), other_lane, name_of(other.kind), other.mask,
      describe_line(other.call_site));
}

bool same_operation(const WarpOp& a, const WarpOp& b) {
  return a.mask == b.mask && a.kind == b.kind && a.bytes == b.bytes && a.is_signed == b.is_signed;
}

// The group with the mask of `op`; null if it would be a new one.
WarpGroup* find_group(WarpState& warp, uint32_t mask) {
  for (uint32_t i = 0; i < warp.group_count; ++i) {
    if (warp.groups[i].mask == mask) return &warp.groups[i];
  }
  return nullptr;
}

// A lane that waits for `lane`, while `lane` comes with another operation and waits for it: neither can go on.
bool find_conflict(const WarpState& warp, uint32_t lane, const WarpOp& op, uint32_t& other_lane) {
  for (uint32_t i = 0; i < warp.group_count; ++i) {
    const WarpGroup& group = warp.groups[i];
    const uint32_t common = group.arrived & op.mask;
    if (common == 0 || !(group.mask >> lane & 1)) continue;
    other_lane = static_cast<uint32_t>(std::countr_zero(common));
    if (!same_operation(op, *warp.ops[other_lane])) return true;
  }
  return false;
}

void complete(Block& block, uint32_t warp_index, WarpGroup& group, uint32_t running_lane) {
  WarpState& warp = block.warps[warp_index];
  const uint32_t lanes = group.arrived;
  group = warp.groups[--warp.group_count];
  compute(warp.ops, lanes);
  block.note_release();
  for_each_lane(lanes, [&](uint32_t lane) {
    if (lane == running_lane) return;
    block.push_ready(warp_index * kWarpSize + lane);
    --block.gathering;
  });
}

}  // namespace

WarpArrival arrive_at_warp_op(Block& block, uint32_t lane, WarpOp& op, std::string& why) {
  const uint32_t warp_index = lane / kWarpSize;
  const uint32_t in_warp = lane % kWarpSize;
  WarpState& warp = block.warps[warp_index];
  if (!(op.mask >> in_warp & 1)) [[unlikely]] {
    why = fmt::format("lane {} of the warp called {} with mask {:#x}, which does not contain it, at {}", in_warp,
                      name_of(op.kind), op.mask, describe_line(op.call_site));
    return WarpArrival::kMisuse;
  }
  uint32_t other = 0;
  if (find_conflict(warp, in_warp, op, other)) [[unlikely]] {
    why = misuse(in_warp, op, other, *warp.ops[other]);
    return WarpArrival::kMisuse;
  }
  WarpGroup* group = find_group(warp, op.mask);
  if (!group) {
    group = &warp.groups[warp.group_count++];
    *group = {op.mask, 0};
  }
  group->arrived |= uint32_t{1} << in_warp;
  warp.ops[in_warp] = &op;
  const uint32_t missing = op.mask & ~block.exited[warp_index] & ~group->arrived;
  if (missing != 0) return WarpArrival::kWait;
  complete(block, warp_index, *group, in_warp);
  return WarpArrival::kComplete;
}

void release_complete_groups(Block& block, uint32_t warp_index) {
  WarpState& warp = block.warps[warp_index];
  for (uint32_t i = 0; i < warp.group_count;) {
    WarpGroup& group = warp.groups[i];
    if ((group.mask & ~block.exited[warp_index] & ~group.arrived) == 0) {
      complete(block, warp_index, group, kWarpSize);
    } else {
      ++i;
    }
  }
}

}  // namespace anygin::simt
