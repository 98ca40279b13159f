// HttpServer: a thread that answers browsers of this machine. Private to the library.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <optional>
#include <string>

#include "gradus/tensor/base/socket.h"
#include "gradus/tensor/base/thread.h"

namespace gradus::watch::detail {

using gradus::detail::Clock, gradus::detail::Socket, gradus::detail::Unsent;

struct HttpContent {
  std::string type, body;
};

// Each connection has one request and one answer, and little time for both. The oldest of too many
// connections is closed, so that none keeps others out.
class HttpServer {
 public:
  // Nothing where there is no such path. Called on the server's thread.
  using Answer = std::function<std::optional<HttpContent>(const std::string& path)>;

  // Listens at 127.0.0.1; port 0 is any that is free. `op` begins messages.
  // Errors: ValueError for a number that is no port; Error where the port is taken.
  HttpServer(const std::string& op, int port, Answer answer);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }

 private:
  struct Connection {
    Socket socket;
    Clock::time_point deadline;
    std::string in;
    Unsent out;
    bool answered = false;
    bool ended = false;  // by the client, which may still read
    bool is_shut = false;
    bool broken = false;
  };

  void run();
  void poll_once();
  void accept_clients();
  void serve(Connection& c, bool is_readable);
  std::string answer_to(std::string_view request);

  Answer answer_;
  Socket listener_, wake_;
  int port_ = 0;
  bool accepts_ = true;  // false after accept() failed, as without free descriptors
  std::list<Connection> connections_;
  std::atomic<bool> ends_ = false;
  gradus::detail::Thread thread_;
};

}  // namespace gradus::watch::detail
