// TCPStore: a store for processes; one of them runs its server.
#pragma once

#include "gradus/distributed/job/store.h"
#include "gradus/tensor/base/thread.h"

namespace gradus::detail {
class Socket;
}

namespace gradus::distributed {

class Server;
using detail::Socket;

class TCPStore final : public Store {
 public:
  // is_master: runs the server at exactly that address; port 0 means any free port. Other processes
  // connect there and wait for the server to start. The server refuses clients without the token;
  // without a token the address must be the machine's loopback.
  // Errors: Error where the port is taken, nobody serves in time, or the token is wrong; ValueError
  // where the token is missing.
  TCPStore(const std::string& host_name, int port, bool is_master = false,
           std::chrono::milliseconds timeout = std::chrono::minutes(5),
           const std::string& token = "", int rank = -1);
  ~TCPStore() override;

  const std::string& host() const { return host_; }
  int port() const { return port_; }
  const std::string& token() const { return token_; }
  // Null unless is_master.
  Server* server() const { return server_.get(); }

  using Store::wait;
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired) override;
  void wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) override;
  bool check(const std::vector<std::string>& keys) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;

 private:
  using Request = std::vector<std::string>;
  std::string ask(const Request& request, std::chrono::milliseconds patience);
  std::string ask(const Request& request) { return ask(request, timeout()); }

  detail::HomeProcess home_;
  std::string host_, token_;
  int port_;
  std::unique_ptr<Server> server_;
  std::mutex mutex_;  // one request at a time
  std::unique_ptr<Socket> socket_;
  std::string received_;
};

// A connection that the server has welcomed. One that breaks before is tried again until the
// store's timeout, with longer and longer pauses. Errors: as TCPStore. Private to the library.
Socket connect_as(const std::string& kind, int rank, const TCPStore& store, std::string& received);

}  // namespace gradus::distributed
