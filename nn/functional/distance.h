// nn::functional: distances with options, F::pairwise_distance(x, y,
// F::PairwiseDistanceFuncOptions().p(1)).
#pragma once

#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/option.h"

namespace gradus::nn::functional {

struct CosineSimilarityFuncOptions {
  GRADUS_OPTIONS(CosineSimilarityFuncOptions, OPTION(int64_t, dim, 1), OPTION(double, eps, 1e-8));
};
struct PairwiseDistanceFuncOptions {
  GRADUS_OPTIONS(PairwiseDistanceFuncOptions, OPTION(double, p, 2), OPTION(double, eps, 1e-6),
                 OPTION(bool, keepdim, false));
};

inline Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                                const CosineSimilarityFuncOptions& options = {}) {
  return gradus::cosine_similarity(x1, x2, options.dim(), options.eps());
}
inline Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                                const PairwiseDistanceFuncOptions& options = {}) {
  return gradus::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}

}  // namespace gradus::nn::functional
