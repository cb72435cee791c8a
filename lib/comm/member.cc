// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/member.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/comm/wire_bytes.h"

namespace anygin::comm {
namespace {

void put(ByteWriter& out, const Member& member) {
  out.number(member.rank).number(member.size).number(member.device).number(member.seat).number(member.pid);
  out.number(member.start_time).number(member.process_nonce).text(member.listener);
  out.number(static_cast<uint32_t>(member.agreed.size()));
  for (const auto& [name, value] : member.agreed) out.text(name).text(value);
}

Member get(ByteReader& in) {
  Member member;
  member.rank = in.number<Rank>();
  member.size = in.number<int>();
  member.device = in.number<int>();
  member.seat = in.number<Seat>();
  member.pid = in.number<uint32_t>();
  member.start_time = in.number<uint64_t>();
  member.process_nonce = in.number<uint64_t>();
  member.listener = in.text();
  const auto count = in.number<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string name = in.text();
    std::string value = in.text();
    member.agreed.emplace_back(std::move(name), std::move(value));
  }
  return member;
}

}  // namespace

std::string pack(const Member& member) {
  return pack(std::vector<Member>{member});
}

std::string pack(const std::vector<Member>& members) {
  ByteWriter out;
  out.number(static_cast<uint32_t>(members.size()));
  for (const Member& member : members) put(out, member);
  return out.take();
}

std::vector<Member> unpack_members(std::string_view bytes, bool* ok) {
  ByteReader in(bytes);
  std::vector<Member> members;
  const auto count = in.number<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); ++i) members.push_back(get(in));
  *ok = in.ok() && in.at_end();
  return members;
}

Status check_agreement(const std::vector<Member>& members) {
  const Member& first = members.front();
  for (const Member& other : members) {
    const size_t count = std::min(first.agreed.size(), other.agreed.size());
    for (size_t i = 0; i < count; ++i) {
      if (first.agreed[i] == other.agreed[i]) continue;
      return Status(
          Cause::kSettingsDiffer, "communicator",
          fmt::format("{} must be the same on all ranks: rank {} has \"{}\", rank {} has \"{}\"", first.agreed[i].first,
                      first.rank, first.agreed[i].second, other.rank, other.agreed[i].second));
    }
    if (first.agreed.size() != other.agreed.size()) {
      return Status(Cause::kSettingsDiffer, "communicator",
                    fmt::format("ranks {} and {} run different versions of the library", first.rank, other.rank));
    }
  }
  return Status();
}

}  // namespace anygin::comm
