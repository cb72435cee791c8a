// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/net_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "anygin/base/env_real.h"

namespace anygin {
namespace {

constexpr uint64_t kWakeCookie = ~uint64_t{0};
constexpr int kBacklog = 4096;

Status system_error(std::string_view what) {
  return Status(Cause::kSystemCall, "socket", fmt::format("{}: {}", what, std::strerror(errno)));
}

int left_ms(uint64_t deadline_ns) {
  const uint64_t now = monotonic_ns();
  if (deadline_ns <= now) return 0;
  return static_cast<int>(std::min<uint64_t>((deadline_ns - now + 999'999) / 1'000'000, 1'000'000));
}

// True once one of `events` holds (or the socket is broken); false at the deadline.
bool wait_for(int fd, short events, uint64_t deadline_ns) {
  while (true) {
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, left_ms(deadline_ns));
    if (ready > 0) return true;
    if (ready == 0 && left_ms(deadline_ns) == 0) return false;
  }
}

bool tcp_address(const std::string& host, uint16_t port, sockaddr_in& out) {
  out = {};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  return ::inet_pton(AF_INET, host.c_str(), &out.sin_addr) == 1;
}

socklen_t unix_address(const std::string& name, sockaddr_un& out) {
  out = {};
  out.sun_family = AF_UNIX;
  ANYGIN_ASSERT(name.size() + 1 <= sizeof(out.sun_path));
  std::memcpy(out.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

Status bind_and_listen(const Socket& socket, const sockaddr* address, socklen_t bytes, const std::string& name) {
  if (::bind(socket.fd(), address, bytes) != 0) return system_error("cannot listen at " + name);
  if (::listen(socket.fd(), kBacklog) != 0) return system_error("cannot listen at " + name);
  return Status();
}

void no_delay(const Socket& socket) {
  const int on = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// While nobody listens at a port of the range that connections draw their own ports from, a connection may draw just
// that port and reach itself.
bool reached_itself(const Socket& socket) {
  sockaddr_in own{}, other{};
  socklen_t bytes = sizeof(own);
  ::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&own), &bytes);
  bytes = sizeof(other);
  ::getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&other), &bytes);
  return own.sin_port == other.sin_port && own.sin_addr.s_addr == other.sin_addr.s_addr;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Socket> listen_tcp(const std::string& host, uint16_t port, uint16_t* bound) {
  sockaddr_in address;
  if (!tcp_address(host, port, address)) {
    return Status(Cause::kAddressInvalid, "socket", fmt::format("\"{}\" is not an IPv4 address", host));
  }
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return system_error("cannot make a TCP socket");
  const int on = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  ANYGIN_TRY(bind_and_listen(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address),
                             fmt::format("{}:{}", host, port)));
  socklen_t bytes = sizeof(address);
  ::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &bytes);
  if (bound != nullptr) *bound = ntohs(address.sin_port);
  return socket;
}

Result<Socket> connect_tcp(const std::string& host, uint16_t port, uint64_t deadline_ns) {
  sockaddr_in address;
  if (!tcp_address(host, port, address)) {
    return Status(Cause::kAddressInvalid, "socket", fmt::format("\"{}\" is not an IPv4 address", host));
  }
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return system_error("cannot make a TCP socket");
  no_delay(socket);
  const std::string name = fmt::format("cannot connect to {}:{}", host, port);
  if (::connect(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno != EINPROGRESS) return system_error(name);
    if (!wait_for(socket.fd(), POLLOUT, deadline_ns)) return Status(Cause::kJoinTimeout, "socket", name);
    socklen_t bytes = sizeof(errno);
    int error = 0;
    ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    errno = error;
    if (error != 0) return system_error(name);
  }
  if (reached_itself(socket)) return Status(Cause::kConnectionClosed, "socket", name + ": nobody listens there");
  return socket;
}

Result<Socket> listen_unix(const std::string& name) {
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return system_error("cannot make a Unix socket");
  sockaddr_un address;
  const socklen_t bytes = unix_address(name, address);
  ANYGIN_TRY(bind_and_listen(socket, reinterpret_cast<sockaddr*>(&address), bytes, "@" + name));
  return socket;
}

Result<Socket> connect_unix(const std::string& name) {
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return system_error("cannot make a Unix socket");
  sockaddr_un address;
  const socklen_t bytes = unix_address(name, address);
  if (::connect(socket.fd(), reinterpret_cast<sockaddr*>(&address), bytes) != 0) {
    return system_error("cannot connect to @" + name);
  }
  return socket;
}

Result<Socket> accept_connection(const Socket& listener, uint64_t deadline_ns) {
  if (!wait_for(listener.fd(), POLLIN, deadline_ns)) {
    return Status(Cause::kJoinTimeout, "socket", "nobody connected in time");
  }
  Socket socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) return system_error("cannot accept a connection");
  no_delay(socket);
  return socket;
}

Result<PeerCredentials> credentials_of(const Socket& socket) {
  ucred credentials{};
  socklen_t bytes = sizeof(credentials);
  if (::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
    return system_error("cannot read the peer's credentials");
  }
  return PeerCredentials{static_cast<uint32_t>(credentials.pid), credentials.uid};
}

uint32_t own_user_id() {
  return ::geteuid();
}

Readable wait_readable(const Socket& socket, const Socket* watched, uint64_t deadline_ns) {
  while (true) {
    pollfd entries[2] = {{socket.fd(), POLLIN, 0}, {watched != nullptr ? watched->fd() : -1, POLLIN, 0}};
    const int ready = ::poll(entries, 2, left_ms(deadline_ns));
    if (ready > 0) return entries[0].revents != 0 ? Readable::kSocket : Readable::kWatched;
    if (ready == 0 && left_ms(deadline_ns) == 0) return Readable::kTimeout;
  }
}

Status send_all(const Socket& socket, std::string_view bytes, uint64_t deadline_ns) {
  while (!bytes.empty()) {
    const long sent = send_some(socket, bytes.data(), bytes.size(), -1);
    if (sent < 0) return Status(Cause::kConnectionClosed, "socket", "the other end closed the connection");
    bytes.remove_prefix(static_cast<size_t>(sent));
    if (sent == 0 && !wait_for(socket.fd(), POLLOUT, deadline_ns)) {
      return Status(Cause::kJoinTimeout, "socket", "the other end did not take the bytes in time");
    }
  }
  return Status();
}

Status receive_all(const Socket& socket, void* out, size_t bytes, uint64_t deadline_ns) {
  char* at = static_cast<char*>(out);
  while (bytes > 0) {
    if (!wait_for(socket.fd(), POLLIN, deadline_ns)) {
      return Status(Cause::kJoinTimeout, "socket", "the other end did not answer in time");
    }
    const ssize_t got = ::recv(socket.fd(), at, bytes, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      return Status(Cause::kConnectionClosed, "socket", "the other end closed the connection");
    }
    if (got > 0) at += got, bytes -= static_cast<size_t>(got);
  }
  return Status();
}

long send_some(const Socket& socket, const char* bytes, size_t count, int fd) {
  iovec part{const_cast<char*>(bytes), count};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
  }
  while (true) {
    const ssize_t sent = ::sendmsg(socket.fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) return -1;
  }
}

