// Lane: the streams on which one replica's device copies from its neighbour, and adds what it
// copied, while it computes.
#pragma once

#include <array>
#include <optional>

#include "gradus/cuda/runtime/event.h"
#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/tensor.h"

namespace gradus::nn::parallel {

// How many bytes are sent as one piece. Tests set it, while there is no lane.
struct PieceBytes {
  // A chain of n devices takes as long as one transfer of the whole plus n - 2 pieces, so pieces
  // should be small. But a transfer of one (90 us over NVLink) should take longer than the host
  // needs to queue the calls for it on a few devices.
  int64_t most = int64_t{32} << 20;
  // Smaller pieces of `first` bytes for the first `of_first` bytes of an update: the end of the
  // chain waits for them.
  int64_t first = int64_t{16} << 20, of_first = int64_t{128} << 20;
  // Smaller pieces of `last` bytes for the last `of_last` bytes of a backward pass: all wait for
  // them.
  int64_t last = int64_t{8} << 20, of_last = int64_t{32} << 20;
  // The least width of copied columns: 2 KiB run at 349 GB/s, 1 KiB at 305, whole rows at 367.
  int64_t narrowest = 2 << 10;
};
extern PieceBytes piece_bytes;

// On a GPU the work is queued on the lane's own streams; the host waits only where the other side
// is the CPU. On the CPU the work is done when a function returns. One caller at a time.
class Lane {
 public:
  explicit Lane(Device device);

  Device device() const { return device_; }
  // The stream on which it adds; none on the CPU.
  const std::optional<cuda::Stream>& sums() const { return sums_; }
  // Records the event on the current stream of its device; does nothing on the CPU.
  void mark_compute(cuda::Event& event) const;
  // Makes later work of the lane wait for the current stream's work so far.
  void follow_compute();
  // Makes later sums wait for `computed`, which marks the gradient that they add to.
  void sum_after(const cuda::Event& computed);
  // Marks what add() has queued so far. Never recorded on the CPU.
  const cuda::Event& summed() const { return done_[kSums]; }
  // The arrival of what copy(), or add(), has queued so far; null on the CPU.
  std::shared_ptr<Arrival> copies_arrive();
  std::shared_ptr<Arrival> sums_arrive() const;
  // The converse of follow_compute: makes later work on the current stream of `device`, which may
  // be another than the lane's, wait for the lane's work.
  void lead_compute(Device device) const;

  // copy: dst = src, after what `source` has queued last. add: dst += src, after the event `there`.
  // dst is on this lane's device, src on that of `source`. REQUIRES: both have one shape and dtype;
  // for add they are contiguous and have at most piece_bytes.most bytes; for copy they are as
  // copy_async requires. The caller keeps them alive until the lane has done it.
  void copy(const Tensor& dst, const Tensor& src, const Lane& source);
  void add(const Tensor& dst, const Tensor& src, const cuda::Event& there, const Lane& source);

 private:
  // Copies alternate between two streams: on one stream each would begin 20 us after the last.
  struct Way {
    std::optional<cuda::Stream> copies;  // none on the CPU
    Tensor memory;                       // holds a piece until it is added
    cuda::Event is_free;                 // marks the end of its use
  };
  static constexpr size_t kWays = 2, kSums = kWays;

  size_t next_way() { return way_ = (way_ + 1) % kWays; }
  void copy(size_t way, const Tensor& dst, const Tensor& src, const cuda::Event& there,
            const Lane& source);
  void add_here(const Tensor& dst, const Tensor& src) const;
  Tensor fetch(size_t way, const Tensor& src, const cuda::Event& there, const Lane& source);
  void mark_done(size_t on, const cuda::Stream& stream);

  Device device_;
  std::array<Way, kWays> ways_;
  std::optional<cuda::Stream> sums_;
  size_t way_ = 0;                           // of the last copy
  cuda::Event computed_;                     // what the lane follows
  std::array<cuda::Event, kWays + 1> done_;  // what the ways, then the sums, have queued last
  size_t last_ = kSums;                      // of done_
};

}  // namespace gradus::nn::parallel
