// Socket: TCP connections whose every wait has a deadline. Private to the library.
#pragma once

#include <chrono>
#include <string>
#include <utility>

namespace gradus::detail {

using Clock = std::chrono::steady_clock;

// Owns a non-blocking descriptor, which is closed on exec.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) close(), fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// Listens at exactly that address, a name or a number; port 0 is any that is free.
// Errors: Error with the address, the reason and the remedy. A reason is that the port is taken.
Socket listen_at(const std::string& address, int port, const std::string& remedy);
int port_of(const Socket& listener);
// Whether only this machine can reach the address. Errors: Error where it is not an address.
bool is_loopback(const std::string& address);
// Tries each address of the name in turn until someone listens there. Errors: Error after the
// deadline, or where the name has no address.
Socket connect_to(const std::string& address, int port, Clock::time_point deadline);
// The next connection of a listener, where there is one.
Socket accept_from(const Socket& listener);
// Waits for the socket to become readable (or writable). False at the deadline.
bool await(const Socket& socket, bool writable, Clock::time_point deadline);

// Appends the bytes that have come. False at the end of the connection.
bool read_some(const Socket& socket, std::string& buffer);
// Bytes that wait to be sent. Bytes that have been sent are removed now and then, since each
// removal moves the rest.
class Unsent {
 public:
  Unsent() = default;
  explicit Unsent(std::string bytes) : bytes_(std::move(bytes)) {}
  void add(const std::string& bytes) { bytes_ += bytes; }
  bool empty() const { return size() == 0; }
  size_t size() const { return bytes_.size() - sent_; }

 private:
  friend bool write_some(const Socket& socket, Unsent& unsent);

  std::string bytes_;
  size_t sent_ = 0;
};
// Sends what can be sent at once. False at the end of the connection.
bool write_some(const Socket& socket, Unsent& unsent);

}  // namespace gradus::detail
