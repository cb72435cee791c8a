// SPDX-License-Identifier: Apache-2.0
// Sockets of the control plane: TCP to find each other, Unix sockets (abstract names, Linux) between ranks of a host.
// Deadlines are of monotonic_ns(). A Socket is used by one thread at a time unless a function says otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anygin/base/status.h"

namespace anygin {

// Owns a file descriptor; closed on exec.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int fd() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// IPv4 only. Port 0 lets the kernel choose; `*bound` (may be null) gets the port.
Result<Socket> listen_tcp(const std::string& host, uint16_t port, uint16_t* bound);
// One attempt; kTimeout when the deadline passes, kSystemError when refused.
Result<Socket> connect_tcp(const std::string& host, uint16_t port, uint64_t deadline_ns);
// Abstract Unix stream sockets: no file, gone with the process.
Result<Socket> listen_unix(const std::string& name);
Result<Socket> connect_unix(const std::string& name);
// kTimeout when nobody comes before the deadline.
Result<Socket> accept_connection(const Socket& listener, uint64_t deadline_ns);

struct PeerCredentials {
  uint32_t pid = 0, uid = 0;
};
// Of the process at the other end of a Unix socket, as the kernel saw it connect or listen.
Result<PeerCredentials> credentials_of(const Socket& socket);
uint32_t own_user_id();

// Waits until `socket` can be read (end of file counts). `watched` (may be null) ends the wait too.
enum class Readable : uint8_t { kSocket, kWatched, kTimeout };
Readable wait_readable(const Socket& socket, const Socket* watched, uint64_t deadline_ns);

// All or nothing; end of file and errors are kSystemError, a passed deadline kTimeout.
Status send_all(const Socket& socket, std::string_view bytes, uint64_t deadline_ns);
Status receive_all(const Socket& socket, void* out, size_t bytes, uint64_t deadline_ns);

// Never block. Both return how many bytes moved, 0 if none can now, -1 if the connection is gone.
// `fd` (-1: none) goes with the first byte.
long send_some(const Socket& socket, const char* bytes, size_t count, int fd);
// Descriptors that came along are appended to `fds`; they are the caller's to close.
long receive_some(const Socket& socket, char* out, size_t count, std::vector<int>& fds);

// Which of many sockets are ready. One thread waits; the others may call all the rest.
class Poller {
 public:
  struct Event {
    uint64_t cookie = 0;
    bool readable = false;  // or at its end
    bool writable = false;
  };

  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  void add(int fd, uint64_t cookie);
  void want_writable(int fd, uint64_t cookie, bool wanted);
  void remove(int fd);
  void wake();
  void wait(uint64_t timeout_ns, std::vector<Event>& out);

 private:
  Socket epoll_, wake_;
};

}  // namespace anygin
