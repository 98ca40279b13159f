// Server: a thread in rank 0's process that keeps the store and watches the ranks of a job. Private
// to the library.
//
// A client must send a greeting with the job's token within a few seconds; otherwise the server
// closes its connection. Where many clients have not sent it, the one that came first goes: a
// client without the token cannot delay the others, nor keep them out.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>

#include "gradus/distributed/job/monitor.h"
#include "gradus/distributed/job/store.h"
#include "gradus/distributed/net/frame.h"
#include "gradus/distributed/net/socket.h"
#include "gradus/tensor/base/thread.h"

namespace gradus::distributed {

// {kProtocol, token, kind, rank}: the first frame of a connection of kind "store" or "watch".
inline constexpr const char* kProtocol = "gradus job 1";

class Server {
 public:
  // Errors: those of listen_at; ValueError where other machines could reach the address and there
  // is no token.
  Server(const std::string& address, int port, std::string token);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return port_; }
  // Watches the ranks' calls from now on. Each call may take up to `timeout`.
  void watch(Milliseconds timeout);
  // Waits until all ranks have left, for at most `timeout`.
  void await_departures(Milliseconds timeout);

 private:
  enum class Kind { stranger, store, watch };
  struct Connection {
    Socket socket;
    Clock::time_point since;
    Kind kind = Kind::stranger;
    int rank = -1;
    std::string in;
    Unsent out;
    bool ends = false;  // once `out` is sent
    bool broken = false;
    // A request that waits for keys, and what to answer then.
    std::vector<std::string> awaited;
    bool wants_value = false;
    Clock::time_point deadline;
  };

  void run();
  void poll_once();
  void accept_clients();
  void receive(Connection& c);
  void greet(Connection& c, const Frame& frame);
  void serve_store(Connection& c, const Frame& frame);
  void serve_watch(Connection& c, const Frame& frame);
  void answer_waiting();
  void announce();
  void drop_dead();
  void send(Connection& c, const Frame& frame);
  int timeout_of_poll();

  std::string token_;
  Socket listener_, wake_;
  int port_;
  std::mutex mutex_;  // guards monitor_, timeout_ and watched_
  std::condition_variable departed_;
  std::optional<Monitor> monitor_;
  Milliseconds timeout_{60000};
  int watched_ = 0;
  bool announced_ = false;
  // False after accept() failed, as without free descriptors: one poll then leaves the listener
  // out, or the thread would spin.
  bool accepts_ = true;
  Clock::time_point last_beat_;
  KeyTable table_;
  std::list<Connection> connections_;
  std::atomic<bool> ends_ = false;
  detail::Thread thread_;
};

}  // namespace gradus::distributed