long receive_some(const Socket& socket, char* out, size_t count, std::vector<int>& fds) {
  iovec part{out, count};
  alignas(cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got = -1;
  do got = ::recvmsg(socket.fd(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; at + sizeof(int) <= header->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + at, sizeof(fd));
      fds.push_back(fd);
    }
  }
  return got == 0 ? -1 : got;
}

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  ANYGIN_ASSERT(epoll_.valid() && wake_.valid());
  add(wake_.fd(), kWakeCookie);
}

Poller::~Poller() = default;

void Poller::add(int fd, uint64_t cookie) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = cookie;
  const int added = ::epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event);
  ANYGIN_ASSERT(added == 0);
}

void Poller::want_writable(int fd, uint64_t cookie, bool wanted) {
  epoll_event event{};
  event.events = EPOLLIN | (wanted ? EPOLLOUT : 0u);
  event.data.u64 = cookie;
  ::epoll_ctl(epoll_.fd(), EPOLL_CTL_MOD, fd, &event);
}

void Poller::remove(int fd) {
  ::epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, fd, nullptr);
}

void Poller::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.fd(), &one, sizeof(one));
}

void Poller::wait(uint64_t timeout_ns, std::vector<Event>& out) {
  out.clear();
  epoll_event events[64];
  const int timeout_ms = static_cast<int>(std::min<uint64_t>((timeout_ns + 999'999) / 1'000'000, 1'000'000));
  const int ready = ::epoll_wait(epoll_.fd(), events, 64, timeout_ms);
  for (int i = 0; i < ready; ++i) {
    if (events[i].data.u64 == kWakeCookie) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t drained = ::read(wake_.fd(), &count, sizeof(count));
      continue;
    }
    const uint32_t bits = events[i].events;
    out.push_back(
        {events[i].data.u64, (bits & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0, (bits & EPOLLOUT) != 0});
  }
}

}  // namespace anygin
