// Listening, connecting, reading and writing with deadlines.
#include "gradus/tensor/base/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>

#include "gradus/tensor/base/error.h"

namespace gradus::detail {

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

constexpr std::chrono::milliseconds kPause{20};  // between attempts

std::string endpoint(const std::string& address, int port) {
  return address + ":" + std::to_string(port);
}

// A name server that is busy is asked again until the deadline.
Addresses resolve(const std::string& address, int port, Clock::time_point deadline = {}) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int status = 0;
  while ((status = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found)) ==
             EAI_AGAIN &&
         Clock::now() < deadline)
    std::this_thread::sleep_for(kPause);
  check<Error>(status == 0, "the address '", address,
               "' is not known: ", static_cast<const char*>(gai_strerror(status)));
  return Addresses(found, &freeaddrinfo);
}

// Not open where the system has no such addresses; errno says why.
Socket open(const addrinfo& address) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (socket.is_open()) setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

// 0, or the reason.
int try_connect(const Socket& socket, const addrinfo& address, Clock::time_point deadline) {
  if (!socket.is_open()) return errno;
  if (connect(socket.fd(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!await(socket, true, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

void Socket::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Socket listen_at(const std::string& address, int port, const std::string& remedy) {
  const Addresses found = resolve(address, port);
  Socket socket = open(*found);
  const int on = 1;
  const bool listens =
      socket.is_open() && setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      bind(socket.fd(), found->ai_addr, found->ai_addrlen) == 0 && listen(socket.fd(), 128) == 0;
  check<Error>(listens, "cannot listen at ", endpoint(address, port), ": ",
               static_cast<const char*>(std::strerror(errno)), "; ", remedy);
  return socket;
}

int port_of(const Socket& listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

bool is_loopback(const std::string& address) {
  const Addresses found = resolve(address, 0);
  if (found->ai_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(found->ai_addr)->sin6_addr);
  return ntohl(reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr.s_addr) >> 24 == 127;
}

Socket connect_to(const std::string& address, int port, Clock::time_point deadline) {
  constexpr Clock::duration kMost = std::chrono::seconds(3);
  int reason = ETIMEDOUT;
  do {
    const Addresses found = resolve(address, port, deadline);
    for (const addrinfo* at = found.get(); at; at = at->ai_next) {
      Socket socket = open(*at);
      // An address that is silent leaves time for the others.
      const auto now = Clock::now();
      reason = try_connect(socket, *at, now + std::min(kMost, (deadline - now) / 2));
      if (reason == 0) return socket;
    }
    std::this_thread::sleep_for(kPause);
  } while (Clock::now() < deadline);
  fail<Error>("cannot reach ", endpoint(address, port), ": ",
              static_cast<const char*>(std::strerror(reason)), "; did rank 0 start there?");
}

Socket accept_from(const Socket& listener) {
  Socket socket(accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const int on = 1;
  if (socket.is_open()) setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

bool await(const Socket& socket, bool writable, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd entry{socket.fd(), static_cast<short>(writable ? POLLOUT : POLLIN), 0};
    const auto most = std::clamp<decltype(left)>(left, 0, std::numeric_limits<int>::max());
    const int ready = poll(&entry, 1, static_cast<int>(most));
    if (ready > 0) return true;
    if (ready < 0 ? errno != EINTR : Clock::now() >= deadline) return false;
  }
}

bool read_some(const Socket& socket, std::string& buffer) {
  char chunk[65536];
  const ssize_t count = recv(socket.fd(), chunk, sizeof chunk, 0);
  if (count > 0) buffer.append(chunk, static_cast<size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

bool write_some(const Socket& socket, Unsent& unsent) {
  if (unsent.empty()) return true;
  const ssize_t count =
      send(socket.fd(), unsent.bytes_.data() + unsent.sent_, unsent.size(), MSG_NOSIGNAL);
  if (count > 0) unsent.sent_ += static_cast<size_t>(count);
  if (unsent.sent_ >= unsent.size()) {
    unsent.bytes_.erase(0, unsent.sent_);
    unsent.sent_ = 0;
  }
  return count >= 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace gradus::detail
