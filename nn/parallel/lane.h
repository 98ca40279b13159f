// What one replica's device copies from its neighbour and adds, beside its computing.
#pragma once

#include <array>
#include <optional>

#include "gradus/cuda/event.h"
#include "gradus/cuda/stream.h"
#include "gradus/tensor/tensor.h"

namespace gradus::nn::parallel {

// On a GPU the work is queued on streams of the lane's own, and the host waits for nothing unless
// the other side is the CPU; on the CPU it is done when a function returns. One caller at a time.
class Lane {
 public:
  // Bytes that travel as one piece. A chain of n devices takes the time of n - 2 pieces more than
  // one transfer of the whole; and a piece should take longer on its way (40 us over NVLink) than
  // the host takes to queue the calls for one piece on a few devices.
  static constexpr int64_t kPieceBytes = int64_t{32} << 20;

  explicit Lane(Device device);

  Device device() const { return device_; }
  // Where it adds; none on the CPU.
  const std::optional<cuda::Stream>& sums() const { return sums_; }
  // Marks what the current stream of its device holds so far; nothing on the CPU.
  void mark_compute(cuda::Event& event) const;
  // Work of the lane from here on waits for that.
  void follow(const cuda::Event& computed);
  // Both.
  void follow_compute();
  // Marks what copy() has queued so far; nothing on the CPU.
  void mark_copies(cuda::Event& event) const;
  // The converse of follow_compute, for the current stream of a device: that of the lane, or
  // another.
  void lead_compute(Device device) const;

  // dst = src and dst += src, when `source` has done what it has queued so far. dst is on this
  // lane's device, src on that of `source`. REQUIRES: both are contiguous, of one shape and dtype;
  // for add at most kPieceBytes large. They stay alive until the lane has done it.
  void copy(const Tensor& dst, const Tensor& src, const Lane& source);
  void add(const Tensor& dst, const Tensor& src, const Lane& source);

 private:
  // Where a piece waits to be added: two, so that the next one comes while one is added.
  struct Scratch {
    Tensor memory;
    cuda::Event is_free;
  };

  Tensor fetch(const Tensor& src, const Lane& source);

  Device device_;
  std::optional<cuda::Stream> copies_, sums_;  // none on the CPU
  cuda::Event computed_;                       // what the lane follows
  cuda::Event done_;                           // what it has queued last
  std::array<Scratch, 2> scratch_;
  size_t turn_ = 0;
};

}  // namespace gradus::nn::parallel
