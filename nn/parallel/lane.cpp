#include "gradus/nn/parallel/lane.h"

#include "gradus/cuda/peer.h"
#include "gradus/tensor/raw.h"

namespace gradus::nn::parallel {

Lane::Lane(Device device) : device_(device) {
  if (!device.is_cuda()) return;
  copies_ = cuda::getStreamFromPool(/*high_priority=*/true, device.index());
  sums_ = cuda::getStreamFromPool(/*high_priority=*/true, device.index());
}

void Lane::mark_compute(cuda::Event& event) const {
  if (copies_) event.record(cuda::getCurrentCUDAStream(device_.index()));
}

void Lane::follow(const cuda::Event& computed) {
  if (!copies_) return;
  computed.block(*copies_);
  computed.block(*sums_);
  done_.record(*sums_);
}

void Lane::follow_compute() {
  mark_compute(computed_);
  follow(computed_);
}

void Lane::mark_copies(cuda::Event& event) const {
  if (copies_) event.record(*copies_);
}

void Lane::lead_compute(Device device) const {
  if (copies_ && device.is_cuda()) done_.block(cuda::getCurrentCUDAStream(device.index()));
}

void Lane::copy(const Tensor& dst, const Tensor& src, const Lane& source) {
  if (copies_ && source.copies_) {
    source.done_.block(*copies_);
    cuda::copy_async(dst, src, *copies_);
    return done_.record(*copies_);
  }
  // One side is the CPU: its part is done already, and the host waits for the other's.
  if (source.copies_) {
    source.done_.block(*source.copies_);
    const cuda::StreamGuard guard(*source.copies_);
    return raw::copy_(dst, src);
  }
  if (!copies_) return raw::copy_(dst, src);
  const cuda::StreamGuard guard(*copies_);
  raw::copy_(dst, src);
  done_.record(*copies_);
}

// src on this lane's device, for the work of sums_.
Tensor Lane::fetch(const Tensor& src, const Lane& source) {
  Scratch& scratch = scratch_[turn_++ % scratch_.size()];
  if (!scratch.memory.defined()) {
    const cuda::StreamGuard guard(*copies_);
    scratch.memory = raw::empty({kPieceBytes}, kByte, device_);
  }
  const Tensor bytes = raw::narrow(scratch.memory, 0, 0, static_cast<int64_t>(src.nbytes()));
  const Tensor piece = *raw::try_view(raw::view(bytes, src.scalar_type()), src.sizes());
  scratch.is_free.block(*copies_);
  copy(piece, src, source);
  done_.block(*sums_);
  return piece;
}

void Lane::add(const Tensor& dst, const Tensor& src, const Lane& source) {
  if (!sums_) {
    const Tensor here = src.is_cpu() ? src : raw::empty(src.sizes(), src.scalar_type(), device_);
    if (!src.is_cpu()) copy(here, src, source);
    return raw::zip_(BinaryOp::add, dst, here);
  }
  const bool near = src.device() == device_;
  const size_t slot = turn_ % scratch_.size();
  if (near) source.done_.block(*sums_);
  const Tensor here = near ? src : fetch(src, source);
  const cuda::StreamGuard guard(*sums_);
  raw::zip_(BinaryOp::add, dst, here);
  if (!near) scratch_[slot].is_free.record(*sums_);
  done_.record(*sums_);
}

}  // namespace gradus::nn::parallel
