// HugeLink: the last rank of a ring with more numbers than fit into memory, for what counts them by an int.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include "runner/memory.h"
#include "runner/ring.h"

// n numbers. There is room for those of the last five of `parts` parts, and all others are 0.
class HugeArray {
 public:
  HugeArray(long n, long parts)
      : bytes_((static_cast<size_t>(n) * sizeof(float) / kPage + 1) * kPage) {
    start_ = static_cast<char*>(
        mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    const size_t used = (static_cast<size_t>(n / parts) * sizeof(float) * 5 / kPage + 1) * kPage;
    if (start_ == MAP_FAILED || mprotect(start_ + bytes_ - used, used, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("the runner got no memory");
  }
  ~HugeArray() { munmap(start_, bytes_); }
  HugeArray(const HugeArray&) = delete;
  HugeArray& operator=(const HugeArray&) = delete;
  float* data() const { return reinterpret_cast<float*>(start_); }

 private:
  static constexpr size_t kPage = 64 << 10;
  size_t bytes_;
  char* start_;
};

// It notes what the rank sends, and stops it after three steps.
class HugeLink final : public course::Link {
 public:
  explicit HugeLink(int size) : size_(size) {}
  int rank() const override { return size_ - 1; }
  int size() const override { return size_; }
  void send(const float* from, long n) override {
    if (sent_.size() == 3) throw Stopped();
    sent_.push_back(n);
    ends_.push_back(n > 0 ? from[0] : 0), ends_.push_back(n > 0 ? from[n - 1] : 0);
  }
  void receive(float* to, long n) override {
    received_.push_back(n);
    for (long i = 0; i < n; ++i) to[i] = 0;
  }

  // Calls body, which gets little memory: "full" says that it wanted a copy of all numbers.
  template <class Body>
  void run(Message& out, Body body) {
    bool full = false;
    limit_blocks(128 << 20);
    try {
      body();
    } catch (const Stopped&) {
    } catch (const std::bad_array_new_length&) {
      throw;
    } catch (const std::bad_alloc&) {
      full = true;
    }
    limit_blocks(SIZE_MAX);
    out.longs("full", {full});
    out.longs("sent", sent_);
    out.longs("received", received_);
    out.floats("ends", ends_);  // of each message: its first and its last number
  }

 private:
  int size_;
  std::vector<long> sent_, received_;
  std::vector<float> ends_;
};

// "marks" at "places" of the numbers.
inline void mark(const Message& in, float* numbers) {
  const std::vector<long> places = in.longs("places");
  const std::vector<float> marks = in.floats("marks");
  for (size_t i = 0; i < places.size(); ++i) numbers[places[i]] = marks[i];
}
