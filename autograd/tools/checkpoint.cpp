// The tickets that stand for saved tensors, and the second run that redeems them.
#include "gradus/autograd/tools/checkpoint.h"

#include <algorithm>
#include <mutex>

#include "gradus/autograd/engine/autocast.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/saved.h"
#include "gradus/tensor/generator.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd {

namespace {

using ListFunction = std::function<Tensors(const Tensors&)>;

// Where the random numbers of some devices stand.
class RandomStates {
 public:
  explicit RandomStates(const Tensors& inputs) : devices_{Device(kCPU)} {
    for (const Tensor& x : inputs)
      if (x.defined() && std::find(devices_.begin(), devices_.end(), x.device()) == devices_.end())
        devices_.push_back(x.device());
    for (const Device device : devices_) states_.push_back(default_generator(device).philox());
  }
  void restore() const {
    for (size_t i = 0; i < devices_.size(); ++i)
      default_generator(devices_[i]).set_philox(states_[i]);
  }

 private:
  std::vector<Device> devices_;
  std::vector<PhiloxState> states_;
};

// A tensor that a second run of the function saved, and its version then.
struct Kept {
  // Errors: Error where the tensor was changed in place since, by the function itself as a rule.
  void check_unchanged() const {
    if (tensor._version() != version)
      fail_changed(tensor, version, nullptr, 0, "A function inside checkpoint");
  }

  Tensor tensor;
  uint32_t version = 0;
};

// Keeps what a second run of the function saves.
class Collector final : public SavedStore {
 public:
  size_t put(const Tensor& tensor) override {
    kept.push_back({raw::alias(tensor), tensor._version()});
    return kept.size() - 1;
  }
  Tensor get(size_t number) override {
    kept[number].check_unchanged();
    return raw::alias(kept[number].tensor);
  }

  std::vector<Kept> kept;
};

// Keeps nothing but how to compute it again.
class Recomputation final : public SavedStore {
 public:
  Recomputation(ListFunction f, const Tensors& inputs) : f_(std::move(f)), random_(inputs) {
    for (const Tensor& x : inputs) {
      inputs_.emplace_back(x, std::nullopt);
      requires_grad_.push_back(x.defined() && x.requires_grad());
    }
  }

  size_t put(const Tensor&) override { return count_++; }

  Tensor get(size_t number) override {
    const std::lock_guard lock(mutex_);
    if (again_.empty() || !again_[number].tensor.defined()) again_ = run_again();
    again_[number].check_unchanged();
    return std::exchange(again_[number].tensor, Tensor());
  }

 private:
  std::vector<Kept> run_again() const {
    struct Restore {
      const RandomStates now;
      ~Restore() { now.restore(); }
    };
    Tensors inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor x = inputs_[i].unpack(nullptr);
      inputs.push_back(x.defined() ? raw::alias(x) : x);
      if (requires_grad_[i]) inputs.back().requires_grad_();
    }
    const Restore restore{RandomStates(inputs)};
    random_.restore();
    const auto collector = std::make_shared<Collector>();
    {
      const SavedStoreGuard guard(*collector);
      const AutoGradMode mode(true);
      const autocast::Scope scope(autocast_);
      f_(inputs);
    }
    check<Error>(collector->kept.size() == count_, "checkpoint: the function saved ", count_,
                 " tensors for its backward, and ", collector->kept.size(),
                 " when it ran again; it must compute the same each time");
    return std::move(collector->kept);
  }

  ListFunction f_;
  std::vector<Saved> inputs_;
  std::vector<bool> requires_grad_;
  RandomStates random_;
  AutocastMode autocast_ = thread_modes.autocast;
  size_t count_ = 0;
  std::mutex mutex_;         // guards again_
  std::vector<Kept> again_;  // those that were not read yet
};

}  // namespace

Tensors checkpoint(const ListFunction& f, const Tensors& inputs) {
  if (!GradMode::is_enabled()) return f(inputs);
  const auto store = std::make_shared<Recomputation>(f, inputs);
  const SavedStoreGuard guard(*store);
  return f(inputs);
}

Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& input) {
  return checkpoint([f](const Tensors& in) { return Tensors{f(in[0])}; }, {input})[0];
}

}  // namespace gradus::autograd
