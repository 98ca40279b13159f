// DataParallelBase: the part of DataParallel that does not depend on the class of its module.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <tuple>

#include "gradus/nn/module.h"
#include "gradus/nn/nested.h"

namespace gradus::nn::parallel {

// A list of devices. A device may stand in it several times: {kCPU, kCPU}. Numbers are those of
// GPUs: {0, 1}. Default: all GPUs.
class DeviceIds {
 public:
  DeviceIds() = default;
  DeviceIds(std::nullopt_t) {}                                                             // NOLINT
  DeviceIds(std::vector<Device> devices) : devices_(std::move(devices)) {}                 // NOLINT
  DeviceIds(std::optional<std::vector<Device>> devices) : devices_(std::move(devices)) {}  // NOLINT
  DeviceIds(std::initializer_list<Device> devices)                                         // NOLINT
      : DeviceIds(std::vector<Device>(devices)) {}
  DeviceIds(std::initializer_list<int> gpus) : DeviceIds(std::vector<int>(gpus)) {}  // NOLINT
  DeviceIds(const std::vector<int>& gpus);                                           // NOLINT

  // The devices of the list. Errors: Error where all GPUs are meant and the machine has none;
  // ValueError for an empty list, or for a device that does not exist.
  std::vector<Device> resolved() const;

 private:
  std::optional<std::vector<Device>> devices_;
};

class DataParallelBase : public Module {
 public:
  DataParallelBase(std::shared_ptr<Module> module, const DeviceIds& device_ids,
                   std::optional<Device> output_device, int64_t dim);

  const std::vector<Device>& device_ids() const { return devices_; }
  Device output_device() const { return output_device_; }
  int64_t dim() const { return dim_; }
  // Makes the next forward clone the module again.
  void replicate();
  void pretty_print(std::ostream& stream) const override;
  // Saves and loads the archive of the wrapped module.
  void save(serialize::OutputArchive& archive) const override { original_->save(archive); }
  void load(serialize::InputArchive& archive) override { original_->load(archive); }

 protected:
  // Errors: Error where a parameter or buffer is not on the first device.
  void check_home() const;
  // Where there is only one device, moves the module to it.
  void move_alone();

  template <class M, class... Args>
  auto run(M& module, Args&&... args) {
    using Arguments = std::tuple<std::decay_t<Args>...>;
    std::vector<Arguments> given(devices_.size(), Arguments(std::forward<Args>(args)...));
    const auto call = [](Module& callee, Arguments& arguments) {
      const auto forward = [&](auto&... each) {
        return Module::call(static_cast<M&>(callee), each...);
      };
      return std::apply(forward, arguments);
    };
    using Result = decltype(call(module, given[0]));
    static_assert(kHoldsTensorsAlone<Result>,
                  "DataParallel joins tensors, and vectors, arrays, pairs, tuples, maps and "
                  "optionals of them: let forward return a number as a tensor");
    std::vector<std::optional<Result>> results(devices_.size());
    forward_all(
        [&](const OnColumn& scatter) { for_each_column(pointers_to(given), scatter); },
        sizeof...(Args) == 0 ? 1 : devices_.size(),
        [&](size_t replica, Module& copy) { results[replica] = call(copy, given[replica]); },
        [&](const OnColumn& gather) {
          std::erase_if(results, [](const auto& result) { return !result; });
          for_each_column(pointers_to(results), gather);
        });
    return std::move(*results[0]);
  }

  // Gets the tensors that stand at one place of each replica's arguments, or results.
  using OnColumn = std::function<void(const std::vector<Tensor*>&)>;
  using Columns = std::function<void(const OnColumn&)>;
  // `count` replicas run where there are no tensors among the arguments.
  void forward_all(const Columns& arguments, size_t count,
                   const std::function<void(size_t, Module&)>& replica, const Columns& results);

 private:
  std::shared_ptr<Module> original_;
  std::vector<Device> devices_;
  Device output_device_;
  int64_t dim_;
  struct Engine;
  std::shared_ptr<Engine> engine_;  // null on one device alone
};

}  // namespace gradus::nn::parallel
