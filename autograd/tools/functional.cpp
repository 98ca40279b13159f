// jacobian, hessian, vjp, jvp, vhp and hvp.
#include "gradus/autograd/tools/functional.h"

#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd::functional {

namespace {

// Handles of their own, so that f finds leaves, or, for create_graph, the caller's graph.
Tensors enter(const Tensors& inputs, bool create_graph) {
  Tensors out;
  for (const Tensor& x : inputs)
    out.push_back(create_graph && x.requires_grad() ? x.view(x.sizes())
                                                    : x.detach().requires_grad_());
  return out;
}

Tensors leave(Tensors results, bool create_graph) {
  if (!create_graph)
    for (Tensor& x : results) x = x.detach();
  return results;
}

void check_outputs(const char* op, const Tensors& outputs, bool strict) {
  for (size_t i = 0; strict && i < outputs.size(); ++i)
    check<Error>(outputs[i].requires_grad(), op, ": Output ", i,
                 " of the function does not require gradient, which is not allowed in strict mode; "
                 "compute it from the inputs by differentiable operations");
}

// The derivatives of those `outputs` that require grad. An output that does not depend on an input
// gives zeros.
Tensors derive(const char* op, const Tensors& outputs, const Tensors& inputs,
               const Tensors& weights, bool create_graph, bool strict) {
  Tensors roots, root_weights;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    root_weights.push_back(weights.empty() ? Tensor() : weights[i]);
  }
  Tensors out(inputs.size());
  if (!roots.empty())
    out = grad(roots, inputs, root_weights, /*retain_graph=*/true, create_graph,
               /*allow_unused=*/true);
  for (size_t i = 0; i < out.size(); ++i) {
    check<Error>(!strict || out[i].defined(), op, ": the function is independent of input ", i,
                 ", which is not allowed in strict mode");
    if (!out[i].defined()) out[i] = zeros_like(inputs[i]);
  }
  return out;
}

// v as given, or ones for what has one element.
Tensors vectors(const char* op, const char* of, const Tensors& v, const Tensors& like) {
  if (v.empty()) {
    check(like.size() == 1 && like[0].numel() == 1, op,
          ": v may be left out only where there is one ", of, " of one element");
    return {ones_like(like[0])};
  }
  check(v.size() == like.size(), op, ": v has ", v.size(), " tensors, and there are ", like.size(),
        " ", of, "s; give one for each");
  for (size_t i = 0; i < v.size(); ++i)
    check(v[i].sizes() == like[i].sizes(), op, ": v[", i, "] has shape ", v[i].sizes(), ", and ",
          of, " ", i, " has ", like[i].sizes());
  return v;
}

void check_scalar(const char* op, const Tensors& outputs) {
  check(outputs.size() == 1, op, ": the function must return one tensor of one element, and it ",
        "returned ", outputs.size(), " tensors; return their sum");
  check(outputs[0].numel() == 1, op, ": the function must return one tensor of one element, and ",
        "it returned one of shape ", outputs[0].sizes(), "; reduce it, as by sum()");
}

Tensors weights_of(const Tensors& like) {
  Tensors out;
  for (const Tensor& x : like) out.push_back(zeros_like(x).requires_grad_());
  return out;
}

Tensor with_sizes(const Tensor& x, const Tensor& first, const Tensor& then) {
  Dims sizes = first.impl().sizes;
  for (const int64_t size : then.sizes()) sizes.push_back(size);
  return x.reshape(sizes);
}

ListFunction listed(const TensorFunction& f) {
  return [f](const Tensors& in) { return Tensors{f(in[0])}; };
}

}  // namespace

std::vector<Tensors> jacobian(const ListFunction& f, const Tensors& given, bool create_graph,
                              bool strict) {
  const AutoGradMode mode(true);
  const Tensors inputs = enter(given, create_graph);
  const Tensors outputs = f(inputs);
  check_outputs("jacobian", outputs, strict);
  std::vector<Tensors> out;
  for (const Tensor& y : outputs) {
    std::vector<Tensors> rows(inputs.size());  // by input
    for (int64_t e = 0; e < y.numel(); ++e) {
      Tensors gradients =
          derive("jacobian", {y.reshape({-1})[e]}, inputs, {}, create_graph, strict);
      for (size_t j = 0; j < inputs.size(); ++j) rows[j].push_back(std::move(gradients[j]));
    }
    Tensors& row = out.emplace_back();
    for (size_t j = 0; j < inputs.size(); ++j)
      row.push_back(rows[j].empty() ? zeros({0}, inputs[j].options()) : stack(rows[j], 0));
    for (size_t j = 0; j < inputs.size(); ++j) row[j] = with_sizes(row[j], y, inputs[j]);
    row = leave(std::move(row), create_graph);
  }
  return out;
}

