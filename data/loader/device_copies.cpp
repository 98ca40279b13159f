// Copies ahead: a stream for them, and an event for each batch.
#include "gradus/data/loader/device_copies.h"

#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/options.h"

namespace gradus::data::detail {

DeviceCopies::DeviceCopies(std::optional<Device> device) {
  if (!device || device->is_cpu()) return;
  check(device->is_cuda(), "DataLoader: device is ", *device,
        ", expected cpu or one of CUDA; or leave it out for batches as they are made");
  check<Error>(cuda::is_available(), "DataLoader: device is ", *device, ", and ",
               cuda::why_unavailable(), "; or leave it out for batches on the CPU");
  check<Error>(device->index() < cuda::device_count(), "DataLoader: device is ", *device,
               ", which does not exist; give one from cuda:0 to cuda:", cuda::device_count() - 1);
  stream_ = cuda::getStreamFromPool(/*high_priority=*/false, device->index());
}

DeviceCopies::DeviceCopies(DeviceCopies&&) noexcept = default;
DeviceCopies& DeviceCopies::operator=(DeviceCopies&&) noexcept = default;
DeviceCopies::~DeviceCopies() = default;

void DeviceCopies::clear() { begun_.clear(); }

void DeviceCopies::copy(const std::vector<Tensor*>& tensors) {
  Batch batch;
  const cuda::StreamGuard guard(*stream_);
  for (Tensor* const tensor : tensors) {
    *tensor = tensor->to(TensorOptions(stream_->device()), /*non_blocking=*/true);
    batch.tensors.push_back(*tensor);
  }
  batch.copied.record(*stream_);
  begun_.push_back(std::move(batch));
}

// The memory belongs to the stream of the copies: it is reused there after the work of this one
// alone.
void DeviceCopies::wait_for_first() {
  const cuda::Stream current = cuda::getCurrentCUDAStream(stream_->device_index());
  const Batch& batch = begun_.front();
  batch.copied.block(current);
  for (const Tensor& tensor : batch.tensors)
    if (tensor.is_cuda()) cuda::record_stream(tensor.storage().impl_ptr(), current);
  begun_.pop_front();
}

}  // namespace gradus::data::detail
