// The mean of squared differences, with its gradients.
#include "gradus/autograd/ops/mean_square.h"

#include "gradus/autograd/ops/reduce.h"

namespace gradus {

Tensor mean_square(const Tensor& x, const Tensor& y) {
  Tensor out = raw::mean_square(x, y);
  if (recording(x, y))
    record("MseLossBackward0", out, {x, y}, {x, y}, [](Node& n, const Tensor& grad) -> Tensors {
      const Tensor a = n.saved(0), b = n.saved(1);
      const Tensor of_a = GradMode::is_enabled()
                              ? grad * (2 / static_cast<double>(a.numel())) * (a - b)
                              : raw::mean_square_grad(grad, a, b);
      return {of_a, n.wants(1) ? -of_a : Tensor()};
    });
  return out;
}

}  // namespace gradus
