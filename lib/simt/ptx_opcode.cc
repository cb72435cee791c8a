// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/ptx_opcode.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace anygin::simt {
namespace {

using Parts = std::vector<std::string_view>;

class OpcodeDecoder {
 public:
  explicit OpcodeDecoder(PtxInstruction* instruction) : now_(*instruction) {}

  bool opcode(const Parts& parts) {
    const std::string_view base = parts[0];
    if (base == "ld" || base == "ldu" || base == "st") return memory(parts);
    if (base == "atom" || base == "red") return atomic(parts);
    if (base == "multimem") return multimem(parts);
    if (base == "mov" || base == "cvta" || base == "mapa") return simple(PtxOp::kMove, parts);
    if (base == "nanosleep") return simple(PtxOp::kNanosleep, parts);
    if (base == "fence" || base == "membar") return simple(PtxOp::kFence, {});
    if (base == "exit" || base == "ret") return simple(PtxOp::kExit, {});
    if (base == "trap") return simple(PtxOp::kTrap, {});
    if (base == "bra") return simple(PtxOp::kBranch, {});
    if (base == "activemask") return simple(PtxOp::kActiveMask, parts);
    if (base == "elect") return parts.size() > 1 && parts[1] == "sync" && simple(PtxOp::kElect, {});
    if (base == "createpolicy") return simple(PtxOp::kConstant, parts);
    if (base == "setp") return set_predicate(parts);
    if (base == "selp") return simple(PtxOp::kSelect, parts);
    if (base == "cvt") return conversion(parts);
    if (base == "prefetch" || base == "prefetchu" || base == "griddepcontrol" || base == "setmaxnreg" ||
        base == "discard" || base == "applypriority") {
      return simple(PtxOp::kNothing, {});
    }
    if ((base == "bar" || base == "barrier") && parts.size() > 1) {
      if (parts[1] == "warp") return simple(PtxOp::kWarpBarrier, {});
      if (parts[1] == "cluster") return cluster_barrier(parts);
      const std::string_view what = parts[1] == "cta" && parts.size() > 2 ? parts[2] : parts[1];
      return (what == "sync" && simple(PtxOp::kBarrier, {})) || (what == "arrive" && simple(PtxOp::kNamedArrive, {}));
    }
    if (base == "shfl" || base == "vote" || base == "match" || base == "redux") return of_warp(parts);
    if (base == "mbarrier" && parts.size() > 2) return memory_barrier(parts);
    if (base == "cp" && parts.size() > 2 && parts[1] == "async") return copy(parts);
    return arithmetic(parts);
  }

 private:
  // A cluster is one block: its arrival needs nothing, its wait is the block's barrier.
  bool cluster_barrier(const Parts& parts) {
    const bool waits = parts.size() > 2 && parts[2] == "wait";
    if (!waits) return parts.size() > 2 && parts[2] == "arrive" && simple(PtxOp::kNothing, {});
    now_.operands.push_back(PtxOperand());  // barrier 0
    return simple(PtxOp::kBarrier, {});
  }

  // shfl.sync.up.b32, vote.sync.any.pred, match.any.sync.b32, redux.sync.add.s32
  bool of_warp(const Parts& parts) {
    static const std::map<std::string_view, PtxForm> kForms = {
        {"up", PtxForm::kUp},   {"down", PtxForm::kDown}, {"bfly", PtxForm::kButterfly}, {"idx", PtxForm::kIndex},
        {"all", PtxForm::kAll}, {"any", PtxForm::kAny},   {"uni", PtxForm::kUniform},    {"ballot", PtxForm::kBallot}};
    static const std::map<std::string_view, PtxOp> kOps = {
        {"shfl", PtxOp::kShuffle}, {"vote", PtxOp::kVote}, {"match", PtxOp::kMatch}, {"redux", PtxOp::kReduceLanes}};
    if (parts.size() != 4 || !simple(kOps.at(parts[0]), parts)) return false;
    const bool sync_last = now_.op == PtxOp::kMatch;
    if (parts[sync_last ? 2 : 1] != "sync") return false;
    const std::string_view what = parts[sync_last ? 1 : 2];
    if (now_.op == PtxOp::kReduceLanes) {
      const auto found = atomics().find(what);
      if (found == atomics().end() || found->second >= PtxAtomic::kExchange) return false;
      now_.atomic = found->second;
      return now_.bytes == 4 && now_.type != PtxType::kFloat;
    }
    const auto found = kForms.find(what);
    if (found == kForms.end()) return false;
    now_.form = found->second;
    const bool shuffles = now_.form <= PtxForm::kIndex;
    if (now_.op == PtxOp::kMatch) return now_.form == PtxForm::kAny || now_.form == PtxForm::kAll;
    return shuffles == (now_.op == PtxOp::kShuffle);
  }

