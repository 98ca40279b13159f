// The entries to the backward pass; graph_task.cpp runs it.
#include "gradus/autograd/engine/engine.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "gradus/autograd/engine/autocast.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/graph_task.h"
#include "gradus/autograd/engine/level_edges.h"
#include "gradus/autograd/engine/meta.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/factories.h"

namespace gradus::autograd {

namespace {

void run(const char* op, const Tensors& roots, const Tensors& root_grads,
         std::optional<bool> retain_graph, bool create_graph, std::vector<Capture>* captures,
         bool accumulate) {
  check(root_grads.empty() || root_grads.size() == roots.size(), op, ": got ", roots.size(),
        " tensors and ", root_grads.size(), " gradients for them; expected as many, or none");
  GraphTask task(retain_graph.value_or(create_graph), captures, accumulate);
  const AutoGradMode mode(create_graph);
  const autocast::Pause pause;  // gradients have the types of what they are gradients of
  for (size_t i = 0; i < roots.size(); ++i) {
    const Tensor& root = roots[i];
    const Edge edge = own_edge(root);
    check<Error>(edge.is_valid(), op, ": element ", i,
                 " of tensors does not require grad and does not have a grad_fn: nothing that "
                 "computed it, of shape ",
                 root.sizes(), ", requires grad; call requires_grad_() on what should");
    Tensor grad = i < root_grads.size() ? root_grads[i] : Tensor();
    if (!grad.defined()) {
      check<Error>(root.numel() == 1, op,
                   ": grad can be implicitly created only for scalar outputs, and tensor ", i,
                   " has shape ", root.sizes(), "; pass a gradient, or reduce it with sum() first");
      check<TypeError>(!root.is_complex(), op,
                       ": grad can be implicitly created only for real scalar outputs but got ",
                       TypeName{root.dtype()}, "; pass a gradient, or take abs() or real() first");
      grad = ones_like(root);
    }
    task.add_root(edge, fit(grad, edge.function->meta(edge.input_nr), nullptr, i));
  }
  task.execute();
}

std::vector<Capture> captures_of(const char* op, const Tensors& inputs) {
  std::vector<Capture> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Edge edge = own_edge(inputs[i]);
    check<Error>(edge.is_valid(), op,
                 ": One of the differentiated Tensors does not require grad: "
                 "input ",
                 i, " of shape ", inputs[i].sizes(),
                 "; call requires_grad_() on it before computing");
    out.push_back({edge, Tensor()});
  }
  return out;
}

}  // namespace

void backward(const Tensors& tensors, const Tensors& grad_tensors, std::optional<bool> retain_graph,
              bool create_graph, const Tensors& inputs) {
  if (create_graph) {
    static std::atomic<bool> warned = false;
    if (warns_again(warned))
      warn(
          "backward: Using backward() with create_graph=True lets a parameter and its gradient "
          "hold each other, which leaks memory; use autograd::grad, or reset the gradients");
  }
  if (inputs.empty())
    return run("backward", tensors, grad_tensors, retain_graph, create_graph, nullptr, true);
  auto captures = captures_of("backward", inputs);
  run("backward", tensors, grad_tensors, retain_graph, create_graph, &captures, true);
  const AutoGradMode mode(create_graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor grad = std::exchange(captures[i].grad, Tensor());
    const auto earlier = inputs.begin() + static_cast<std::ptrdiff_t>(i);
    const bool repeated =
        std::any_of(inputs.begin(), earlier, [&](const Tensor& x) { return x.is_same(inputs[i]); });
    // Leaves have accumulated by themselves.
    if (!inputs[i].is_leaf() && grad.defined() && !repeated) accumulate_grad(inputs[i], grad);
  }
}

void clear_grad(const Tensor& x, bool set_to_none) {
  if (!x.grad().defined()) return;
  Tensor& grad = x.mutable_grad();
  if (set_to_none) {
    grad = Tensor();
  } else {
    grad = grad.detach();
    grad.zero_();
  }
}

Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& grad_outputs,
             std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  check(!inputs.empty(),
        "grad: grad requires non-empty inputs. List the tensors to differentiate by");
  auto captures = captures_of("grad", inputs);
  run("grad", outputs, grad_outputs, retain_graph, create_graph, &captures, false);
  Tensors out;
  for (size_t i = 0; i < captures.size(); ++i) {
    check<Error>(allow_unused || captures[i].grad.defined(),
                 "grad: One of the differentiated Tensors appears to not have been used in the "
                 "graph: the outputs do not depend on input ",
                 i, " of shape ", inputs[i].sizes(),
                 "; pass allow_unused = true to autograd::grad if that is meant");
    out.push_back(captures[i].grad);
  }
  return out;
}

}  // namespace gradus::autograd
