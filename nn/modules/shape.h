// Identity, Flatten and Unflatten: modules that compute nothing.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

// Returns its input.
struct IdentityImpl : Layer<IdentityImpl> {
  using Layer::Layer;
  Tensor forward(const Tensor& input) { return input; }
};
GRADUS_MODULE(Identity);

struct FlattenOptions {
  GRADUS_OPTIONS(FlattenOptions, OPTION(int64_t, start_dim, 1), OPTION(int64_t, end_dim, -1));
};

// The dimensions from start_dim to end_dim become one: a batch of images becomes rows of pixels.
// Errors: ValueError for an undefined input, IndexError for dimensions that it lacks.
struct FlattenImpl : Layer<FlattenImpl, FlattenOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& input) {
    check_defined(input, "input");
    return input.flatten(options.start_dim(), options.end_dim());
  }
};
GRADUS_MODULE(Flatten);

struct UnflattenOptions {
  GRADUS_OPTIONS(UnflattenOptions, ARGUMENT(int64_t, dim), ARGUMENT(std::vector<int64_t>, sizes));
};

// dim becomes several dimensions of these sizes, of which one may be -1.
// Errors: ValueError for an undefined input, and sizes that do not multiply to that of dim.
struct UnflattenImpl : Layer<UnflattenImpl, UnflattenOptions> {
  using Layer::Layer;
  // Unflatten(1, {2, 3}), which the constructors of options do not take.
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
      : Layer(UnflattenOptions(dim, std::move(sizes))) {}
  void pretty_print(std::ostream& stream) const override {
    stream << class_name(typeid(*this)) << "(dim=" << options.dim() << ", unflattened_size={"
           << detail::joined_numbers(options.sizes()) << "})";
  }
  Tensor forward(const Tensor& input) {
    check_defined(input, "input");
    return input.unflatten(options.dim(), options.sizes());
  }
};
GRADUS_MODULE(Unflatten);

}  // namespace gradus::nn
