// DataParallel without the class of its module: checks, replicate, forward of one device.
#include "gradus/nn/parallel/data_parallel_base.h"

#include <algorithm>
#include <ostream>

#include "gradus/cuda/runtime/device.h"
#include "gradus/nn/parallel/engine.h"
#include "gradus/tensor/backend.h"

namespace gradus::nn::parallel {

DeviceIds::DeviceIds(const std::vector<int>& gpus) : devices_(std::in_place) {
  for (const int gpu : gpus) {
    check(gpu >= 0 && gpu <= INT8_MAX, "DataParallel: ", gpu,
          " is not the number of a GPU; give numbers from 0 on");
    devices_->emplace_back(kCUDA, static_cast<DeviceIndex>(gpu));
  }
}

std::vector<Device> DeviceIds::resolved() const {
  std::vector<Device> out;
  if (!devices_) {
    check<Error>(cuda::is_available(), "DataParallel: there is no GPU: ", cuda::why_unavailable(),
                 "; to run on the CPU, give it as often as there should be replicas: {kCPU, kCPU}");
    for (int64_t i = 0; i < cuda::device_count(); ++i)
      out.emplace_back(kCUDA, static_cast<DeviceIndex>(i));
    return out;
  }
  check(!devices_->empty(), "DataParallel: device_ids is an empty list; leave it out for all GPUs");
  for (const Device device : *devices_) out.push_back(backend(device.type()).resolve(device));
  return out;
}

DataParallelBase::DataParallelBase(std::shared_ptr<Module> module, const DeviceIds& device_ids,
                                   std::optional<Device> output_device, int64_t dim)
    : Module("DataParallel"),
      original_(std::move(module)),
      devices_(device_ids.resolved()),
      output_device_(output_device ? backend(output_device->type()).resolve(*output_device)
                                   : devices_[0]),
      dim_(dim) {
  check<Error>(original_ != nullptr, "DataParallel: the module is empty; give it one that is made");
  stand_for(original_);
  if (devices_.size() > 1)
    engine_ = std::make_shared<Engine>(original_, devices_, output_device_, dim_);
}

void DataParallelBase::replicate() {
  if (!engine_) return;
  const std::lock_guard lock(engine_->mutex);
  engine_->replicas.forget();
}

void DataParallelBase::start_timeline() {
  if (!engine_) return;
  const std::lock_guard lock(engine_->mutex);
  std::vector<Device> devices = devices_;
  devices.push_back(output_device_);
  engine_->timeline = std::make_unique<Timeline>(devices);
}

std::vector<TimelineSpan> DataParallelBase::stop_timeline() {
  if (!engine_) return {};
  const std::lock_guard lock(engine_->mutex);
  check<Error>(engine_->timeline != nullptr, "stop_timeline: call start_timeline() first");
  const std::vector<TimelineSpan> spans = engine_->timeline->spans();
  engine_->timeline.reset();
  return spans;
}

void DataParallelBase::pretty_print(std::ostream& stream) const {
  stream << "DataParallel(\n  (module): " << *original_ << "\n)";
}

void DataParallelBase::check_home() const {
  const auto check_on = [this](const Tensor& x) {
    check<Error>(x.device() == devices_[0],
                 "DataParallel: module must have its parameters and buffers on device ",
                 devices_[0], " (device_ids[0]) but found one of them on device: ", x.device(),
                 "; move it there with to()");
  };
  for (const Tensor& x : original_->parameters()) check_on(x);
  for (const Tensor& x : original_->buffers()) check_on(x);
}

void DataParallelBase::move_alone() {
  if (!engine_) original_->to(devices_[0]);
}

void DataParallelBase::note_input(Tensors& inputs, const Tensor& x) {
  const auto same = [&](const Tensor& other) { return other.is_same(x); };
  if (x.defined() && std::none_of(inputs.begin(), inputs.end(), same)) inputs.push_back(x);
}

Tensor DataParallelBase::part_of(const Tensors& inputs, const Tensors& parts, const Tensor& x) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_same(x)) return parts[i];
  return x;
}

void DataParallelBase::forward_all(const Tensors& inputs, size_t replicas, const Replica& replica,
                                   const Collect& collect) {
  Forward forward(engine_, inputs, replicas);
  forward.run(
      [&](size_t i, const Tensors& parts) { replica(i, engine_->replicas.module(i), parts); });
  std::vector<Tensors> columns;
  collect(forward.replicas(), columns, nullptr);
  const Tensors joined = forward.gather(columns);
  collect(1, columns, &joined);
}

}  // namespace gradus::nn::parallel
