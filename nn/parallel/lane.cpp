// Copies and sums of one device, on streams beside its computing.
#include "gradus/nn/parallel/lane.h"

#include "gradus/cuda/ops/add_part.h"
#include "gradus/cuda/runtime/peer.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::nn::parallel {

PieceBytes piece_bytes;

Lane::Lane(Device device) : device_(device) {
  if (!device.is_cuda()) return;
  for (Way& way : ways_)
    way.copies = cuda::getStreamFromPool(/*high_priority=*/true, device.index());
  sums_ = cuda::getStreamFromPool(/*high_priority=*/true, device.index());
}

void Lane::mark_compute(cuda::Event& event) const {
  if (sums_) event.record(cuda::getCurrentCUDAStream(device_.index()));
}

void Lane::follow_compute() {
  if (!sums_) return;
  mark_compute(computed_);
  for (const Way& way : ways_) computed_.block(*way.copies);
  computed_.block(*sums_);
  mark_done(kSums, *sums_);
}

void Lane::sum_after(const cuda::Event& computed) {
  if (sums_) computed.block(*sums_);
}

std::shared_ptr<Arrival> Lane::copies_arrive() {
  if (!sums_) return nullptr;
  const cuda::Stream& last = *ways_[way_].copies;
  for (size_t way = 0; way < kWays; ++way)
    if (way != way_) done_[way].block(last);
  return std::make_shared<cuda::EventArrival>(last);
}

std::shared_ptr<Arrival> Lane::sums_arrive() const {
  return sums_ ? std::make_shared<cuda::EventArrival>(*sums_) : nullptr;
}

void Lane::lead_compute(Device device) const {
  if (!sums_ || !device.is_cuda()) return;
  for (const cuda::Event& done : done_) done.block(cuda::getCurrentCUDAStream(device.index()));
}

void Lane::mark_done(size_t on, const cuda::Stream& stream) {
  done_[on].record(stream);
  last_ = on;
}

void Lane::copy(const Tensor& dst, const Tensor& src, const Lane& source) {
  copy(next_way(), dst, src, source.done_[source.last_], source);
}

void Lane::copy(size_t way, const Tensor& dst, const Tensor& src, const cuda::Event& there,
                const Lane& source) {
  const std::optional<cuda::Stream>& copies = ways_[way].copies;
  if (copies && source.sums_) {
    there.block(*copies);
    cuda::copy_async(dst, src, *copies);
    return mark_done(way, *copies);
  }
  // One side is the CPU: its part is done already, and the host waits for the other's.
  if (source.sums_) {
    const cuda::Stream& theirs = *source.ways_[source.way_].copies;
    there.block(theirs);
    const cuda::StreamGuard guard(theirs);
    return raw::copy_(dst, src);
  }
  if (!copies) return raw::copy_(dst, src);
  const cuda::StreamGuard guard(*copies);
  raw::copy_(dst, src);
  mark_done(way, *copies);
}

// src on this lane's device, for the work of sums_.
Tensor Lane::fetch(size_t number, const Tensor& src, const cuda::Event& there, const Lane& source) {
  Way& way = ways_[number];
  if (!way.memory.defined()) {
    const cuda::StreamGuard guard(*way.copies);
    way.memory = raw::empty({piece_bytes.most}, kByte, device_);
  }
  const Tensor bytes = raw::narrow(way.memory, 0, 0, static_cast<int64_t>(src.nbytes()));
  const Tensor piece = *raw::try_view(raw::view(bytes, src.scalar_type()), src.sizes());
  way.is_free.block(*way.copies);
  copy(number, piece, src, there, source);
  done_[number].block(*sums_);
  return piece;
}

// dst += src, of this device.
void Lane::add_here(const Tensor& dst, const Tensor& src) const {
  if (cuda::takes_parts(dst) && cuda::takes_parts(src))
    return cuda::add_part(dst.data_ptr(), src.data_ptr(), dst.numel(), dst.scalar_type(), 1,
                          *sums_);
  const cuda::StreamGuard guard(*sums_);
  raw::zip_(BinaryOp::add, dst, src);
}

void Lane::add(const Tensor& dst, const Tensor& src, const cuda::Event& there, const Lane& source) {
  if (!sums_) {
    const Tensor here = src.is_cpu() ? src : raw::empty(src.sizes(), src.scalar_type(), device_);
    if (!src.is_cpu()) copy(way_, here, src, there, source);
    return raw::zip_(BinaryOp::add, dst, here);
  }
  const bool near = src.device() == device_;
  if (near) there.block(*sums_);
  const Tensor here = near ? src : fetch(next_way(), src, there, source);
  add_here(dst, here);
  if (!near) ways_[way_].is_free.record(*sums_);
  mark_done(kSums, *sums_);
}

}  // namespace gradus::nn::parallel
