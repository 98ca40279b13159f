// fuse: one kernel of a function that is a chain of elementwise operations and reductions.
//
//   auto f = fuse([](const Tensor& x, const Tensor& bias) { return gelu(x + bias) * 2; });
//   Tensor y = f(x, bias);  // one pass over memory, and one more for all gradients
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "gradus/tensor/tensor.h"

namespace gradus {

namespace detail {

// The traces of a function: one for each kind of arguments.
class FusedFunction {
 public:
  FusedFunction();
  Tensors call(const Tensors& inputs, const std::function<Tensors(const Tensors&)>& f);
  std::string source() const;
  std::string why_not() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace detail

// A function made by fuse(). Copies share their kernels.
template <class F>
class Fused {
 public:
  explicit Fused(F f) : f_(std::make_shared<F>(std::move(f))) {}

  // f(tensors...), of one device.
  template <class... T>
  auto operator()(const T&... tensors) const {
    return call(std::index_sequence_for<T...>{}, tensors...);
  }

  // The kernels that were made so far, as CUDA C++. A CPU computes their nodes in blocks that stay
  // in its caches; there the text is what a GPU would run.
  std::string source() const { return state_.source(); }
  // Why the last call that could not be fused was not; empty where every call was.
  std::string why_not() const { return state_.why_not(); }

 private:
  template <size_t... I, class... T>
  auto call(std::index_sequence<I...>, const T&... tensors) const {
    using Result = decltype((*f_)(tensors...));
    const auto unpacked = [f = f_](const Tensors& list) {
      if constexpr (std::is_same_v<Result, Tensor>)
        return Tensors{(*f)(list[I]...)};
      else
        return Tensors((*f)(list[I]...));
    };
    Tensors out = state_.call({tensors...}, unpacked);
    if constexpr (std::is_same_v<Result, Tensor>)
      return std::move(out[0]);
    else
      return out;
  }

  std::shared_ptr<F> f_;
  mutable detail::FusedFunction state_;
};

// A function that computes what f does, with its gradients, in as few kernels as f's reductions
// allow. f takes Tensors and returns a Tensor or Tensors. f may call elementwise operations, casts,
// where, dropout, views, sums and other reductions, softmax and layer_norm. A matrix product stands
// between two kernels. f may call itself and other fused functions, whose operations become a part
// of its kernels. The kernels convert as autocast does, which keeps the copies of weights.
//
// The first call with tensors of new dtypes, shapes or strides runs f on tensors without data
// (kMeta) to see what it computes. f must not depend on anything else that changes, such as numbers
// that it captured. Intermediate values but products are not kept for the backward pass but
// computed again.
//
// f is called unfused where it does something else: sorts, reads data (item()), changes an argument
// or captures a tensor. A warning, once for each function, and why_not() name the reason. Errors:
// those of f. f is called unfused, too, while rows have the same bits in every batch
// (docs/reproducibility.md).
template <class F>
Fused<F> fuse(F f) {
  return Fused<F>(std::move(f));
}

}  // namespace gradus
