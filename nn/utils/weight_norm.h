// weight_norm and spectral_norm: weights that are computed from other parameters before each call.
#pragma once

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/nn/module.h"

namespace gradus::nn::utils {

namespace detail {

// The member of a module that holds the parameter of that name.
// Errors: ValueError where the module has none.
template <class M>
Tensor& member(M& module, const std::string& name) {
  if constexpr (requires { module.weight; })
    if (name == "weight") return module.weight;
  if constexpr (requires { module.bias; })
    if (name == "bias") return module.bias;
  fail("weight_norm, spectral_norm: ", module.name(), " has no member ", name,
       "; give the name of its weight or bias");
}

// A weight that is split into parameters and buffers of the module, and joined from them.
struct WeightNorm {
  void split(Module& module, const Tensor& weight) const;
  Tensor join(Module& module) const;
  void drop(Module& module) const;

  std::string name;
  int64_t dim;
  const char* first = "_g";  // the suffix of a parameter that tells whether the module is split
};
struct SpectralNorm {
  void split(Module& module, const Tensor& weight) const;
  Tensor join(Module& module) const;
  void drop(Module& module) const;

  std::string name;
  int64_t dim, n_power_iterations;
  double eps;
  const char* first = "_orig";
};

bool has_parameter(const Module& module, const std::string& name);

template <class Norm, class Holder>
Holder normed(Holder holder, const Norm& norm) {
  auto& module = *holder;
  using M = std::remove_reference_t<decltype(module)>;
  Tensor& weight = member(module, norm.name);
  norm.split(module, module.unregister_parameter(norm.name));
  {
    const NoGradGuard guard;
    weight = weight.detach().clone();
  }
  holder->register_forward_pre_hook([norm](Module& called, const Tensor&) {
    if (has_parameter(called, norm.name + norm.first))  // until it is removed
      member(static_cast<M&>(called), norm.name) = norm.join(called);
    return Tensor();
  });
  return holder;
}

template <class Norm, class Holder>
Holder without(Holder holder, const Norm& norm) {
  auto& module = *holder;
  check(has_parameter(module, norm.name + norm.first), module.name(), " has no parameter ",
        norm.name + norm.first,
        "; only what weight_norm or spectral_norm has added can be removed");
  const NoGradGuard guard;
  const Tensor weight = norm.join(module).detach().clone();
  norm.drop(module);
  member(module, norm.name) = module.register_parameter(norm.name, weight);
  return holder;
}

}  // namespace detail

// The weight becomes g * v / |v|: Salimans and Kingma, "Weight normalization" (2016). g and v are
// the parameters NAME_g and NAME_v in the place of the parameter NAME. Norms are over all
// dimensions but dim; -1: over all. A holder or a Sequential that calls the module computes the
// weight first. Make the optimizer after it. The module cannot be cloned any more. Returns it.
//
//   auto fc = nn::utils::weight_norm(nn::Linear(20, 40));
//
// Errors: ValueError where the module has no such parameter, or is normed already.
template <class Holder>
Holder weight_norm(Holder module, const std::string& name = "weight", int64_t dim = 0) {
  return detail::normed(std::move(module), detail::WeightNorm{name, dim});
}
// The weight becomes a parameter again, with its present value.
// Errors: ValueError where there is no weight_norm of this name.
template <class Holder>
Holder remove_weight_norm(Holder module, const std::string& name = "weight") {
  return detail::without(std::move(module), detail::WeightNorm{name, 0});
}

// The weight becomes the parameter NAME_orig over its largest singular value: Miyato et al.,
// "Spectral normalization for generative adversarial networks" (2018). The weight counts as a
// matrix whose rows are those of `dim`. Each call while training improves the estimate of the
// singular vectors, the buffers NAME_u and NAME_v, n_power_iterations times. dim: 0, and 1 of
// ConvTranspose. The rest is as in weight_norm.
template <class Holder>
Holder spectral_norm(Holder module, const std::string& name = "weight",
                     int64_t n_power_iterations = 1, double eps = 1e-12,
                     std::optional<int64_t> dim = std::nullopt) {
  check(n_power_iterations > 0, "spectral_norm: n_power_iterations is ", n_power_iterations,
        ", expected 1 or more");
  const bool transposed = requires { module->options.output_padding(); };
  return detail::normed(
      std::move(module),
      detail::SpectralNorm{name, dim.value_or(transposed ? 1 : 0), n_power_iterations, eps});
}
template <class Holder>
Holder remove_spectral_norm(Holder module, const std::string& name = "weight") {
  const bool transposed = requires { module->options.output_padding(); };
  return detail::without(std::move(module),
                         detail::SpectralNorm{name, transposed ? 1 : 0, 0, 1e-12});
}

}  // namespace gradus::nn::utils
