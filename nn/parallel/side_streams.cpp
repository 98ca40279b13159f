// The side stream of each GPU, and waiting for it.
#include "gradus/nn/parallel/side_streams.h"

#include <map>
#include <mutex>

#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/tensor/arrival.h"

namespace gradus::nn::parallel {

namespace {

cuda::Stream side_stream(Device device) {
  static std::mutex mutex;
  static std::map<int, cuda::Stream> known;
  const std::lock_guard lock(mutex);
  auto at = known.find(device.index());
  if (at == known.end())
    at = known.emplace(device.index(), cuda::getStreamFromPool(true, device.index())).first;
  return at->second;
}

// The end of what a stream holds.
class EndOfWork final : public Arrival {
 public:
  explicit EndOfWork(const cuda::Stream& stream) : device_(stream.device_index()) {
    event_.record(stream);
  }
  bool await() override {
    if (event_.query()) return true;
    event_.block(cuda::getCurrentCUDAStream(device_));
    return false;
  }

 private:
  int device_;
  cuda::Event event_;
};

}  // namespace

SideStreams::SideStreams(const std::vector<Device>& devices) {
  for (const Device device : devices) {
    if (!device.is_cuda()) continue;
    const cuda::Stream former = cuda::getCurrentCUDAStream(device.index());
    const cuda::Stream side = side_stream(device);
    if (former == side) continue;  // the device has been there before
    cuda::Event start;
    start.record(former);
    start.block(side);
    cuda::setCurrentCUDAStream(side);
    former_.push_back(former);
  }
}

SideStreams::~SideStreams() {
  for (const cuda::Stream& stream : former_) cuda::setCurrentCUDAStream(stream);
}

void SideStreams::use(const Tensor& x) const {
  if (!x.is_cuda()) return;
  cuda::record_stream(x.impl().storage, side_stream(x.device()));
  for (const cuda::Stream& stream : former_)
    if (stream.device() == x.device()) cuda::record_stream(x.impl().storage, stream);
}

void SideStreams::deliver(ArrayRef<Tensor> tensors) {
  if (!tensors[0].is_cuda()) return;
  const auto end = std::make_shared<EndOfWork>(side_stream(tensors[0].device()));
  for (const Tensor& x : tensors) x.impl().storage->expect(end);
}

void SideStreams::join(const std::vector<Device>& devices) {
  for (const Device from : devices)
    for (const Device to : devices) {
      if (!from.is_cuda() || !to.is_cuda()) continue;
      cuda::Event end;
      end.record(side_stream(from));
      end.block(cuda::getCurrentCUDAStream(to.index()));
      end.block(side_stream(to));
    }
}

}  // namespace gradus::nn::parallel
