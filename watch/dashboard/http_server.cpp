// The loop over the connections.
#include "gradus/watch/dashboard/http_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "gradus/tensor/base/error.h"
#include "gradus/watch/dashboard/http.h"

namespace gradus::watch::detail {

namespace {

constexpr auto kRequestTime = std::chrono::seconds(5), kAnswerTime = std::chrono::seconds(20),
               kEndTime = std::chrono::seconds(1);
constexpr size_t kMostConnections = 16;
constexpr int kPollTime = 250;  // ms: how late a deadline is seen
constexpr int kLargestPort = 65535;

int checked_port(const std::string& op, int port) {
  check(port >= 0 && port <= kLargestPort, op, ": port ", port, ", expected 1 to ", kLargestPort,
        ", or 0 for any that is free");
  return port;
}

std::string error_page(const std::string& status) {
  return http_response(status, "text/plain", status + "\n");
}

}  // namespace

HttpServer::HttpServer(const std::string& op, int port, Answer answer)
    : answer_(std::move(answer)), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  checked_port(op, port);
  try {
    listener_ = gradus::detail::listen_at("127.0.0.1", port,
                                          "give another port, or 0 for any that is free");
  } catch (const Error& error) {
    fail<Error>(op, ": ", std::string(error.what()));
  }
  port_ = port_of(listener_);
  thread_ = gradus::detail::Thread(op + ": the server", [this] { run(); });
}

HttpServer::~HttpServer() {
  if (!thread_.is_here()) return;  // the thread is that of the process that was forked
  ends_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.fd(), &one, sizeof one);
  thread_.join();
}

void HttpServer::run() {
  while (!ends_) try {
      poll_once();
    } catch (const std::exception&) {  // no memory: the clients ask again
      connections_.clear();
    }
}

void HttpServer::poll_once() {
  const bool is_calm = connections_.empty() && accepts_;
  std::vector<pollfd> entries{
      {listener_.fd(), static_cast<short>(std::exchange(accepts_, true) ? POLLIN : 0), 0},
      {wake_.fd(), POLLIN, 0}};
  for (const Connection& c : connections_)
    entries.push_back({c.socket.fd(),
                       static_cast<short>((c.ended ? 0 : POLLIN) | (c.out.empty() ? 0 : POLLOUT)),
                       0});
  poll(entries.data(), entries.size(), is_calm ? -1 : kPollTime);
  auto entry = entries.begin() + 2;
  for (Connection& c : connections_)
    serve(c, ((entry++)->revents & (POLLIN | POLLHUP | POLLERR)) != 0);
  if (entries[0].revents & POLLIN) accept_clients();
  const auto now = Clock::now();
  connections_.remove_if([&](const Connection& c) { return c.broken || now > c.deadline; });
}

void HttpServer::accept_clients() {
  Socket socket = accept_from(listener_);
  accepts_ = socket.is_open();
  if (!accepts_) return;
  if (connections_.size() == kMostConnections) connections_.pop_front();
  Connection& c = connections_.emplace_back();
  c.socket = std::move(socket);
  c.deadline = Clock::now() + kRequestTime;
}

void HttpServer::serve(Connection& c, bool is_readable) {
  if (is_readable && !read_some(c.socket, c.in)) c.ended = true;
  if (c.answered) {
    c.in.clear();
  } else if (parse_request(c.in).status != HttpRequest::Status::kIncomplete) {
    c.out.add(answer_to(c.in));
    c.answered = true;
    c.deadline = Clock::now() + kAnswerTime;
  }
  if (!write_some(c.socket, c.out) || (c.ended && c.out.empty())) c.broken = true;
  if (!c.answered || !c.out.empty() || c.is_shut) return;
  // Closed with bytes that were not read, the connection would drop the end of the answer.
  shutdown(c.socket.fd(), SHUT_WR);
  c.is_shut = true;
  c.deadline = Clock::now() + kEndTime;
}

std::string HttpServer::answer_to(std::string_view request) {
  const HttpRequest parsed = parse_request(request);
  if (parsed.status == HttpRequest::Status::kRefused) return error_page(parsed.refusal);
  const auto content = answer_(parsed.path);
  if (!content) return error_page("404 Not Found");
  return http_response("200 OK", content->type, content->body);
}

}  // namespace gradus::watch::detail
