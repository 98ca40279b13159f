// ProgressBar: one line of text, drawn again or printed.
#include "gradus/watch/progress_bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <iostream>

#include "gradus/watch/text.h"

namespace gradus::watch {

namespace {

// "34.1 it/s", "12.0 s/it".
std::string rate_text(double rate, const std::string& unit) {
  if (!(rate > 0)) return "? " + unit + "/s";
  return rate >= 1 ? detail::format("%.3g %s/s", rate, unit.c_str())
                   : detail::format("%.3g s/%s", 1 / rate, unit.c_str());
}

// The bars whose line on the terminal is not ended.
std::atomic<int> open_lines = 0;

// The message of an exception that nobody catches begins on a line of its own.
void end_lines_at_terminate() {
  static const std::terminate_handler before = std::set_terminate([] {
    if (open_lines.exchange(0) > 0) (void)!::write(STDERR_FILENO, "\n", 1);
    before();
  });
}

}  // namespace

Screen Screen::standard_error() {
  const auto columns = [] {
    constexpr int kUsual = 80;
    if (isatty(STDERR_FILENO) != 1) return 0;
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? static_cast<int>(size.ws_col) : kUsual;
  };
  const auto seconds = [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
  return {&std::cerr, columns, seconds};
}

ProgressBar::ProgressBar(int64_t total, ProgressBarOptions options, Screen screen)
    : total_(total),
      done_(options.initial()),
      options_(std::move(options)),
      screen_(std::move(screen)),
      start_(screen_.seconds()),
      next_(start_ + (screen_.columns() > 0 ? 0 : options_.line_interval())),
      closed_(options_.disable()) {
  check(total >= 0, "ProgressBar: total is ", total,
        ", expected a number of steps, or 0 where nobody knows");
  check(done_ >= 0, "ProgressBar: initial is ", done_, ", expected 0 or more");
}

ProgressBar::~ProgressBar() { close(); }

void ProgressBar::update(int64_t steps) {
  done_ += steps;
  if (closed_) return;
  const double now = screen_.seconds();
  if (now < next_) return;
  const int columns = screen_.columns();
  next_ = now + (columns > 0 ? options_.mininterval() : options_.line_interval());
  draw(columns);
}

void ProgressBar::set_postfix(const LogRow& values) {
  postfix_.clear();
  for (const auto& [name, value] : values) postfix_ += ", " + name + "=" + value.rounded();
}

void ProgressBar::write(const std::string& line) {
  if (options_.disable()) return;
  clear();
  *screen_.out << line << '\n' << std::flush;
}

void ProgressBar::close() {
  if (closed_) return;
  closed_ = true;
  const int columns = screen_.columns();
  clear();
  if (columns > 0 && !options_.leave()) return;
  draw(columns);
  if (columns > 0) *screen_.out << '\n' << std::flush;
  note_line(false);
}

std::string ProgressBar::text(int columns) const {
  const double elapsed = screen_.seconds() - start_;
  const auto made = static_cast<double>(done_ - options_.initial());
  const double rate = elapsed > 0 ? made / elapsed : 0;
  std::string head = options_.desc().empty() ? "" : options_.desc() + ": ";
  std::string tail = std::to_string(done_);
  if (total_ > 0) {
    const double part = static_cast<double>(done_) / static_cast<double>(total_);
    head += detail::format("%3d%%", static_cast<int>(100 * part));
    tail += "/" + std::to_string(total_);
  } else {
    tail += " " + options_.unit();
  }
  tail += " [" + detail::clock_time(elapsed);
  if (total_ > 0) {
    const double left = static_cast<double>(std::max<int64_t>(total_ - done_, 0));
    tail += "<" + (rate > 0 ? detail::clock_time(left / rate) : "?");
  }
  tail += ", " + rate_text(rate, options_.unit()) + postfix_ + "]";
  if (columns == 0 || total_ == 0) {
    const std::string line = total_ > 0 ? head + " " + tail : head + tail;
    return columns == 0 ? line : line.substr(0, static_cast<size_t>(columns - 1));
  }
  // The bar takes what is left of the line, and is left out where that is little.
  constexpr int kLeast = 5, kMost = 40;
  const int room = columns - 1 - static_cast<int>(head.size() + tail.size()) - 3;
  if (room < kLeast) return (head + " " + tail).substr(0, static_cast<size_t>(columns - 1));
  const int width = std::min(room, kMost);
  const auto filled = static_cast<size_t>(width * std::min(done_, total_) / total_);
  return head + "|" + std::string(filled, '#') +
         std::string(static_cast<size_t>(width) - filled, '.') + "| " + tail;
}

void ProgressBar::draw(int columns) {
  if (columns > 0) {
    *screen_.out << '\r' << text(columns) << "\033[K" << std::flush;
    note_line(true);
  } else {
    *screen_.out << text(0) << '\n' << std::flush;
  }
}

void ProgressBar::clear() {
  if (!drawn_) return;
  *screen_.out << "\r\033[K" << std::flush;
  note_line(false);
}

void ProgressBar::note_line(bool is_drawn) {
  if (drawn_ == is_drawn) return;
  drawn_ = is_drawn;
  if (screen_.out != &std::cerr) return;
  end_lines_at_terminate();
  open_lines += is_drawn ? 1 : -1;
}

}  // namespace gradus::watch
