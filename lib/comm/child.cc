// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/child.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include "anygin/base/mutant.h"
#include "anygin/comm/wire_bytes.h"

namespace anygin::comm {
namespace {

using Parts = std::vector<std::string>;

std::vector<Rank> all_ranks(const Communicator& parent) {
  std::vector<Rank> ranks(static_cast<size_t>(parent.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Of all ranks. An ordinary collective call as long as the parent has not ended, so that a rank in another one is
// named.
Result<Parts> gather_all(Communicator& parent, const char* what, const std::string& mine) {
  if (parent.revoked()) return parent.plane().gather_among(all_ranks(parent), what, mine);
  Result<std::vector<Gift>> gifts = parent.plane().all_gather(what, Gift{mine, -1});
  if (!gifts.ok()) return gifts.status();
  Parts parts;
  for (Gift& gift : *gifts) parts.push_back(std::move(gift.bytes));
  return parts;
}

// The place, or why there is none.
std::string pack_place(const Result<UniqueId>& place) {
  char bytes[kUniqueIdBytes] = {};
  const Status status = place.ok() ? encode_unique_id(*place, bytes) : place.status();
  return ByteWriter()
      .number(static_cast<uint8_t>(status.cause()))
      .text(status.text())
      .text({bytes, sizeof(bytes)})
      .take();
}

Result<UniqueId> unpack_place(const std::string& part) {
  ByteReader in(part);
  const auto cause = in.number<uint8_t>();
  const std::string why = in.text();
  const std::string text = in.text();
  if (!in.ok() || text.size() != kUniqueIdBytes) {
    return Status(Cause::kProtocol, "communicator", "a rank named its meeting place in another form");
  }
  if (cause != 0) return Status(cause_of_number(cause), "communicator", "opening a meeting place: " + why);
  char bytes[kUniqueIdBytes];
  std::memcpy(bytes, text.data(), sizeof(bytes));
  return decode_unique_id(bytes);
}

// `members`: ranks of the parent, in the order of the child.
CommunicatorOpening opening_for(Communicator& parent, const std::vector<Rank>& members, const UniqueId& id) {
  CommunicatorOpening opening;
  opening.id = id;
  opening.size = static_cast<int>(members.size());
  opening.rank = static_cast<Rank>(std::find(members.begin(), members.end(), parent.rank()) - members.begin());
  opening.device = parent.device();
  opening.seat =
      MUTANT(comm_child_forgets_seats) ? kAnySeat : parent.layout().seat_of_rank[static_cast<size_t>(parent.rank())];
  if (parent.ended()) parent.give_device_back();
  return opening;
}

}  // namespace

Result<UniqueId> open_own_place() {
  Options own = options();
  own.nccl_comm_id.clear();
  return ProcessState::get().carrier().open_place(own);
}

Result<std::optional<CommunicatorOpening>> plan_split(Communicator& parent, const SplitWish& wish) {
  Result<Parts> wishes =
      gather_all(parent, "ncclCommSplit: colors", ByteWriter().number(wish.color).number(wish.key).take());
  if (!wishes.ok()) return wishes.status();
  std::vector<std::pair<int, Rank>> ordered;  // (key, rank) of this color
  for (Rank rank = 0; rank < parent.size(); ++rank) {
    ByteReader in((*wishes)[static_cast<size_t>(rank)]);
    const auto color = in.number<int>();
    const auto key = in.number<int>();
    if (color == wish.color) ordered.emplace_back(MUTANT(comm_split_ignores_keys) ? 0 : key, rank);
  }
  std::sort(ordered.begin(), ordered.end());
  const bool takes_part = wish.color >= 0;
  const bool leads = takes_part && ordered.front().second == parent.rank();
  Result<Parts> places =
      gather_all(parent, "ncclCommSplit: meeting places", leads ? pack_place(open_own_place()) : std::string());
  if (!places.ok()) return places.status();
  if (!takes_part) return std::optional<CommunicatorOpening>();
  std::vector<Rank> members;
  for (const auto& [key, rank] : ordered) members.push_back(rank);
  Result<UniqueId> place = unpack_place((*places)[static_cast<size_t>(members.front())]);
  if (!place.ok()) return place.status();
  return std::optional(opening_for(parent, members, *place));
}

Result<std::optional<CommunicatorOpening>> plan_shrink(Communicator& parent, const std::vector<Rank>& excluded) {
  std::vector<Rank> members;
  const std::vector<Rank> all = all_ranks(parent);
  std::set_difference(all.begin(), all.end(), excluded.begin(), excluded.end(), std::back_inserter(members));
  const bool leads = members.front() == parent.rank();
  Result<Parts> places =
      parent.plane().gather_among(members, fmt::format("ncclCommShrink without rank {}", fmt::join(excluded, ", ")),
                                  leads ? pack_place(open_own_place()) : std::string());
  if (!places.ok()) return places.status();
  Result<UniqueId> place = unpack_place(places->front());
  if (!place.ok()) return place.status();
  return std::optional(opening_for(parent, members, *place));
}

Result<std::optional<CommunicatorOpening>> plan_grow(Communicator& parent, const GrowWish& wish) {
  const std::string mine = ByteWriter().number(wish.size).text(wish.id ? pack_place(*wish.id) : std::string()).take();
  Result<Parts> wishes = gather_all(parent, "ncclCommGrow: meeting place", mine);
  if (!wishes.ok()) return wishes.status();
  std::string place;
  for (Rank rank = 0; rank < parent.size(); ++rank) {
    ByteReader in((*wishes)[static_cast<size_t>(rank)]);
    const auto size = in.number<int>();
    const std::string theirs = in.text();
    if (place.empty()) place = theirs;
    if (size == wish.size) continue;
    return Status(
        Cause::kCallMismatch, "ncclCommGrow",
        fmt::format("ranks disagree: rank {} grows to {} ranks, rank {} to {}", parent.rank(), wish.size, rank, size));
  }
  if (place.empty()) {
    return Status(Cause::kUniqueIdInvalid, "ncclCommGrow",
                  "no rank of the communicator has an id; one of them has to call ncclCommGetUniqueId first");
  }
  Result<UniqueId> id = unpack_place(place);
  if (!id.ok()) return id.status();
  CommunicatorOpening opening = opening_for(parent, all_ranks(parent), *id);
  opening.size = wish.size;
  return std::optional(opening);
}

}  // namespace anygin::comm
