// make_graphed: a function of tensors as a graph, in one call.
//
//   auto step = cuda::make_graphed([&](Tensor x, Tensor y) {
//     optimizer.zero_grad();
//     Tensor loss = criterion(model->forward(x), y);
//     loss.backward();
//     optimizer.step();
//     return loss;
//   }, x, y);
//   for (const auto& [x, y] : batches) step(x, y);
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/cuda/runtime/graph.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// The tensors that a graph reads, where its function finds the arguments of a call.
class StaticInputs {
 public:
  // Errors: ValueError where there is none, or one is not on the GPU of the first.
  explicit StaticInputs(Tensors samples);
  // Errors: ValueError, TypeError for another shape, device or dtype than the sample's.
  void set(const Tensors& given) const;
  const Tensor& operator[](size_t i) const { return inputs_[i]; }
  int device() const { return inputs_[0].device().index(); }

 private:
  void copy(const Tensors& given) const;

  Tensors inputs_;
  Tensor joined_;  // the memory of them all, as bytes, where they fit side by side
};

// The result of make_graphed. It stays where it is made.
template <class F, class... Inputs>
class Graphed {
  static_assert((std::is_same_v<Inputs, Tensor> && ...), "make_graphed: the inputs are tensors");

 public:
  using Result = std::invoke_result_t<F&, Inputs...>;

  Graphed(F f, const Inputs&... samples) : f_(std::move(f)), inputs_({samples...}) {}

  Result operator()(const Inputs&... given) {
    inputs_.set({given...});
    const DeviceGuard guard(inputs_.device());
    if (calls_ < kWarmUp) {
      ++calls_;
      return run();
    }
    if (!captured_) capture();
    graph_.replay();
    if constexpr (!std::is_void_v<Result>) return *result_;
  }

 private:
  static constexpr int kWarmUp = 2;  // the first call makes states, the second one uses them

  Result run() {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      if constexpr (std::is_void_v<Result>)
        f_(inputs_[I]...);
      else
        return detached(f_(inputs_[I]...));
    }
    (std::index_sequence_for<Inputs...>{});
  }

  void capture() {
    const StreamGuard guard(getStreamFromPool(false, inputs_.device()));
    graph_.capture_begin();
    try {
      if constexpr (std::is_void_v<Result>)
        run();
      else
        result_.emplace(run());
      graph_.capture_end();
    } catch (...) {
      result_.reset();
      graph_.reset();
      throw;
    }
    captured_ = true;
  }

  static Tensor detached(const Tensor& x) { return x.defined() ? x.detach() : x; }
  static Tensors detached(const Tensors& all) {
    Tensors out;
    for (const Tensor& each : all) out.push_back(detached(each));
    return out;
  }
  template <class... T>
  static std::tuple<T...> detached(const std::tuple<T...>& all) {
    return std::apply([](const auto&... each) { return std::tuple<T...>(detached(each)...); }, all);
  }

  F f_;
  StaticInputs inputs_;
  int calls_ = 0;
  bool captured_ = false;
  Graph graph_;
  std::optional<std::conditional_t<std::is_void_v<Result>, char, Result>> result_;
};

// A callable that does what f does, for inputs of the samples' shapes, dtypes and device: so many
// calls give what as many calls of f give. The first two calls run f, which makes what is made
// once: the state of an optimizer, gradients. The third call captures f, and all later ones replay
// the graph. So what f does on the CPU alone, like printing or counting, is not done again.
//
// A call copies its inputs into tensors that f reads, and returns f's result: a Tensor, Tensors, a
// tuple of tensors, or void; without a graph of derivatives. The third and later calls return the
// same tensors each time, which the next call overwrites. Objects that f works with beside its
// inputs, like parameters and optimizers, must outlive the callable and keep their memory.
// Errors: ValueError for inputs that are not on one GPU. A call: ValueError and TypeError for an
// argument that differs from its sample; Error, which names the operation, where something cannot
// be captured. Then nothing was captured, and the next call tries again.
template <class F, class... Inputs>
Graphed<std::decay_t<F>, Inputs...> make_graphed(F&& f, const Inputs&... samples) {
  return {std::forward<F>(f), samples...};
}

}  // namespace gradus::cuda
