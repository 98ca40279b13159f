// MaxUnpool1d to MaxUnpool3d: the elements that a MaxPool chose, put back where they were.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

// stride: kernel_size unless set.
template <size_t D>
struct MaxUnpoolOptions {
  GRADUS_OPTIONS(MaxUnpoolOptions, ARGUMENT(ExpandingArray<D>, kernel_size),
                 OPTION(ExpandingArray<D>, stride, kernel_size_),
                 OPTION(ExpandingArray<D>, padding, 0));
};
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;

namespace functional {

// output_size: as that of max_unpool below.
template <size_t D>
struct MaxUnpoolFuncOptions {
  GRADUS_OPTIONS(MaxUnpoolFuncOptions, ARGUMENT(ExpandingArray<D>, kernel_size),
                 OPTION(ExpandingArray<D>, stride, kernel_size_),
                 OPTION(ExpandingArray<D>, padding, 0),
                 OPTION(std::optional<std::vector<int64_t>>, output_size, {}));
};
using MaxUnpool1dFuncOptions = MaxUnpoolFuncOptions<1>;
using MaxUnpool2dFuncOptions = MaxUnpoolFuncOptions<2>;
using MaxUnpool3dFuncOptions = MaxUnpoolFuncOptions<3>;

// input and indices as MaxPool's with_indices returns them, (N, C, sizes) or (C, sizes); all other
// elements are 0. output_size: the spatial sizes, or all; by default the least from which the
// pool gives such an output. Errors: ValueError for other shapes, IndexError for an index beyond
// the output.
template <size_t D>
Tensor max_unpool(const Tensor& input, const Tensor& indices,
                  const MaxUnpoolFuncOptions<D>& options);
inline Tensor max_unpool1d(const Tensor& input, const Tensor& indices,
                           const MaxUnpool1dFuncOptions& options) {
  return max_unpool<1>(input, indices, options);
}
inline Tensor max_unpool2d(const Tensor& input, const Tensor& indices,
                           const MaxUnpool2dFuncOptions& options) {
  return max_unpool<2>(input, indices, options);
}
inline Tensor max_unpool3d(const Tensor& input, const Tensor& indices,
                           const MaxUnpool3dFuncOptions& options) {
  return max_unpool<3>(input, indices, options);
}

}  // namespace functional

// Shapes are those of max_unpool.
// Errors: ValueError for an undefined input or indices, and those of the function.
template <class Derived, size_t D>
struct MaxUnpoolImpl : Layer<Derived, MaxUnpoolOptions<D>> {
  using Layer<Derived, MaxUnpoolOptions<D>>::Layer;
  Tensor forward(const Tensor& input, const Tensor& indices,
                 const std::optional<std::vector<int64_t>>& output_size = std::nullopt) {
    this->check_defined(input, "input");
    this->check_defined(indices, "indices");
    return functional::max_unpool<D>(
        input, indices,
        functional::MaxUnpoolFuncOptions<D>(this->options.kernel_size())
            .stride(this->options.stride())
            .padding(this->options.padding())
            .output_size(output_size));
  }

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(std::optional<std::vector<int64_t>>())});
};

GRADUS_LAYER(MaxUnpool1d, MaxUnpoolImpl, 1);
GRADUS_LAYER(MaxUnpool2d, MaxUnpoolImpl, 2);
GRADUS_LAYER(MaxUnpool3d, MaxUnpoolImpl, 3);

}  // namespace gradus::nn
