// WatchClient: the watch of a rank that is a process, a thread with a connection to the job's
// server. Private to the library.
#pragma once

#include "gradus/distributed/job/watch.h"
#include "gradus/distributed/net/frame.h"
#include "gradus/distributed/net/socket.h"
#include "gradus/tensor/base/thread.h"

namespace gradus::distributed {

class WatchClient final : public Watch {
 public:
  // server: a connection of kind "watch" that it has welcomed; received: what it has sent since.
  WatchClient(Socket server, std::string received, int rank, Milliseconds timeout);
  ~WatchClient() override;

  void open(const std::string& group, const std::vector<int>& ranks) override;
  void start(const std::string& group, uint64_t sequence, const std::string& call) override;
  void finish(const std::string& group, uint64_t sequence) override;
  void leave() override;
  void give_up(const std::string& why) override;

 private:
  void post(const Frame& frame);
  void run();
  bool hear();
  void lose_server(const std::string& how);

  int rank_;
  std::string received_;
  Socket socket_, wake_;
  Clock::time_point heard_;
  bool closing_ = false;  // the server has said that it ends
  std::mutex mutex_;      // guards what follows
  Unsent unsent_;
  std::string last_call_;
  bool leaves_ = false;
  detail::Thread thread_;
};

}  // namespace gradus::distributed
