// The requests of TCPStore to its server.
#include "gradus/distributed/tcp_store.h"

#include <algorithm>
#include <thread>

#include "gradus/distributed/job/error.h"
#include "gradus/distributed/net/server.h"
#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

namespace {

// The end of a connection.
class Broken : public Error {
  using Error::Error;
};

// Errors: Broken at the end of the connection, and after the deadline.
void send_frame(const Socket& socket, const Frame& frame, Clock::time_point deadline) {
  Unsent bytes(encode(frame));
  while (!bytes.empty()) {
    gradus::check<Broken>(await(socket, true, deadline) && write_some(socket, bytes),
                          "the connection to rank 0 broke");
  }
}

Frame receive_frame(const Socket& socket, std::string& received, Clock::time_point deadline) {
  Frame frame;
  while (true) {
    const Decoded decoded = decode(received, kMaxFrame, frame);
    if (decoded == Decoded::frame && !frame.empty()) return frame;
    gradus::check<Error>(decoded == Decoded::incomplete, "rank 0 sent what is no answer");
    gradus::check<Error>(await(socket, false, deadline), "rank 0 did not answer in time");
    gradus::check<Broken>(read_some(socket, received), "rank 0 closed the connection");
  }
}

// Errors: Error where the answer is none.
int64_t number_of(const char* op, const std::string& answer) {
  int64_t number = 0;
  gradus::check<Error>(read_number(answer, number), "TCPStore::", op, ": rank 0 answered '", answer,
                       "', expected a number; run the same version of Gradus at all ranks");
  return number;
}

}  // namespace

Socket connect_as(const std::string& kind, int rank, const TCPStore& store, std::string& received) {
  const Clock::time_point deadline = Clock::now() + store.timeout();
  for (Milliseconds pause(10);; pause = std::min(2 * pause, Milliseconds(1000))) {
    Socket socket = connect_to(store.host(), store.port(), deadline);
    Frame answer;
    try {
      received.clear();
      send_frame(socket, {kProtocol, store.token(), kind, std::to_string(rank)}, deadline);
      answer = receive_frame(socket, received, deadline);
    } catch (const Broken&) {
      if (Clock::now() + pause >= deadline) throw;
      std::this_thread::sleep_for(pause);
      continue;
    }
    gradus::check<Error>(answer[0] == "welcome", "rank ", rank, " was refused",
                         answer.size() > 1 ? ": " + answer[1] : "");
    return socket;
  }
}

TCPStore::TCPStore(const std::string& host_name, int port, bool is_master,
                   std::chrono::milliseconds timeout, const std::string& token, int rank)
    : Store(timeout), host_(host_name), token_(token), port_(port) {
  try {
    if (is_master) {
      server_ = std::make_unique<Server>(host_name, port, token);
      port_ = server_->port();
    }
    socket_ = std::make_unique<Socket>(connect_as("store", rank, *this, received_));
  } catch (const ValueError&) {
    throw;
  } catch (const Error& error) {
    fail<Error>("TCPStore at ", host_, ":", port_, ": ", error.what());
  }
}

TCPStore::~TCPStore() = default;

// The value of the answer, or "".
std::string TCPStore::ask(const Request& request, std::chrono::milliseconds patience) {
  check_here(home_.is_here(), "TCPStore");
  const std::lock_guard lock(mutex_);
  gradus::check<Error>(socket_->is_open(), "TCPStore: the connection broke in an earlier call");
  Frame answer;
  try {
    const Clock::time_point deadline = Clock::now() + patience + std::chrono::seconds(5);
    send_frame(*socket_, request, deadline);
    answer = receive_frame(*socket_, received_, deadline);
  } catch (const Error& error) {
    socket_->close();  // a late answer would be taken for that of another request
    fail<Error>("TCPStore::", request[0], " at ", host_, ":", port_, ": ", error.what());
  }
  gradus::check<ValueError>(answer[0] != "error", answer.back());
  const Request keys(request.size() > 2 ? request.begin() + 2 : request.end(), request.end());
  gradus::check<Error>(answer[0] == "ok", "Store::wait: keys ", joined(keys),
                       " were not all set within ", in_seconds(patience),
                       "; did every rank start?");
  return answer.size() > 1 ? answer[1] : "";
}

void TCPStore::set(const std::string& key, const std::string& value) { ask({"set", key, value}); }

std::string TCPStore::get(const std::string& key) {
  return ask({"get", std::to_string(timeout().count()), key});
}

int64_t TCPStore::add(const std::string& key, int64_t amount) {
  return number_of("add", ask({"add", key, std::to_string(amount)}));
}

std::string TCPStore::compare_set(const std::string& key, const std::string& expected,
                                  const std::string& desired) {
  return ask({"compare_set", key, expected, desired});
}

void TCPStore::wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) {
  if (keys.empty()) return;
  Request request{"wait", std::to_string(timeout.count())};
  request.insert(request.end(), keys.begin(), keys.end());
  ask(request, timeout);
}

bool TCPStore::check(const std::vector<std::string>& keys) {
  Request request{"check"};
  request.insert(request.end(), keys.begin(), keys.end());
  return ask(request) == "1";
}

bool TCPStore::delete_key(const std::string& key) { return ask({"delete", key}) == "1"; }
int64_t TCPStore::num_keys() { return number_of("num_keys", ask({"count"})); }

}  // namespace gradus::distributed
