// The parts of a normed weight, and the weight made of them.
#include "gradus/nn/utils/weight_norm.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus::nn::utils::detail {

namespace {
// |v| in the shape of g: over the dimensions that are 1 there.
Tensor norm_like(const Tensor& v, const Tensor& g) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < g.dim(); ++d)
    if (g.size(d) == 1) dims.push_back(d);
  if (g.dim() == 0) return v.norm();
  return dims.empty() ? v.abs() : v.norm(2, dims, /*keepdim=*/true);
}

Tensor unit(const Tensor& x, double eps) { return x / x.norm().clamp_min(eps); }

// The rows of `dim`.
Tensor matrix_of(const Tensor& weight, int64_t dim) { return weight.transpose(0, dim).flatten(1); }

Tensor parameter(const Module& module, const std::string& name) {
  return module.named_parameters(/*recurse=*/false)[name];
}
}  // namespace

bool has_parameter(const Module& module, const std::string& name) {
  return module.named_parameters(/*recurse=*/false).contains(name);
}

void WeightNorm::split(Module& module, const Tensor& weight) const {
  const NoGradGuard guard;
  module.register_parameter(name + "_g",
                            dim == -1 ? weight.norm() : norm_except_dim(weight, 2, dim));
  module.register_parameter(name + "_v", weight.detach().clone());
}
Tensor WeightNorm::join(Module& module) const {
  const Tensor g = parameter(module, name + "_g"), v = parameter(module, name + "_v");
  return v * (g / norm_like(v, g));
}
void WeightNorm::drop(Module& module) const {
  module.unregister_parameter(name + "_g");
  module.unregister_parameter(name + "_v");
}

void SpectralNorm::split(Module& module, const Tensor& weight) const {
  const NoGradGuard guard;
  const Tensor matrix = matrix_of(weight, dim);
  module.register_parameter(name + "_orig", weight.detach().clone());
  module.register_buffer(name + "_u", unit(randn({matrix.size(0)}, weight.options()), eps));
  module.register_buffer(name + "_v", unit(randn({matrix.size(1)}, weight.options()), eps));
}
Tensor SpectralNorm::join(Module& module) const {
  const Tensor weight = parameter(module, name + "_orig"), matrix = matrix_of(weight, dim);
  const auto buffers = module.named_buffers(/*recurse=*/false);
  Tensor u = buffers[name + "_u"], v = buffers[name + "_v"];
  if (module.is_training()) {
    const NoGradGuard guard;
    for (int64_t i = 0; i < n_power_iterations; ++i) {
      v.copy_(unit(mv(matrix.t(), u), eps));
      u.copy_(unit(mv(matrix, v), eps));
    }
  }
  // Copies, since the next call may come before this one's backward.
  return weight / dot(u.clone(), mv(matrix, v.clone()));
}
void SpectralNorm::drop(Module& module) const {
  module.unregister_parameter(name + "_orig");
  module.unregister_buffer(name + "_u");
  module.unregister_buffer(name + "_v");
}

}  // namespace gradus::nn::utils::detail
