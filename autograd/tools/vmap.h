// vmap: a function of one sample, evaluated once for a batch of them.
//
//   auto scores = vmap([&](const Tensor& x) { return matmul(weight, x); });
//   Tensor y = scores(batch);  // one product: (samples, in) times (in, out)
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::autograd::functional {

// The dimensions of arguments or results that samples stand along: one for all tensors, or a list
// with one for each. std::nullopt: all samples share the tensor.
struct MappedDims {
  using Dim = std::optional<int64_t>;
  MappedDims(int64_t dim) : dims{dim} {}                                               // NOLINT
  MappedDims(std::nullopt_t) : dims{std::nullopt} {}                                   // NOLINT
  MappedDims(std::initializer_list<Dim> list) : MappedDims(std::vector<Dim>(list)) {}  // NOLINT
  MappedDims(std::vector<Dim> list) : dims(std::move(list)), is_list(true) {}          // NOLINT

  std::vector<Dim> dims;
  bool is_list = false;
};

// vmap of a function of lists.
Tensors vmap_lists(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs,
                   const MappedDims& in_dims, const MappedDims& out_dims,
                   std::string_view randomness);

// A function made by vmap().
template <class F>
class Vmapped {
 public:
  Vmapped(F f, MappedDims in_dims, MappedDims out_dims, std::string_view randomness)
      : f_(std::move(f)),
        in_dims_(std::move(in_dims)),
        out_dims_(std::move(out_dims)),
        randomness_(randomness) {}

  // f's result of one sample is a Tensor, or Tensors; so is this.
  template <class... T>
  auto operator()(const T&... tensors) const {
    return call(std::index_sequence_for<T...>{}, tensors...);
  }
  auto operator()(const Tensors& tensors) const {
    return result<decltype(f_(tensors))>([this](const Tensors& list) { return f_(list); }, tensors);
  }

 private:
  template <size_t... I, class... T>
  auto call(std::index_sequence<I...>, const T&... tensors) const {
    return result<decltype(f_(tensors...))>([this](const Tensors& list) { return f_(list[I]...); },
                                            {tensors...});
  }
  template <class Result, class G>
  Result result(G g, const Tensors& inputs) const {
    constexpr bool is_one = std::is_same_v<Result, Tensor>;
    const auto listed = [&](const Tensors& list) {
      if constexpr (is_one)
        return Tensors{g(list)};
      else
        return Tensors(g(list));
    };
    Tensors out = vmap_lists(listed, inputs, in_dims_, out_dims_, randomness_);
    if constexpr (is_one)
      return std::move(out[0]);
    else
      return out;
  }

  F f_;
  MappedDims in_dims_, out_dims_;
  std::string randomness_;
};

// torch.func.vmap. f takes Tensors, or one list of them, and returns a Tensor or Tensors. It is
// called once. Its arguments have the shapes of one sample and stand for all: operations on them
// compute all samples at once. An operation without a rule for that runs for each sample in turn,
// and a warning says so once. Where f reads elements of such a tensor, as item() does, f itself is
// called for each sample; what the first call changed in place is taken back before.
//
// Results and gradients are those of a loop over the samples, up to rounding. Tensors that f
// captures may require grad: they get the sum over the samples. For a gradient of each sample's own
// pass them as arguments with in_dims std::nullopt, and call autograd::grad in f.
//
// randomness: "error", "different" (each sample draws its own numbers) or "same".
// Where there is no sample, f is called all the same, and says the shape of the result.
//
// Errors: ValueError for in_dims and out_dims that do not fit, and for sizes that differ. Error for
// a change in place that differs between samples of a tensor that they share, where f draws random
// numbers and may not, and where f reads elements and there is no sample.
template <class F>
Vmapped<F> vmap(F f, MappedDims in_dims = 0, MappedDims out_dims = 0,
                std::string_view randomness = "error") {
  return {std::move(f), std::move(in_dims), std::move(out_dims), randomness};
}

}  // namespace gradus::autograd::functional
