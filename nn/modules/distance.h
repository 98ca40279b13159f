// CosineSimilarity, PairwiseDistance and their functions, and pdist.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

struct CosineSimilarityOptions {
  GRADUS_OPTIONS(CosineSimilarityOptions, OPTION(int64_t, dim, 1), OPTION(double, eps, 1e-8));
};
struct PairwiseDistanceOptions {
  GRADUS_OPTIONS(PairwiseDistanceOptions, OPTION(double, p, 2), OPTION(double, eps, 1e-6),
                 OPTION(bool, keepdim, false));
};

namespace functional {

using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;
using gradus::pdist;

inline Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                                const CosineSimilarityOptions& options = {}) {
  return gradus::cosine_similarity(x1, x2, options.dim(), options.eps());
}
inline Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                                const PairwiseDistanceOptions& options = {}) {
  return gradus::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}

}  // namespace functional

// The module of a function of two tensors that broadcast to one shape.
template <class Derived, class Options, auto function>
struct Distance : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;

  // Errors: ValueError for an undefined input, and those of the function.
  Tensor forward(const Tensor& input1, const Tensor& input2) {
    this->check_defined(input1, "input1");
    this->check_defined(input2, "input2");
    return function(input1, input2, this->options);
  }
};

// x1 x2 / (|x1| |x2|) along dim, with norms of at least eps. The result lacks dim.
GRADUS_LAYER(CosineSimilarity, Distance, CosineSimilarityOptions, functional::cosine_similarity);

// The p-norm of x1 - x2 + eps along the last dimension, which the result lacks without keepdim.
GRADUS_LAYER(PairwiseDistance, Distance, PairwiseDistanceOptions, functional::pairwise_distance);

}  // namespace gradus::nn
