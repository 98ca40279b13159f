// DataParallel: one batch on several devices of one process.
//
//   nn::DataParallel parallel(net, {0, 1, 2, 3});     // GPUs; {kCPU, kCPU} on the CPU
//   loss(parallel(x), y).backward();
//
// n replicas give the same bits as the n shards of the batch one after the other on one device: the
// gradients of the replicas are added by sum_in_chain (broadcast.h).
#pragma once

#include <memory>
#include <optional>

#include "gradus/nn/parallel/broadcast.h"
#include "gradus/nn/parallel/data_parallel_base.h"
#include "gradus/nn/parallel/scatter_gather.h"

namespace gradus::nn {

// Every forward splits the batch along `dim`, runs a replica of the module on each device in its
// own thread, and joins the results. Parameters and buffers have the module's names, so a file
// saved from one can be loaded into the other. The module and its submodules must derive from
// Cloneable.
//
// The replicas are clones that are kept between forwards. Each forward brings them the training
// flags, and the parameters and buffers that have changed. Other members (options, plain numbers,
// hooks) keep the values they had when the module was cloned: call replicate() after changing them,
// or after writing through data_ptr(). The first replica works in the module's own memory, so its
// changes of buffers stay; the changes of the other replicas are lost.
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

  // Returns what module()->forward(args...) returns. The tensors of all replicas are joined along
  // dim; tensors without dimensions become a vector of one value for each replica. Arguments and
  // results may be tensors, and vectors, arrays, pairs, tuples, maps and optionals of tensors.
  // Tensors among the arguments are split; everything else is copied to every replica. A batch of
  // fewer rows than devices uses fewer devices; with one device the module itself is called.
  // Errors: those of the replicas, which name the replica; Error where the module is not on the
  // first device; those of parallel::scatter and parallel::gather.
  template <class... Args>
  auto forward(Args&&... args) {
    check_home();
    return run<M>(*module_, std::forward<Args>(args)...);
  }
  // The same for a module that may be on any one device.
  Tensor forward_once(Tensor input) {
    move_alone();
    return run<M>(*module_, std::move(input));
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

// One forward with replicas that are made for this call. DataParallel keeps its replicas; use it in
// a loop. The module may be on any one device; where that is not the first of `devices`, its
// buffers do not change. A single device: the module is moved to it.
template <class ModuleType>
Tensor data_parallel(ModuleType module, Tensor input, DeviceIds devices = {},
                     std::optional<Device> output_device = std::nullopt, int64_t dim = 0) {
  using M = std::remove_reference_t<decltype(*module)>;
  return DataParallel<M>(module, std::move(devices), output_device, dim)
      ->forward_once(std::move(input));
}

}  // namespace parallel
}  // namespace gradus::nn
