// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/link.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace anygin::comm {
namespace {

constexpr uint32_t kMagic = 0x4c474e41;  // "ANGL"
constexpr uint64_t kBytesMax = uint64_t{64} << 20;

struct Header {
  uint32_t magic = kMagic;
  MessageType type = MessageType::kGather;
  uint16_t has_fd = 0;
  uint64_t sequence = 0;
  uint32_t kind_bytes = 0;
  uint32_t body_bytes = 0;
};
static_assert(sizeof(Header) == 24);

}  // namespace

std::string encode(const Message& message) {
  ANYGIN_ASSERT(message.kind.size() + message.bytes.size() < kBytesMax);
  Header header;
  header.type = message.type;
  header.has_fd = message.fd >= 0 ? 1 : 0;
  header.sequence = message.sequence;
  header.kind_bytes = static_cast<uint32_t>(message.kind.size());
  header.body_bytes = static_cast<uint32_t>(message.bytes.size());
  std::string out(reinterpret_cast<const char*>(&header), sizeof(header));
  return out.append(message.kind).append(message.bytes);
}

std::optional<Message> take_message(std::string& buffer, bool* has_fd, bool* broken) {
  *broken = false;
  if (buffer.size() < sizeof(Header)) return std::nullopt;
  Header header;
  std::memcpy(&header, buffer.data(), sizeof(header));
  const uint64_t body = uint64_t{header.kind_bytes} + header.body_bytes;
  *broken = header.magic != kMagic || body >= kBytesMax;
  if (*broken || buffer.size() - sizeof(Header) < body) return std::nullopt;
  Message message;
  message.type = header.type;
  message.sequence = header.sequence;
  message.kind = buffer.substr(sizeof(Header), header.kind_bytes);
  message.bytes = buffer.substr(sizeof(Header) + header.kind_bytes, header.body_bytes);
  *has_fd = header.has_fd != 0;
  buffer.erase(0, sizeof(Header) + body);
  return message;
}

Link::Link(ControlThread& thread, Receiver& receiver, int peer, Socket socket)
    : thread_(thread), receiver_(receiver), peer_(peer), socket_(std::move(socket)) {}

Link::~Link() {
  stop();
  for (const int fd : fds_) ::close(fd);
}

void Link::start() {
  const std::lock_guard lock(mutex_);
  id_ = thread_.add(socket_.fd(), *this);
  (void)flush_locked();
}

void Link::stop() {
  ControlThread::ClientId id = 0;
  {
    const std::lock_guard lock(mutex_);
    std::swap(id, id_);
  }
  if (id != 0) thread_.remove(id);
}

bool Link::send(const Message& message) {
  const std::lock_guard lock(mutex_);
  if (gone_) return false;
  Outgoing item{encode(message), Socket()};
  if (message.fd >= 0) item.fd = Socket(::fcntl(message.fd, F_DUPFD_CLOEXEC, 0));
  outgoing_.push_back(std::move(item));
  return flush_locked();
}

// True while the connection stands; what did not fit leaves when there is room.
bool Link::flush_locked() {
  while (!outgoing_.empty()) {
    Outgoing& first = outgoing_.front();
    const long sent = send_some(socket_, first.bytes.data(), first.bytes.size(), first.fd.fd());
    if (sent < 0) {
      gone_ = true;
      outgoing_.clear();
      return false;
    }
    if (sent == 0) break;
    first.fd = Socket();
    first.bytes.erase(0, static_cast<size_t>(sent));
    if (first.bytes.empty()) outgoing_.pop_front();
  }
  if (id_ != 0 && wants_writable_ != !outgoing_.empty()) {
    wants_writable_ = !outgoing_.empty();
    thread_.want_writable(id_, wants_writable_);
  }
  return true;
}

void Link::on_writable() {
  const std::lock_guard lock(mutex_);
  if (!gone_) (void)flush_locked();
}

void Link::on_readable() {
  char chunk[16384];
  while (true) {
    const long got = receive_some(socket_, chunk, sizeof(chunk), fds_);
    if (got > 0) incoming_.append(chunk, static_cast<size_t>(got));
    bool has_fd = false, broken = false;
    while (std::optional<Message> message = take_message(incoming_, &has_fd, &broken)) {
      if (has_fd && !fds_.empty()) {
        message->fd = fds_.front();
        fds_.erase(fds_.begin());
      }
      receiver_.on_message(peer_, std::move(*message));
    }
    if (got < 0 || broken) return end();
    if (got < static_cast<long>(sizeof(chunk))) return;
  }
}

void Link::end() {
  ControlThread::ClientId id = 0;
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    outgoing_.clear();
    id = id_;
  }
  thread_.remove(id);
  receiver_.on_end(peer_);
}

}  // namespace anygin::comm
