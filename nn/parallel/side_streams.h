// SideStreams, copy streams: copies and sums that run on GPUs beside what they compute.
#pragma once

#include <vector>

#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/tensor.h"

namespace gradus::nn::parallel {

// During its life the current stream of each of these GPUs, on this thread, is its side stream. The
// side stream's work comes after what the former stream holds at the start. The CPU has none.
class SideStreams {
 public:
  explicit SideStreams(const std::vector<Device>& devices);
  ~SideStreams();
  SideStreams(const SideStreams&) = delete;
  SideStreams& operator=(const SideStreams&) = delete;

  // Once freed, x's memory is reused when both streams of its device are done with it.
  void use(const Tensor& x) const;
  // Whoever uses these tensors, of one device, waits for what its side stream holds so far.
  static void deliver(ArrayRef<Tensor> tensors);
  // Makes later work on the current streams of the devices, and on their side streams, wait for
  // what all these side streams hold.
  static void join(const std::vector<Device>& devices);

 private:
  std::vector<cuda::Stream> former_;
};

}  // namespace gradus::nn::parallel
