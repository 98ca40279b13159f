// What one replica's device copies from its neighbour and adds, beside its computing.
#pragma once

#include <array>
#include <optional>

#include "gradus/cuda/runtime/event.h"
#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/tensor.h"

namespace gradus::nn::parallel {

// How many bytes travel as one piece. Tests set it, while there is no lane.
struct PieceBytes {
  // A chain of n devices takes the time of n - 2 pieces more than one transfer of the whole; and a
  // piece should take longer on its way (90 us over NVLink) than the host takes to queue the calls
  // for one piece on a few devices.
  int64_t most = int64_t{32} << 20;
  // Of the first so many bytes of an update, for which the end of the chain waits,
  int64_t first = int64_t{16} << 20, of_first = int64_t{128} << 20;
  // and of the last so many of a backward pass, for which all wait.
  int64_t last = int64_t{8} << 20, of_last = int64_t{32} << 20;
  // Columns are copied so wide at least: 2 KiB at 349 GB/s, 1 KiB at 305, whole rows at 367.
  int64_t narrowest = 2 << 10;
};
extern PieceBytes piece_bytes;

// On a GPU the work is queued on streams of the lane's own, and the host waits for nothing unless
// the other side is the CPU; on the CPU it is done when a function returns. One caller at a time.
class Lane {
 public:
  explicit Lane(Device device);

  Device device() const { return device_; }
  // Where it adds; none on the CPU.
  const std::optional<cuda::Stream>& sums() const { return sums_; }
  // Marks what the current stream of its device holds so far; nothing on the CPU.
  void mark_compute(cuda::Event& event) const;
  // Work of the lane from here on waits for that.
  void follow_compute();
  // Sums from here on wait for what they add to.
  void sum_after(const cuda::Event& computed);
  // What add() has queued so far; never recorded on the CPU, where it is done.
  const cuda::Event& summed() const { return done_[kSums]; }
  // What copy() and add() have queued so far; null on the CPU, where it is done.
  std::shared_ptr<Arrival> copies_arrive();
  std::shared_ptr<Arrival> sums_arrive() const;
  // The converse of follow_compute, for the current stream of a device: that of the lane, or
  // another.
  void lead_compute(Device device) const;

  // dst = src, when `source` has done what it has queued last, and dst += src, when src is there.
  // dst is on this lane's device, src on that of `source`. REQUIRES: both are of one shape and
  // dtype, and for add contiguous and at most piece_bytes.most large, for copy as copy_async says.
  // They stay alive until the lane has done it.
  void copy(const Tensor& dst, const Tensor& src, const Lane& source);
  void add(const Tensor& dst, const Tensor& src, const cuda::Event& there, const Lane& source);

 private:
  // Copies go two ways in turn: on one stream they would begin 20 us after one another.
  struct Way {
    std::optional<cuda::Stream> copies;  // none on the CPU
    Tensor memory;                       // where a piece waits to be added
    cuda::Event is_free;                 // that memory
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
