// The sum of parts along the chain of replicas.
#include "gradus/nn/parallel/sum_in_chain.h"

#include "gradus/tensor/raw/raw.h"

namespace gradus::nn::parallel {

Tensor sum_in_chain(ArrayRef<Tensor> parts) {
  Tensor sum;
  for (size_t i = parts.size(); i-- > 0;) {
    const Tensor& part = parts[i];
    if (!part.defined()) continue;
    sum = sum.defined() ? raw::zip(BinaryOp::add, part, raw::to(sum, part.device()))
                        : raw::clone(part);
  }
  return sum;
}

}  // namespace gradus::nn::parallel
