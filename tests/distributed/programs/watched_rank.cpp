// watched_rank HOST PORT RANK SIZE TIMEOUT_MS: a rank that barriers until the job fails. Says the
// message, and ends with 3. Its group goes through the store, which serves as a backend where there
// is no other.
#include <cstdlib>
#include <iostream>

#include "gradus/distributed/collectives.h"
#include "gradus/distributed/net/server.h"
#include "gradus/distributed/net/watch_client.h"
#include "gradus/distributed/tcp_store.h"

namespace gradus::distributed {
namespace {

class StoreGroup final : public ProcessGroup {
 public:
  StoreGroup(Members members, Store& store) : ProcessGroup(std::move(members)), store_(store) {}
  ~StoreGroup() override { join(); }

  const char* backend() const override { return "store"; }
  void check_device(const char*, Device) const override {}
  void barrier() override {
    const std::string key = "barrier " + std::to_string(++barriers_);
    if (store_.add(key, 1) == size()) store_.set(key + " done", "");
    while (!store_.check({key + " done"})) check_failure();
  }
  void broadcast(const Tensor&, int) override { barrier(); }
  void all_reduce(const Tensor&, ReduceOp) override { barrier(); }
  void all_gather(const Tensor&, const Tensor&) override { barrier(); }
  void reduce_scatter(const Tensor&, const Tensor&, ReduceOp) override { barrier(); }
  void all_to_all(const Tensor&, const Counts&, const Tensor&, const Counts&) override {
    barrier();
  }
  WorkPtr send(const Tensor&, int, int) override { return nullptr; }
  WorkPtr recv(const Tensor&, int, int) override { return nullptr; }

 private:
  Store& store_;
  int barriers_ = 0;
};

int run(char** arguments) {
  const int port = std::atoi(arguments[2]), rank = std::atoi(arguments[3]),
            size = std::atoi(arguments[4]);
  const Milliseconds timeout(std::atoi(arguments[5]));
  try {
    TCPStore store(arguments[1], port, rank == 0, Milliseconds(5000), "token", rank);
    if (store.server()) {
      store.server()->watch(timeout);
      store.set("watched", "");
    }
    store.get("watched");  // what is said before that is lost
    store.set_timeout(Milliseconds(1000));
    std::string received;
    Socket server = connect_as("watch", rank, store, received);
    const auto watch =
        std::make_shared<WatchClient>(std::move(server), std::move(received), rank, timeout);
    std::vector<int> ranks;
    for (int r = 0; r < size; ++r) ranks.push_back(r);
    const auto group =
        std::make_shared<StoreGroup>(ProcessGroup::Members{"world", ranks, rank, watch}, store);
    try {
      for (int i = 0;; ++i) {
        distributed::barrier(group);
        if (i == 0) std::cout << "begun" << std::endl;
      }
    } catch (const Error& first) {
      // The store may end before the watch has reported that.
      const auto deadline = Clock::now() + std::chrono::seconds(5);
      while (!watch->failure().happened() && Clock::now() < deadline) continue;
      watch->failure().check();
      std::cout << "without a failure: " << first.what() << std::endl;
      return 5;
    }
  } catch (const DistributedError& error) {
    std::cout << error.what() << std::endl;
    return 3;
  } catch (const std::exception& error) {
    std::cout << "other: " << error.what() << std::endl;
    return 4;
  }
  return 0;
}

}  // namespace
}  // namespace gradus::distributed

int main(int, char** arguments) { return gradus::distributed::run(arguments); }
