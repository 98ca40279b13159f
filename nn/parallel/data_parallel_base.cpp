// DataParallel without the class of its module: checks, replicate, forward of one device.
#include "gradus/nn/parallel/data_parallel_base.h"

#include <algorithm>
#include <mutex>
#include <ostream>

#include "gradus/cuda/runtime/device.h"
#include "gradus/nn/parallel/replica_threads.h"
#include "gradus/nn/parallel/replicas.h"
#include "gradus/nn/parallel/scatter_gather.h"
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

// Forwards of several threads take turns.
struct DataParallelBase::Engine {
  Engine(std::shared_ptr<Module> module, const std::vector<Device>& devices)
      : replicas(std::move(module), devices), threads(devices) {}
  Replicas replicas;
  ReplicaThreads threads;
  std::mutex mutex;  // guards both
};

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
  if (devices_.size() > 1) engine_ = std::make_shared<Engine>(original_, devices_);
}

void DataParallelBase::replicate() {
  if (!engine_) return;
  const std::lock_guard lock(engine_->mutex);
  engine_->replicas.forget();
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

void DataParallelBase::forward_all(const Columns& arguments, size_t count,
                                   const std::function<void(size_t, Module&)>& replica,
                                   const Columns& results) {
  if (!engine_) {
    const auto move = [](const Columns& each, Device to) {
      each([to](const std::vector<Tensor*>& x) {
        if (x[0]->defined()) *x[0] = x[0]->to(to);
      });
    };
    move(arguments, devices_[0]);
    replica(0, *original_);
    return move(results, output_device_);
  }
  const std::lock_guard lock(engine_->mutex);
  Replicas& replicas = engine_->replicas;
  const struct Settled {
    ~Settled() { replicas.settle(); }
    Replicas& replicas;
  } settled{replicas};
  replicas.update();
  Tensor first;
  arguments([&](const std::vector<Tensor*>& parts) {
    const Tensor x = *parts[0];
    if (!x.defined()) return;
    const Tensors scattered = scatter(x, devices_, dim_);
    if (!first.defined()) first = x, count = scattered.size();
    check(scattered.size() == count, "DataParallel: along dimension ", dim_, " the input of shape ",
          first.sizes(), " falls into ", count, " parts, that of shape ", x.sizes(), " into ",
          scattered.size(), "; give them the same size there");
    for (size_t r = 0; r < count; ++r) *parts[r] = scattered[r];
  });
  engine_->threads.run(count, [&](size_t r) {
    replicas.match_training(r);
    replica(r, replicas.module(r));
  });
  results([&](const std::vector<Tensor*>& parts) {
    Tensors column;
    for (const Tensor* part : parts)
      if (part->defined()) column.push_back(*part);
    check(column.empty() || column.size() == parts.size(),
          "gather: some replicas returned an undefined tensor where others returned one");
    if (!column.empty()) *parts[0] = gather(column, output_device_, dim_);
  });
}

}  // namespace gradus::nn::parallel