  // mbarrier.arrive.expect_tx.shared::cta.b64, mbarrier.try_wait.parity.shared.b64
  bool memory_barrier(const Parts& parts) {
    static const std::map<std::string_view, PtxOp> kOps = {
        {"init", PtxOp::kBarrierInit},        {"inval", PtxOp::kNothing},
        {"expect_tx", PtxOp::kBarrierExpect}, {"complete_tx", PtxOp::kBarrierComplete},
        {"arrive", PtxOp::kBarrierArrive},    {"test_wait", PtxOp::kBarrierTest},
        {"try_wait", PtxOp::kBarrierTest}};
    const auto found = kOps.find(parts[1]);
    if (found == kOps.end() || parts.back() != "b64") return false;
    for (size_t i = 2; i + 1 < parts.size(); ++i) {
      if (parts[i] == "parity" && found->second == PtxOp::kBarrierTest) {
        now_.form = PtxForm::kParity;
      } else if (parts[i] == "expect_tx" && found->second == PtxOp::kBarrierArrive) {
        now_.form = PtxForm::kExpect;
      } else if (!is_qualifier(parts[i]) && parts[i] != "shared::cluster" && !order(parts[i])) {
        return false;
      }
    }
    return simple(found->second, parts);
  }

  // Copies are done at once: what groups them or waits for them does nothing.
  bool copy(const Parts& parts) {
    const bool bulk = parts[2] == "bulk";
    const std::string_view what = bulk && parts.size() > 3 ? parts[3] : parts[2];
    if (what == "commit_group" || what == "wait_group" || what == "wait_all" || what == "prefetch")
      return simple(PtxOp::kNothing, {});
    if (what == "mbarrier") {  // .arrive: without .noinc it counts itself in first, and so changes nothing
      const bool counts = parts.size() > 4 && parts[4] == "noinc";
      return simple(counts ? PtxOp::kBarrierArrive : PtxOp::kNothing, {});
    }
    now_.form = bulk ? PtxForm::kBulk : PtxForm::kPlain;
    bool barrier = false;
    for (size_t i = bulk ? 3 : 2; i < parts.size(); ++i) {
      barrier |= parts[i] == "mbarrier::complete_tx::bytes";
      const bool known = parts[i] == "mbarrier::complete_tx::bytes" || parts[i] == "bulk_group" ||
                         parts[i] == "shared::cluster" || parts[i] == "L2::cache_hint" || is_qualifier(parts[i]);
      if (!known) return false;  // tensors, multicast
    }
    now_.has_result = barrier;  // the bytes are counted at an mbarrier
    return simple(PtxOp::kCopy, {});
  }

  bool arithmetic(const Parts& parts) {
    static const std::map<std::string_view, PtxMath> kMath = {{"add", PtxMath::kAdd},
                                                              {"sub", PtxMath::kSubtract},
                                                              {"mul", PtxMath::kMultiplyLow},
                                                              {"mad", PtxMath::kMultiplyAddLow},
                                                              {"fma", PtxMath::kFusedMultiplyAdd},
                                                              {"div", PtxMath::kDivide},
                                                              {"rem", PtxMath::kRemainder},
                                                              {"min", PtxMath::kMin},
                                                              {"max", PtxMath::kMax},
                                                              {"and", PtxMath::kAnd},
                                                              {"or", PtxMath::kOr},
                                                              {"xor", PtxMath::kXor},
                                                              {"not", PtxMath::kNot},
                                                              {"shl", PtxMath::kShiftLeft},
                                                              {"shr", PtxMath::kShiftRight},
                                                              {"neg", PtxMath::kNegate},
                                                              {"abs", PtxMath::kAbsolute},
                                                              {"rcp", PtxMath::kReciprocal},
                                                              {"sqrt", PtxMath::kSquareRoot},
                                                              {"rsqrt", PtxMath::kReciprocalRoot},
                                                              {"ex2", PtxMath::kExponential},
                                                              {"lg2", PtxMath::kLogarithm},
                                                              {"sin", PtxMath::kSine},
                                                              {"cos", PtxMath::kCosine},
                                                              {"tanh", PtxMath::kTanh},
                                                              {"popc", PtxMath::kPopulation},
                                                              {"clz", PtxMath::kLeadingZeros},
                                                              {"brev", PtxMath::kReverse}};
    const auto found = kMath.find(parts[0]);
    if (found == kMath.end()) return false;
    now_.op = PtxOp::kMath;
    now_.math = found->second;
    for (size_t i = 1; i + 1 < parts.size(); ++i) {
      const std::string_view part = parts[i];
      const bool product = now_.math == PtxMath::kMultiplyLow || now_.math == PtxMath::kMultiplyAddLow;
      if (part == "sat") {
        now_.saturate = true;
      } else if (part == "wide" && product) {
        now_.math = now_.math == PtxMath::kMultiplyLow ? PtxMath::kMultiplyWide : PtxMath::kMultiplyAddWide;
      } else if (part == "hi" && now_.math == PtxMath::kMultiplyLow) {
        now_.math = PtxMath::kMultiplyHigh;
      } else if (part != "lo" && part != "rn" && part != "approx" && part != "ftz" && part != "full" && part != "NaN") {
        return false;
      }
    }
    return parts.size() > 1 && type(parts.back());
  }

