// The thread that reports a rank's calls to the server and hears of failures.
#include "gradus/distributed/net/watch_client.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

namespace gradus::distributed {

WatchClient::WatchClient(Socket server, std::string received, int rank, Milliseconds timeout)
    : Watch(std::make_shared<Failure>(), timeout),
      rank_(rank),
      received_(std::move(received)),
      socket_(std::move(server)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      heard_(Clock::now()) {
  thread_ = detail::Thread("init_process_group: the watch", [this] { run(); });
}

WatchClient::~WatchClient() {
  if (!thread_.is_here()) return;  // the rank is the process that was forked
  leave();
  thread_.join();
}

void WatchClient::post(const Frame& frame) {
  const std::lock_guard lock(mutex_);
  if (leaves_) return;
  unsent_.add(encode(frame));
  leaves_ = frame[0] == "leave";
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.fd(), &one, sizeof one);
}

void WatchClient::open(const std::string& group, const std::vector<int>& ranks) {
  Frame frame{"open", group};
  for (const int rank : ranks) frame.push_back(std::to_string(rank));
  post(frame);
}
void WatchClient::start(const std::string& group, uint64_t sequence, const std::string& call) {
  post({"start", group, std::to_string(sequence), call});
  const std::lock_guard lock(mutex_);
  last_call_ = "operation " + std::to_string(sequence) + " of group '" + group + "', " + call;
}
void WatchClient::finish(const std::string& group, uint64_t sequence) {
  post({"finish", group, std::to_string(sequence)});
}
void WatchClient::leave() { post({"leave"}); }

// The server makes the message that all ranks get; this one waits for it, unless the server is
// gone.
void WatchClient::give_up(const std::string& why) {
  post({"give_up", why});
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(2);
  while (!failure().happened() && Clock::now() < deadline)
    std::this_thread::sleep_for(Milliseconds(1));
  failure().happen("distributed: rank " + std::to_string(rank_) + ' ' + why);
}

void WatchClient::run() {
  const auto period = std::clamp(timeout() / 8, Milliseconds(5), Milliseconds(500));
  while (true) {
    bool writes, leaves;
    {
      const std::lock_guard lock(mutex_);
      if (!write_some(socket_, unsent_)) return lose_server("closed its connection");
      writes = !unsent_.empty();
      leaves = leaves_;
    }
    if (leaves && !writes) return;
    pollfd entries[] = {{socket_.fd(), static_cast<short>(POLLIN | (writes ? POLLOUT : 0)), 0},
                        {wake_.fd(), POLLIN, 0}};
    poll(entries, 2, static_cast<int>(period.count()));
    if (entries[1].revents) {
      uint64_t count;
      [[maybe_unused]] const ssize_t read_bytes = read(wake_.fd(), &count, sizeof count);
    }
    if (entries[0].revents & (POLLIN | POLLHUP | POLLERR)) {
      if (!hear()) return lose_server("ended (its connection closed)");
      heard_ = Clock::now();
    } else if (Clock::now() - heard_ > timeout()) {
      return lose_server("has not been heard of for " + in_seconds(timeout()));
    }
  }
}

// Reads what the server says. False at the end of the connection.
bool WatchClient::hear() {
  const bool open = read_some(socket_, received_);
  Frame frame;
  while (decode(received_, kMaxFrame, frame) == Decoded::frame) {
    if (frame.size() == 2 && frame[0] == "failed") failure().happen(frame[1]);
    closing_ |= !frame.empty() && frame[0] == "closing";
  }
  return open;
}

void WatchClient::lose_server(const std::string& how) {
  std::string last;
  {
    const std::lock_guard lock(mutex_);
    if (leaves_ || closing_) return;
    last = last_call_;
  }
  failure().happen("distributed: rank 0, which serves the job, " + how +
                   (last.empty() ? "" : ", while this rank's last call was " + last));
}

}  // namespace gradus::distributed
