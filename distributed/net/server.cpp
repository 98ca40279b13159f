// The server's loop: connections, the store's requests, reports of ranks.
#include "gradus/distributed/net/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

namespace {

constexpr auto kGreetingTime = std::chrono::seconds(5);
constexpr std::ptrdiff_t kMaxStrangers = 64;
constexpr int kAcceptedAtOnce = 16;
constexpr size_t kMaxUnsent = size_t{128} << 20;

// Takes as long for every wrong token.
bool same_secret(const std::string& a, const std::string& b) {
  unsigned difference = a.size() != b.size();
  for (size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^
                  static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return difference == 0;
}

}  // namespace

Server::Server(const std::string& address, int port, std::string token)
    : token_(std::move(token)), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  check(!token_.empty() || is_loopback(address), "TCPStore: others can reach ", address,
        ", so a job token is needed: set GRADUS_JOB_TOKEN to one secret text at all ranks");
  listener_ = listen_at(address, port, "choose another MASTER_PORT, or an address of this machine");
  port_ = port_of(listener_);
  thread_ = detail::Thread("TCPStore: the server", [this] { run(); });
}

Server::~Server() {
  if (!thread_.is_here()) return;  // the server is that of the process that was forked
  ends_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.fd(), &one, sizeof one);
  thread_.join();
}

void Server::watch(Milliseconds timeout) {
  const std::lock_guard lock(mutex_);
  timeout_ = timeout;
  monitor_.emplace(timeout);
}

void Server::await_departures(Milliseconds timeout) {
  std::unique_lock lock(mutex_);
  departed_.wait_for(lock, timeout, [&] { return watched_ == 0; });
}

void Server::run() {
  while (!ends_) poll_once();
  for (Connection& c : connections_) {  // what can be said at once still is
    if (c.kind == Kind::watch) send(c, {"closing"});
    write_some(c.socket, c.out);
  }
}

int Server::timeout_of_poll() {
  const std::lock_guard lock(mutex_);
  const auto period = std::clamp(timeout_ / 8, Milliseconds(5), Milliseconds(250));
  return static_cast<int>(period.count());
}

void Server::poll_once() {
  const auto wanted = static_cast<short>(std::exchange(accepts_, true) ? POLLIN : 0);
  std::vector<pollfd> entries{{listener_.fd(), wanted, 0}, {wake_.fd(), POLLIN, 0}};
  for (const Connection& c : connections_)
    entries.push_back(
        {c.socket.fd(), static_cast<short>(POLLIN | (c.out.empty() ? 0 : POLLOUT)), 0});
  poll(entries.data(), entries.size(), timeout_of_poll());
  auto entry = entries.begin() + 2;
  const std::lock_guard lock(mutex_);
  for (Connection& c : connections_)
    if ((entry++)->revents & (POLLIN | POLLHUP | POLLERR)) receive(c);
  if (entries[0].revents & POLLIN) accept_clients();
  answer_waiting();
  announce();
  for (Connection& c : connections_)
    if (!write_some(c.socket, c.out) || c.out.size() > kMaxUnsent) c.broken = true;
  drop_dead();
}

void Server::accept_clients() {
  const auto is_stranger = [](const Connection& c) { return c.kind == Kind::stranger; };
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    Socket socket = accept_from(listener_);
    if (!socket.is_open()) {
      accepts_ = i > 0;
      return;
    }
    Connection& c = connections_.emplace_back();
    c.socket = std::move(socket);
    c.since = Clock::now();
    receive(c);  // a rank's greeting has often come already
    if (std::ranges::count_if(connections_, is_stranger) > kMaxStrangers)
      connections_.erase(std::ranges::find_if(connections_, is_stranger));
  }
}

void Server::receive(Connection& c) {
  if (!read_some(c.socket, c.in)) c.broken = true;
  while (!c.ends) {
    Frame frame;
    const size_t limit = c.kind == Kind::stranger ? kMaxGreeting : kMaxFrame;
    const Decoded decoded = decode(c.in, limit, frame);
    if (decoded == Decoded::garbled) c.broken = true;
    if (decoded != Decoded::frame) return;
    if (c.kind == Kind::stranger)
      greet(c, frame);
    else if (c.kind == Kind::store)
      serve_store(c, frame);
    else
      serve_watch(c, frame);
  }
}

// A frame that is too long to be sent ends the connection, and not this thread.
void Server::send(Connection& c, const Frame& frame) {
  try {
    c.out.add(encode(frame));
  } catch (const ValueError&) {
    c.broken = true;
  }
}

