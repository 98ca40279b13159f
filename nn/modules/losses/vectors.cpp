// The losses of losses.def that compare vectors.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/nn/modules/losses/parts.h"

namespace gradus::nn::functional {

using namespace detail;

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossOptions& options) {
  GRADUS_AUTOCAST(cosine_embedding_loss, input1, input2, target, options);
  const char* op = "cosine_embedding_loss";
  check_defined(op, {{"input1", input1}, {"input2", input2}, {"target", target}});
  check(target.dim() <= 1, op, ": target has shape ", target.sizes(),
        ", expected () or (N); reshape it");
  check(input1.dim() == target.dim() + 1 && input2.dim() == target.dim() + 1, op,
        ": input1 has shape ", input1.sizes(), ", input2 ", input2.sizes(), ", target ",
        target.sizes(), "; expected (N, D), (N, D), (N) or (D), (D), (); reshape one");
  check_broadcast(op, {{"input1", input1}, {"input2", input2}});
  broadcast_shapes(op, input1.sizes().slice(0, static_cast<size_t>(target.dim())), target.sizes());
  const auto square = [](const Tensor& x) { return x.square().sum(-1) + 1e-12; };
  const Tensor cosine = (input1 * input2).sum(-1) / (square(input1) * square(input2)).sqrt();
  const Tensor losses = where(target == 1, 1 - cosine, 0) +
                        where(target == -1, (cosine - options.margin()).clamp_min(0), 0);
  return reduced(op, losses, options.reduction());
}

namespace {

template <class Distance, class Options>
Tensor triplet_loss(const char* op, const Tensor& anchor, const Tensor& positive,
                    const Tensor& negative, const Distance& distance, const Options& options) {
  check(options.margin() > 0, op, ": margin is ", options.margin(), "; expected more than 0");
  Tensor apart = distance(anchor, negative);
  if (options.swap()) apart = apart.minimum(distance(positive, negative));
  return reduced(op, (distance(anchor, positive) - apart + options.margin()).clamp_min(0),
                 options.reduction());
}

}  // namespace

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossOptions& options) {
  GRADUS_AUTOCAST(triplet_margin_loss, anchor, positive, negative, options);
  const char* op = "triplet_margin_loss";
  check_same_rank(op, {{"anchor", anchor}, {"positive", positive}, {"negative", negative}});
  const auto distance = [&](const Tensor& x, const Tensor& y) {
    return gradus::pairwise_distance(x, y, options.p(), options.eps());
  };
  return triplet_loss(op, anchor, positive, negative, distance, options);
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative,
                                         const TripletMarginWithDistanceLossOptions& options) {
  const char* op = "triplet_margin_with_distance_loss";
  check_defined(op, {{"anchor", anchor}, {"positive", positive}, {"negative", negative}});
  const auto distance = [&](const Tensor& x, const Tensor& y) {
    return options.distance_function() ? (*options.distance_function())(x, y)
                                       : gradus::pairwise_distance(x, y);
  };
  return triplet_loss(op, anchor, positive, negative, distance, options);
}

}  // namespace gradus::nn::functional
