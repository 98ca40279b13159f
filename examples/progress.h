// Progress of a long loop: a bar that rewrites itself on a terminal, plain lines elsewhere.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

class Progress {
 public:
  Progress(std::string title, int64_t total)
      : title_(std::move(title)), total_(total), terminal_(isatty(STDOUT_FILENO) == 1) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step() {
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now < next_draw_) return;
    next_draw_ = now + std::chrono::milliseconds(50);
    draw();
  }

  // A line that stays.
  void line(const std::string& text) {
    clear();
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
  }

 private:
  void draw() {
    constexpr int64_t kWidth = 40;
    const int64_t filled = kWidth * done_ / total_;
    const std::string bar = std::string(static_cast<size_t>(filled), '#') +
                            std::string(static_cast<size_t>(kWidth - filled), '.');
    std::printf("\r%s [%s] %3d%%", title_.c_str(), bar.c_str(),
                static_cast<int>(100 * done_ / total_));
    std::fflush(stdout);
    drawn_ = true;
  }
  void clear() {
    if (!drawn_) return;
    std::printf("\r\033[K");
    std::fflush(stdout);
    drawn_ = false;
  }

  std::string title_;
  int64_t total_, done_ = 0;
  bool terminal_, drawn_ = false;
  std::chrono::steady_clock::time_point next_draw_{};
};