  bool set_predicate(const Parts& parts) {
    static const std::map<std::string_view, PtxCompare> kCompares = {
        {"eq", PtxCompare::kEqual},       {"ne", PtxCompare::kNotEqual},  {"lt", PtxCompare::kLess},
        {"le", PtxCompare::kLessEqual},   {"gt", PtxCompare::kGreater},   {"ge", PtxCompare::kGreaterEqual},
        {"lo", PtxCompare::kLess},        {"ls", PtxCompare::kLessEqual}, {"hi", PtxCompare::kGreater},
        {"hs", PtxCompare::kGreaterEqual}};
    if (parts.size() < 3) return false;
    const auto found = kCompares.find(parts[1]);
    if (found == kCompares.end()) return false;
    now_.compare = found->second;
    return (parts.size() == 3 || (parts.size() == 4 && parts[2] == "ftz")) && simple(PtxOp::kCompare, parts);
  }

  // cvt.rn.f16.f32, cvt.rzi.s32.f32, cvt.u64.u32
  bool conversion(const Parts& parts) {
    now_.op = PtxOp::kConvert;
    if (parts.size() < 3 || !type(parts.back())) return false;
    now_.from_type = now_.type;
    now_.from_bytes = now_.bytes;
    if (!type(parts[parts.size() - 2])) return false;
    for (size_t i = 1; i + 2 < parts.size(); ++i) {
      const std::string_view part = parts[i];
      now_.saturate |= part == "sat";
      now_.toward_zero |= part == "rzi";
      if (part != "sat" && part != "rzi" && part != "rni" && part != "rn" && part != "ftz") return false;
    }
    return now_.packed == 1;
  }

  bool multimem(const Parts& parts) {
    if (parts.size() < 3) return false;
    now_.order = PtxOrder::kRelaxed;
    const bool store = parts[1] == "st";
    now_.op = store ? PtxOp::kMultimemStore : parts[1] == "red" ? PtxOp::kMultimemReduce : PtxOp::kMultimemLoad;
    if (now_.op == PtxOp::kMultimemLoad && parts[1] != "ld_reduce") return false;
    for (size_t i = 2; i + 1 < parts.size(); ++i) {
      const std::string_view part = parts[i];
      const auto found = atomics().find(part);
      if (found != atomics().end() && found->second < PtxAtomic::kExchange && !store) {
        now_.atomic = found->second;
      } else if (part == "v2" || part == "v4" || part == "v8") {
        now_.vector = static_cast<uint8_t>(part[1] - '0');
      } else if (part != "acc::f32" && part != "acc::f16" && !is_qualifier(part) && !order(part)) {
        return false;
      }
    }
    return type(parts.back()) && now_.bytes <= 8 && (store || now_.atomic != PtxAtomic::kNone);
  }

  // The type is the last part, if parts are given.
  bool simple(PtxOp op, const Parts& parts) {
    now_.op = op;
    return parts.empty() || type(parts.back());
  }

