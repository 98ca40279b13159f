// The handlers of StopSignal.
#include "gradus/watch/stop_signal.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "gradus/tensor/base/error.h"

namespace gradus::watch {

namespace {

std::atomic<bool> stop_signal_lives = false;
std::atomic<int> stop_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // what a handler may touch

void note_signal(int number) {
  int none = 0;
  stop_signal.compare_exchange_strong(none, number);
}

}  // namespace

struct StopSignal::Handlers {
  Handlers() {
    check<Error>(!stop_signal_lives.exchange(true),
                 "StopSignal: there is one already; ask that one, or let it end first");
    stop_signal = 0;
  }
  ~Handlers() {
    for (const auto& [number, action] : actions) ::sigaction(number, &action, nullptr);
    stop_signal_lives = false;
  }
  std::vector<std::pair<int, struct sigaction>> actions;
};

StopSignal::StopSignal(const std::vector<int>& signals) : before_(std::make_unique<Handlers>()) {
  for (const int number : signals) {
    struct sigaction ours {
    }, before{};
    ours.sa_handler = note_signal;
    // The second one finds the system's own handler. Calls of the system go on.
    ours.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    check(::sigaction(number, &ours, &before) == 0, "StopSignal: signal ", number, ": ",
          std::strerror(EINVAL), "; give one that a program can catch, such as SIGTERM");
    before_->actions.emplace_back(number, before);
  }
}

StopSignal::~StopSignal() = default;

int StopSignal::signal() const { return stop_signal; }

}  // namespace gradus::watch
