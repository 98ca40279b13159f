// DataParallel: one batch on several devices of one process.
//
//   nn::DataParallel parallel(net, {0, 1, 2, 3});     // GPUs; {kCPU, kCPU} on the CPU
//   optim::SGD sgd(parallel->parameters(), 0.1);
//   loss(parallel(x), y).backward();
//   sgd.step();
//
// Every forward shares the batch out along `dim`, runs a replica of the module on each device in a
// thread of its own, and brings the results together. The gradients of the replicas are added into
// those of the module, in the order that reduce_tree.h states: n replicas give bit for bit what the
// n shards of the batch give one after the other on one device.
#pragma once

#include <memory>
#include <optional>

#include "gradus/nn/parallel/data_parallel_base.h"
#include "gradus/nn/parallel/reduce_tree.h"
#include "gradus/nn/parallel/scatter_gather.h"

namespace gradus::nn {

// A Module that has the parameters and buffers of `module` under their own names, so that what is
// saved of one is loaded into the other. The module and all its parts derive from Cloneable.
//
// The replicas are clones that are kept. Before a forward they get the values of those parameters
// and buffers that were changed since, and the training flags. What is neither (options, numbers
// that a module keeps) is that of the time of the cloning: call replicate() after changing it, or
// after writing through data_ptr(). The first replica works in the module's own memory, so its
// changes of buffers stay; what the others do to theirs is lost.
template <class M>
class DataParallelImpl : public parallel::DataParallelBase {
 public:
  // output_device: by default the first device.
  // Errors: Error without devices, or where the module cannot be cloned; ValueError for a device
  // that does not exist.
  explicit DataParallelImpl(std::shared_ptr<M> module, parallel::DeviceIds device_ids = {},
                            std::optional<Device> output_device = std::nullopt, int64_t dim = 0)
      : DataParallelBase(module, std::move(device_ids), output_device, dim),
        module_(std::move(module)) {}

  const std::shared_ptr<M>& module() const { return module_; }

  // What module()->forward(args...) returns, with the tensors of all replicas joined along dim, or,
  // where they have no dimensions, as a vector of one value for each replica. Arguments and results
  // may be tensors and vectors, arrays, pairs, tuples, maps and optionals of such; tensors among
  // the arguments are shared out, and all else is copied to every replica. A batch of fewer rows
  // than devices uses fewer of them; on one device alone the module itself is called.
  // Errors: those of the replicas, which name the replica; Error where the module is not on the
  // first device; as parallel::scatter and parallel::gather.
  template <class... Args>
  auto forward(Args&&... args) {
    check_home();
    return run<M>(*module_, std::forward<Args>(args)...);
  }

 private:
  std::shared_ptr<M> module_;
};

template <class M>
class DataParallel : public ModuleHolder<DataParallelImpl<M>> {
 public:
  using Impl = DataParallelImpl<M>;
  DataParallel(std::nullptr_t) : ModuleHolder<Impl>(nullptr) {}                      // NOLINT
  DataParallel(std::shared_ptr<Impl> impl) : ModuleHolder<Impl>(std::move(impl)) {}  // NOLINT
  DataParallel(std::shared_ptr<M> module, parallel::DeviceIds device_ids = {},  // NOLINT: implicit
               std::optional<Device> output_device = std::nullopt, int64_t dim = 0)
      : ModuleHolder<Impl>(
            std::make_shared<Impl>(std::move(module), std::move(device_ids), output_device, dim)) {}
  DataParallel(const ModuleHolder<M>& module, parallel::DeviceIds device_ids = {},  // NOLINT
               std::optional<Device> output_device = std::nullopt, int64_t dim = 0)
      : DataParallel(module.ptr(), std::move(device_ids), output_device, dim) {}
};

namespace parallel {

// One such forward with replicas that are made for it; a module in a loop belongs into a
// DataParallel, which keeps them. The module may be on any one device: where that is not the first,
// its buffers stay as they are. On one device alone the module is moved there.
template <class ModuleType>
Tensor data_parallel(ModuleType module, Tensor input, DeviceIds devices = {},
                     std::optional<Device> output_device = std::nullopt, int64_t dim = 0) {
  using M = std::remove_reference_t<decltype(*module)>;
  class Once : public DataParallelBase {
   public:
    using DataParallelBase::DataParallelBase;
    Tensor operator()(M& original, Tensor x) {
      move_alone();
      return run<M>(original, std::move(x));
    }
  };
  std::shared_ptr<M> shared;
  if constexpr (std::is_convertible_v<ModuleType, std::shared_ptr<M>>)
    shared = module;
  else
    shared = module.ptr();
  return Once(shared, std::move(devices), output_device, dim)(*shared, std::move(input));
}

}  // namespace parallel
}  // namespace gradus::nn
