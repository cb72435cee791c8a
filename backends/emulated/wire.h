// SPDX-License-Identifier: Apache-2.0
// The messages between flow_send and flow_receive, whatever fabric carries them. This file is the layout: no shift or
// offset of a message stands anywhere else. Little-endian; a header of 48 bytes, then the payload.
//
//   byte 0      kind            8 bits
//        1      flags           8 bits: 0 hint may_pass, 1 last chunk, 2 payload of the signal comes just before
//        2      status          8 bits: WireStatus
//        3      unsettled       8 bits: of a request: how many operations just before it may not be visible yet; all
//                               older ones are, also those that the initiator did by itself and never sent
//        4      queue_pair     32 bits: number of the receiver's queue pair
//        8      sequence       32 bits: of the operation in its flow
//        12     offset         32 bits: of the chunk in the operation
//        16     bytes          32 bits: payload behind this header; of a read request: 0
//        20     total          32 bits: bytes of the whole operation
//        24     rkey           32 bits
//        28     source_pair    32 bits: number of the sender's queue pair
//        32     address        64 bits: remote address of the whole operation
//        40     value          64 bits: what to add; in an acknowledgement of an add, the previous value
//
// The decoder trusts nothing: a header that could not have been encoded here is refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anygin::emulated {

inline constexpr uint32_t kChunkBytes = 64 * 1024;  // the most payload in a message
inline constexpr size_t kWireHeaderBytes = 48;

enum class MessageKind : uint8_t {
  kWrite = 1,         // a chunk of a put, payload follows
  kFetchAdd = 2,      // add `value` to the cell at `address`
  kRead = 3,          // send me `total` bytes from `address`
  kReadResponse = 4,  // a chunk of what was read, payload follows
  kAccepted = 5,      // operation `sequence` passed all checks and will become visible
  kVisible = 6,       // operation `sequence` is visible; of an add, with the previous value
  kCredit = 7,        // one chunk of a put that is not yet visible as a whole has left the target's buffers
  kNack = 8,          // operation `sequence` failed with `status`; nothing after it that must follow it happened
};

enum class WireStatus : uint8_t {
  kOk = 0,
  kRemoteAccess = 1,     // unknown key, outside the region, or not allowed
  kRemoteInvalid = 2,    // malformed, or misaligned atomic
  kRemoteOperation = 3,  // the target cannot do it: its queue pair is not ready or in error
};
inline constexpr uint8_t kWireStatusMax = 3;

struct Message {
  MessageKind kind = MessageKind::kWrite;
  bool may_pass = false;
  bool last = false;
  bool grouped = false;
  WireStatus status = WireStatus::kOk;
  uint8_t unsettled = 0;
  uint32_t queue_pair = 0;
  uint32_t sequence = 0;
  uint32_t offset = 0;
  uint32_t bytes = 0;
  uint32_t total = 0;
  uint32_t rkey = 0;
  uint32_t source_pair = 0;
  uint64_t address = 0;
  uint64_t value = 0;

  friend bool operator==(const Message&, const Message&) = default;
};

// Asserts that the message is one that decode_message() accepts.
void encode_message(const Message& message, char (&out)[kWireHeaderBytes]);

// Decodes a header and checks it against the `available` bytes (header and payload) that came. False: malformed;
// `*out` then holds the fields as read, of which queue_pair and source_pair may be used to find whom to blame.
bool decode_message(const char* data, size_t available, Message* out);

}  // namespace anygin::emulated