  bool type(std::string_view text) {
    now_.packed = 1;
    if (text == "pred") {
      now_.type = PtxType::kPredicate;
      now_.bytes = 4;
      return true;
    }
    if (text.size() > 2 && text.substr(text.size() - 2) == "x2") {
      const bool half = text == "f16x2", brain = text == "bf16x2";
      now_.type = half ? PtxType::kFloat : PtxType::kBrain;
      now_.bytes = 4;
      now_.packed = 2;
      return half || brain;
    }
    if (text == "bf16") {
      now_.type = PtxType::kBrain;
      now_.bytes = 2;
      return true;
    }
    static const std::map<char, PtxType> kTypes = {
        {'u', PtxType::kUnsigned}, {'s', PtxType::kSigned}, {'b', PtxType::kBits}, {'f', PtxType::kFloat}};
    const auto found = text.empty() ? kTypes.end() : kTypes.find(text[0]);
    const auto bits = ptx_number(text.substr(std::min<size_t>(1, text.size())));
    if (found == kTypes.end() || !bits) return false;
    if (*bits != 8 && *bits != 16 && *bits != 32 && *bits != 64 && *bits != 128) return false;
    now_.type = found->second;
    now_.bytes = static_cast<uint8_t>(*bits / 8);
    return true;
  }

  static bool is_qualifier(std::string_view part) {
    static constexpr std::string_view kWords[] = {
        "cta", "cluster", "gpu", "sys", "global", "shared", "shared::cta", "local", "const", "param",  "weak",
        "ca",  "cg",      "cs",  "lu",  "cv",     "nc",     "wb",          "wt",    "noftz", "unified"};
    return std::find(std::begin(kWords), std::end(kWords), part) != std::end(kWords) ||
           (part.substr(0, 4) == "L1::" && part != "L1::cache_hint") ||
           (part.substr(0, 4) == "L2::" && part != "L2::cache_hint");
  }

  bool order(std::string_view part) {
    static const std::map<std::string_view, PtxOrder> kOrders = {
        {"relaxed", PtxOrder::kRelaxed}, {"volatile", PtxOrder::kRelaxed}, {"mmio", PtxOrder::kRelaxed},
        {"acquire", PtxOrder::kAcquire}, {"release", PtxOrder::kRelease},  {"acq_rel", PtxOrder::kAcquireRelease}};
    const auto found = kOrders.find(part);
    if (found != kOrders.end()) now_.order = found->second;
    return found != kOrders.end();
  }

  bool memory(const Parts& parts) {
    now_.op = parts[0] == "st" ? PtxOp::kStore : PtxOp::kLoad;
    for (size_t i = 1; i + 1 < parts.size(); ++i) {
      if (parts[i] == "v2" || parts[i] == "v4" || parts[i] == "v8") {
        now_.vector = static_cast<uint8_t>(parts[i][1] - '0');
      } else if (!is_qualifier(parts[i]) && !order(parts[i])) {
        return false;
      }
    }
    const bool fits = now_.order == PtxOrder::kWeak || now_.order == PtxOrder::kRelaxed ||
                      (now_.order == PtxOrder::kAcquire) == (now_.op == PtxOp::kLoad);
    return parts.size() > 1 && fits && type(parts.back());
  }

  static const std::map<std::string_view, PtxAtomic>& atomics() {
    static const std::map<std::string_view, PtxAtomic> kAtomics = {
        {"add", PtxAtomic::kAdd},       {"min", PtxAtomic::kMin},
        {"max", PtxAtomic::kMax},       {"and", PtxAtomic::kAnd},
        {"or", PtxAtomic::kOr},         {"xor", PtxAtomic::kXor},
        {"exch", PtxAtomic::kExchange}, {"cas", PtxAtomic::kCompareAndSwap}};
    return kAtomics;
  }

  bool atomic(const Parts& parts) {
    now_.op = PtxOp::kAtomic;
    now_.order = PtxOrder::kRelaxed;
    now_.has_result = parts[0] == "atom";
    for (size_t i = 1; i + 1 < parts.size(); ++i) {
      const auto found = atomics().find(parts[i]);
      if (found != atomics().end()) {
        now_.atomic = found->second;
      } else if (!is_qualifier(parts[i]) && !order(parts[i])) {
        return false;
      }
    }
    if (now_.atomic == PtxAtomic::kNone || !type(parts.back())) return false;
    return now_.bytes == 4 || now_.bytes == 8;
  }

  PtxInstruction& now_;
};

}  // namespace

std::optional<int64_t> ptx_number(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") {
    base = 16;
    text.remove_prefix(2);
  }
  while (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.remove_suffix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

bool decode_ptx_opcode(const std::vector<std::string_view>& parts, PtxInstruction* instruction) {
  return OpcodeDecoder(instruction).opcode(parts);
}

}  // namespace anygin::simt