void Server::greet(Connection& c, const Frame& frame) {
  int64_t rank = -1;
  if (frame.size() != 4 || frame[0] != kProtocol || !read_number(frame[3], rank) ||
      (frame[2] != "store" && frame[2] != "watch")) {
    c.broken = true;
  } else if (!same_secret(frame[1], token_)) {
    send(c, {"refused", "its job token is not that of rank 0; set GRADUS_JOB_TOKEN alike"});
    c.ends = true;
  } else {
    c.kind = frame[2] == "store" ? Kind::store : Kind::watch;
    c.rank = static_cast<int>(rank);
    watched_ += c.kind == Kind::watch;
    if (c.kind == Kind::watch && !monitor_) monitor_.emplace(timeout_);
    send(c, {"welcome"});
    if (c.kind == Kind::watch && monitor_ && monitor_->failure())
      send(c, {"failed", *monitor_->failure()});
  }
}

void Server::serve_store(Connection& c, const Frame& frame) {
  const auto is = [&](const char* op, size_t arguments) {
    return frame[0] == op && frame.size() == arguments + 1;
  };
  int64_t number = 0;
  if (frame.empty()) {
    c.broken = true;
  } else if (is("set", 2)) {
    table_.set(frame[1], frame[2]);
    send(c, {"ok"});
  } else if (is("add", 2) && read_number(frame[2], number)) {
    try {
      send(c, {"ok", std::to_string(table_.add(frame[1], number))});
    } catch (const Error& error) {
      send(c, {"error", error.what()});
    }
  } else if (is("compare_set", 3)) {
    send(c, {"ok", table_.compare_set(frame[1], frame[2], frame[3])});
  } else if (frame[0] == "check") {
    send(c, {"ok", table_.contains({frame.begin() + 1, frame.end()}) ? "1" : "0"});
  } else if (is("delete", 1)) {
    send(c, {"ok", table_.erase(frame[1]) ? "1" : "0"});
  } else if (is("count", 0)) {
    send(c, {"ok", std::to_string(table_.size())});
  } else if (frame.size() > 2 && (is("get", 2) || frame[0] == "wait") &&
             read_number(frame[1], number)) {
    c.awaited.assign(frame.begin() + 2, frame.end());
    c.wants_value = frame[0] == "get";
    c.deadline = Clock::now() + Milliseconds(std::clamp<int64_t>(number, 0, INT32_MAX));
  } else {
    c.broken = true;
  }
}

void Server::answer_waiting() {
  for (Connection& c : connections_) {
    if (c.awaited.empty()) continue;
    if (table_.contains(c.awaited)) {
      send(c, c.wants_value ? Frame{"ok", *table_.find(c.awaited[0])} : Frame{"ok"});
    } else if (Clock::now() >= c.deadline) {
      send(c, {"timeout"});
    } else {
      continue;
    }
    c.awaited.clear();
  }
}

void Server::serve_watch(Connection& c, const Frame& frame) {
  const auto is = [&](const char* op, size_t arguments) {
    return frame[0] == op && frame.size() == arguments + 1;
  };
  int64_t number = 0;
  if (frame.empty()) {
    c.broken = true;
  } else if (is("start", 3) && read_number(frame[2], number)) {
    monitor_->start(c.rank, frame[1], static_cast<uint64_t>(number), frame[3], Clock::now());
  } else if (is("finish", 2) && read_number(frame[2], number)) {
    monitor_->finish(c.rank, frame[1], static_cast<uint64_t>(number));
  } else if (frame[0] == "open" && frame.size() > 2) {
    std::vector<int> ranks;
    for (size_t i = 2; i < frame.size() && read_number(frame[i], number); ++i)
      ranks.push_back(static_cast<int>(number));
    monitor_->open(c.rank, frame[1], ranks);
  } else if (is("give_up", 1)) {
    monitor_->lose(c.rank, frame[1]);
  } else if (is("leave", 0)) {
    monitor_->leave(c.rank);
    c.ends = true;
  } else {
    c.broken = true;
  }
}

// Tells all ranks of a failure once, and now and then that this process lives.
void Server::announce() {
  if (!monitor_) return;
  monitor_->check_time(Clock::now());
  const bool news = monitor_->failure() && !announced_;
  const bool beat = Clock::now() - last_beat_ >= timeout_ / 8;
  if (beat) last_beat_ = Clock::now();
  for (Connection& c : connections_) {
    if (c.kind != Kind::watch || c.ends) continue;
    if (news)
      send(c, {"failed", *monitor_->failure()});
    else if (beat)
      send(c, {"alive"});
  }
  announced_ |= news;
}

void Server::drop_dead() {
  const auto late = [](const Connection& c) {
    return c.kind == Kind::stranger && Clock::now() - c.since > kGreetingTime;
  };
  std::erase_if(connections_, [&](const Connection& c) {
    if (!c.broken && !late(c) && !(c.ends && c.out.empty())) return false;
    if (c.kind == Kind::watch) {
      if (!c.ends)
        monitor_->lose(c.rank, "ended without destroy_process_group (its connection closed)");
      if (--watched_ == 0) departed_.notify_all();
    }
    return true;
  });
}

}  // namespace gradus::distributed
