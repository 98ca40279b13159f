// HugeLink: the last rank of a ring with more numbers than fit into memory, for what counts them by an int.
#pragma once

#include "runner/huge_array.h"
#include "runner/ring.h"

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

  // Calls body. "full" says that it wanted a copy of all numbers.
  template <class Body>
  void run(Message& out, Body body) {
    const bool full = wants_too_much([&] {
      try {
        body();
      } catch (const Stopped&) {
      }
    });
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
