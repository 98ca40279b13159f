// gradcheck and gradgradcheck by finite differences.
#include "gradus/autograd/tools/gradcheck.h"

#include <cmath>

#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd {

namespace {

std::vector<double> values(const Tensor& x) {
  const Tensor here = x.detach().to(Device(kCPU), kDouble).contiguous();
  const double* p = here.data_ptr<double>();
  return {p, p + here.numel()};
}

void check_inputs(const Tensors& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    check(!inputs[i].requires_grad() || inputs[i].dtype() == kDouble ||
              inputs[i].dtype() == kComplexDouble,
          "gradcheck: input ", i, " has dtype ", inputs[i].dtype(),
          "; finite differences need float64; convert with .to(kDouble)");
}

bool has_parts(const Tensor& x) { return x.defined() && x.is_complex(); }

// f of pairs of real numbers, and with them for results: complex numbers are checked by both parts.
CheckedFunction of_parts(const CheckedFunction& f, const Tensors& inputs) {
  std::vector<bool> pairs;
  for (const Tensor& x : inputs) pairs.push_back(has_parts(x));
  return [f, pairs](const Tensors& x) {
    Tensors own = x;
    for (size_t i = 0; i < pairs.size(); ++i)
      if (pairs[i]) own[i] = view_as_complex(x[i]);
    Tensors out = f(own);
    for (Tensor& y : out)
      if (has_parts(y)) y = view_as_real(y);
    return out;
  };
}
Tensors parts_of(const Tensors& inputs) {
  Tensors out = inputs;
  for (Tensor& x : out)
    if (has_parts(x)) x = raw::clone(raw::view_as_real(x)).requires_grad_(x.requires_grad());
  return out;
}

// The same inputs as leaves of their own memory, so that they can be moved by eps.
Tensors as_leaves(const Tensors& inputs) {
  Tensors out;
  for (const Tensor& input : inputs) {
    Tensor leaf = input.defined() ? raw::clone(input) : input;
    if (input.defined() && input.requires_grad()) leaf.requires_grad_();
    out.push_back(leaf);
  }
  return out;
}

// Every output at inputs whose element `at` of input `index` is moved by delta.
std::vector<std::vector<double>> evaluate(const CheckedFunction& f, const Tensors& inputs,
                                          size_t index, int64_t at, double delta) {
  Tensors moved = as_leaves(inputs);
  Tensor cell = raw::as_strided(moved[index], {}, {}, at);
  raw::zip_(BinaryOp::add, cell, Scalar(delta));
  std::vector<std::vector<double>> out;
  for (const Tensor& y : f(moved)) out.push_back(values(y));
  return out;
}

}  // namespace

bool gradcheck(const CheckedFunction& of_numbers, const Tensors& numbers,
               const GradcheckOptions& options) {
  check_inputs(numbers);
  const CheckedFunction f = of_parts(of_numbers, numbers);
  const Tensors given = parts_of(numbers);
  const AutoGradMode mode(true);
  const Tensors inputs = as_leaves(given);
  Tensors wanted;
  for (const Tensor& input : inputs)
    if (input.defined() && input.requires_grad()) wanted.push_back(input);
  check(!wanted.empty(), "gradcheck: no input requires grad; call requires_grad_() on one");
  const Tensors outputs = f(inputs);

  // analytic[o][e][w]: the gradient of element e of output o by wanted input w.
  std::vector<std::vector<std::vector<std::vector<double>>>> analytic(outputs.size());
  for (size_t o = 0; o < outputs.size(); ++o) {
    for (int64_t e = 0; e < outputs[o].numel(); ++e) {
      Tensor seed = zeros_like(outputs[o]).contiguous();
      raw::fill_(raw::as_strided(seed, {}, {}, e), 1);
      const Tensors grads = outputs[o].requires_grad() ? grad({outputs[o]}, wanted, {seed},
                                                              /*retain_graph=*/true, false, true)
                                                       : Tensors(wanted.size());
      auto& row = analytic[o].emplace_back();
      for (size_t w = 0; w < wanted.size(); ++w)
        row.push_back(grads[w].defined()
                          ? values(grads[w])
                          : std::vector<double>(static_cast<size_t>(wanted[w].numel()), 0.0));
    }
  }

  for (size_t i = 0, w = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || !inputs[i].requires_grad()) continue;
    for (int64_t at = 0; at < inputs[i].numel(); ++at) {
      const auto above = evaluate(f, given, i, at, options.eps);
      const auto below = evaluate(f, given, i, at, -options.eps);
      for (size_t o = 0; o < outputs.size(); ++o) {
        for (size_t e = 0; e < above[o].size(); ++e) {
          const double numeric = (above[o][e] - below[o][e]) / (2 * options.eps);
          const double exact = analytic[o][e][w][static_cast<size_t>(at)];
          const bool agrees =
              std::abs(exact - numeric) <= options.atol + options.rtol * std::abs(numeric);
          check<Error>(agrees, "gradcheck: d output ", o, " [", e, "] / d input ", i, " [", at,
                       "] is ", exact, " by backward and ", numeric, " by finite differences");
        }
      }
    }
    ++w;
  }
  return true;
}

bool gradgradcheck(const CheckedFunction& of_numbers, const Tensors& numbers,
                   const GradcheckOptions& options) {
  check_inputs(numbers);
  const CheckedFunction f = of_parts(of_numbers, numbers);
  const Tensors inputs = parts_of(numbers);
  const AutoGradMode mode(true);
  // The weights are inputs too, so that the derivative by them is checked as well.
  Tensors all = as_leaves(inputs);
  const Tensors outputs = f(all);
  size_t weights = 0;
  for (const Tensor& y : outputs) {
    if (!y.requires_grad()) continue;
    all.push_back(randn(y.sizes(), y.options()).requires_grad_());
    ++weights;
  }
  check(weights > 0, "gradgradcheck: no output requires grad");
  const size_t count = inputs.size();
  return gradcheck(
      [&](const Tensors& x) {
        const Tensors own(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count));
        Tensors results, wanted;
        for (const Tensor& y : f(own))
          if (y.requires_grad()) results.push_back(y);
        for (const Tensor& input : own)
          if (input.defined() && input.requires_grad()) wanted.push_back(input);
        const Tensors seeds(x.begin() + static_cast<std::ptrdiff_t>(count), x.end());
        Tensors grads = grad(results, wanted, seeds, true, /*create_graph=*/true, true);
        for (size_t i = 0; i < grads.size(); ++i)
          if (!grads[i].defined()) grads[i] = zeros_like(wanted[i]);
        return grads;
      },
      all, options);
}

}  // namespace gradus::autograd
