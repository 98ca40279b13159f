// Bordered: an array of the CPU between pages that nobody may touch.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>
#include <vector>

// Which end of the array meets a page that nobody may touch: an access beyond that end stops the program. Pages
// are larger than most arrays, so one array cannot meet a page at both ends.
enum class Border { before, behind };

class Bordered {
 public:
  // apart: the second half of the values lies this many floats behind the first, or 0. Nobody may touch what lies between.
  // REQUIRES: it is a whole number of pages.
  Bordered(const std::vector<float>& values, Border border, size_t apart = 0)
      : pieces_(apart == 0 ? 1 : 2), size_(values.size() / pieces_), apart_(apart) {
    const size_t bytes = size_ * sizeof(float);
    inner_ = (bytes / kPage + 1) * kPage;
    all_ = apart * sizeof(float) + inner_ + 2 * kEdge;
    void* const all = mmap(nullptr, all_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) throw std::runtime_error("the runner got no memory");
    start_ = static_cast<char*>(all);
    data_ = reinterpret_cast<float*>(start_ + kEdge + (border == Border::before ? 0 : inner_ - bytes));
    for (size_t piece = 0; piece < pieces_; ++piece) {
      char* const inner = start_ + kEdge + piece * apart * sizeof(float);
      mprotect(inner, inner_, PROT_READ | PROT_WRITE);
      std::memset(inner, 0xff, inner_);
      if (bytes > 0) std::memcpy(data_ + piece * apart, values.data() + piece * size_, bytes);
    }
  }
  ~Bordered() { munmap(start_, all_); }
  Bordered(const Bordered&) = delete;
  Bordered& operator=(const Bordered&) = delete;

  float* data() const { return data_; }
  std::vector<float> take() const {
    std::vector<float> out;
    for (size_t piece = 0; piece < pieces_; ++piece)
      out.insert(out.end(), data_ + piece * apart_, data_ + piece * apart_ + size_);
    return out;
  }

 private:
  static constexpr size_t kPage = 64 << 10, kEdge = 1 << 20;  // pages of ARM have up to 64 KiB

  size_t pieces_, size_, apart_, inner_ = 0, all_ = 0;
  char* start_ = nullptr;
  float* data_ = nullptr;
};

// Calls the student's code twice, with arrays that meet a border before and behind them, and gives the result.
template <class Call>
std::vector<float> at_both_borders(Call call) {
  const std::vector<float> first = call(Border::behind), second = call(Border::before);
  if (first.size() != second.size() || std::memcmp(first.data(), second.data(), first.size() * sizeof(float)) != 0)
    throw std::runtime_error("a second call with the same numbers gave another result: it reads what nobody has written");
  return first;
}