Tensor jacobian(const TensorFunction& f, const Tensor& input, bool create_graph, bool strict) {
  return jacobian(listed(f), {input}, create_graph, strict)[0][0];
}

std::vector<Tensors> hessian(const ListFunction& f, const Tensors& inputs, bool create_graph,
                             bool strict) {
  const auto gradients = [&](const Tensors& x) {
    const auto scalar = [&](const Tensors& in) {
      Tensors out = f(in);
      check_scalar("hessian", out);
      out[0] = out[0].reshape({});
      return out;
    };
    return jacobian(scalar, x, /*create_graph=*/true, strict)[0];
  };
  return jacobian(gradients, inputs, create_graph, strict);
}

Tensor hessian(const TensorFunction& f, const Tensor& input, bool create_graph, bool strict) {
  return hessian(listed(f), {input}, create_graph, strict)[0][0];
}

Product vjp(const ListFunction& f, const Tensors& given, const Tensors& v, bool create_graph,
            bool strict) {
  const AutoGradMode mode(true);
  const Tensors inputs = enter(given, create_graph);
  const Tensors outputs = f(inputs);
  check_outputs("vjp", outputs, strict);
  Tensors product =
      derive("vjp", outputs, inputs, vectors("vjp", "output", v, outputs), create_graph, strict);
  return {leave(outputs, create_graph), leave(std::move(product), create_graph)};
}

Product jvp(const ListFunction& f, const Tensors& given, const Tensors& v, bool create_graph,
            bool strict) {
  const AutoGradMode mode(true);
  const Tensors inputs = enter(given, create_graph);
  const Tensors given_v = vectors("jvp", "input", v, inputs);
  const Tensors outputs = f(inputs);
  check_outputs("jvp", outputs, strict);
  // The gradient is linear in its weights w: w^T J. The gradient of w^T J by w, weighted by v, is J
  // v.
  const Tensors weights = weights_of(outputs);
  const Tensors linear = derive("jvp", outputs, inputs, weights, /*create_graph=*/true, strict);
  Tensors product = derive("jvp", linear, weights, given_v, create_graph, strict);
  return {leave(outputs, create_graph), leave(std::move(product), create_graph)};
}

namespace {

// The common beginning of v times a Hessian and of a Hessian times v.
struct FirstDerivative {
  FirstDerivative(const char* op, const ListFunction& f, const Tensors& given,
                  const Tensors& given_v, bool create_graph, bool strict)
      : inputs(enter(given, create_graph)),
        v(vectors(op, "input", given_v, inputs)),
        outputs(f(inputs)) {
    check_scalar(op, outputs);
    check_outputs(op, outputs, strict);
    value = derive(op, outputs, inputs, {}, /*create_graph=*/true, strict);
  }
  Tensors inputs, v, outputs, value;
};

}  // namespace

Product vhp(const ListFunction& f, const Tensors& given, const Tensors& v, bool create_graph,
            bool strict) {
  const AutoGradMode mode(true);
  const FirstDerivative first("vhp", f, given, v, create_graph, strict);
  Tensors product = derive("vhp", first.value, first.inputs, first.v, create_graph, strict);
  return {leave(first.outputs, create_graph), leave(std::move(product), create_graph)};
}

Product hvp(const ListFunction& f, const Tensors& given, const Tensors& v, bool create_graph,
            bool strict) {
  const AutoGradMode mode(true);
  const FirstDerivative first("hvp", f, given, v, create_graph, strict);
  const Tensors weights = weights_of(first.value);
  const Tensors linear =
      derive("hvp", first.value, first.inputs, weights, /*create_graph=*/true, strict);
  Tensors product = derive("hvp", linear, weights, first.v, create_graph, strict);
  return {leave(first.outputs, create_graph), leave(std::move(product), create_graph)};
}

}  // namespace gradus::autograd::functional
