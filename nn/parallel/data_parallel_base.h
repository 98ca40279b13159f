// DataParallelBase: the part of DataParallel that does not depend on the class of its module.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <tuple>

#include "gradus/nn/parallel/nested.h"
#include "gradus/nn/parallel/timeline_span.h"

namespace gradus::nn::parallel {

struct Engine;

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
  // stop_timeline() returns when each phase ran on each replica, for all steps since
  // start_timeline(); with one device, nothing. Both wait for the devices.
  void start_timeline();
  std::vector<TimelineSpan> stop_timeline();
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
    std::tuple<std::decay_t<Args>...> given(std::forward<Args>(args)...);
    const auto call = [](M& callee, auto& arguments) {
      return std::apply([&](auto&... each) { return Module::call(callee, each...); }, arguments);
    };
    using Result = decltype(call(module, given));
    static_assert(kHoldsTensorsAlone<Result>,
                  "DataParallel joins tensors, and vectors, arrays, pairs, tuples, maps and "
                  "optionals of them: let forward return a number as a tensor");
    if (devices_.size() == 1) {
      for_each_tensor(given, [&](Tensor& x) {
        if (x.defined()) x = x.to(devices_[0]);
      });
      Result result = call(module, given);
      for_each_tensor(result, [&](Tensor& x) {
        if (x.defined()) x = x.to(output_device_);
      });
      return result;
    }
    Tensors inputs;
    for_each_tensor(given, [&](Tensor& x) { note_input(inputs, x); });
    std::vector<std::optional<Result>> results(devices_.size());
    const auto replica = [&](size_t i, Module& copy, const Tensors& parts) {
      auto arguments = given;
      for_each_tensor(arguments, [&](Tensor& x) { x = part_of(inputs, parts, x); });
      results[i] = call(static_cast<M&>(copy), arguments);
    };
    const auto collect = [&](size_t count, std::vector<Tensors>& columns, const Tensors* joined) {
      std::vector<Result*> parts;
      for (size_t i = 0; i < count; ++i) parts.push_back(&*results[i]);
      size_t next = 0;
      const auto column = [&](const std::vector<Tensor*>& tensors) {
        if (joined) {
          *tensors[0] = (*joined)[next++];
          return;
        }
        columns.emplace_back();
        for (const Tensor* x : tensors) columns.back().push_back(*x);
      };
      for_each_column(parts, column);
    };
    forward_all(inputs, sizeof...(Args) == 0 ? 1 : devices_.size(), replica, collect);
    return std::move(*results[0]);
  }

 private:
  using Replica = std::function<void(size_t, Module&, const Tensors&)>;
  // Reads the tensors of the first `count` results into columns; or, where `joined` is given,
  // writes those into the first result.
  using Collect = std::function<void(size_t, std::vector<Tensors>&, const Tensors*)>;
  static void note_input(Tensors& inputs, const Tensor& x);
  static Tensor part_of(const Tensors& inputs, const Tensors& parts, const Tensor& x);
  void forward_all(const Tensors& inputs, size_t replicas, const Replica& replica,
                   const Collect& collect);

  std::shared_ptr<Module> original_;
  std::vector<Device> devices_;
  Device output_device_;
  int64_t dim_;
  std::shared_ptr<Engine> engine_;  // null on one device alone
};

}  // namespace gradus::nn::parallel
