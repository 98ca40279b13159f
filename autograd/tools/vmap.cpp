// vmap: a level in which a function runs once, and what autograd records of it.
#include "gradus/autograd/tools/vmap.h"

#include <atomic>

#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/level_edges.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/batching/storage.h"
#include "gradus/tensor/batching/undo.h"

namespace gradus::autograd::functional {

namespace {

using batching::Level, batching::Randomness, batching::Scope;
using Dim = MappedDims::Dim;
using Function = std::function<Tensors(const Tensors&)>;

// One evaluation of a function in a level.
struct Evaluation {
  GraphLevel level;
  Tensors arguments;          // in the level; those that require grad are leaves
  std::vector<Dim> in_dims;   // of each argument
  Tensors results;            // in the level
  std::vector<Dim> out_dims;  // of each result
};
using Shared = std::shared_ptr<Evaluation>;

// Puts the level into the place that this thread is in.
void place(Level& level) {
  level.outer = batching::innermost();
  level.depth = batching::here() ? batching::here()->depth + 1 : 1;
}

Tensor entered(const Level& level, const Tensor& x, Dim dim) {
  Tensor out = batching::enter(level, x, dim);
  if (recording(x)) out.requires_grad_();
  return out;
}

Tensors leave_recorded(const Shared& shared, const Tensors& inputs);

// The gradients of the inputs, through the graph of the level.
Tensors gradients(const Shared& shared, Node& node, const Tensors& grads) {
  const size_t count = shared->arguments.size();
  Tensors inputs;  // also says that none has changed
  for (size_t i = 0; i < count; ++i) inputs.push_back(node.saved(i));
  const auto next = std::make_shared<Evaluation>();
  next->level.size = shared->level.size;
  next->level.randomness = shared->level.randomness;
  next->level.captured = shared->level.captured;
  next->arguments = shared->arguments, next->in_dims = shared->in_dims;
  const size_t captured = shared->level.captured.size();
  place(next->level);
  check<Error>(next->level.depth == shared->level.depth,
               "vmap: the backward pass through it runs inside of another vmap than the call did; "
               "compute both inside, or both outside");
  std::vector<size_t> wanted;  // arguments, and after them captured tensors
  {
    const Scope scope(&next->level);
    Tensors roots, weights, sources;
    for (size_t i = 0; i < shared->results.size(); ++i) {
      if (!grads[i].defined() || !in_graph(shared->results[i])) continue;
      roots.push_back(shared->results[i]);
      if (!shared->out_dims[i]) {
        weights.push_back(grads[i]);
        continue;
      }
      weights.push_back(entered(next->level, grads[i], shared->out_dims[i]));
      inputs.push_back(grads[i]);
      next->arguments.push_back(weights.back());
      next->in_dims.push_back(shared->out_dims[i]);
    }
    for (size_t i = 0; i < count + captured; ++i)
      if (node.wants(i)) {
        wanted.push_back(i);
        sources.push_back(i < count ? shared->arguments[i] : shared->level.captured[i - count]);
      }
    if (roots.empty() || sources.empty()) return Tensors(count + captured);
    const Tensors found = autograd::grad(roots, sources, weights, /*retain_graph=*/true,
                                         /*create_graph=*/GradMode::is_enabled(),
                                         /*allow_unused=*/true);
    std::vector<size_t> defined;
    for (size_t k = 0; k < found.size(); ++k) {
      if (!found[k].defined()) continue;
      defined.push_back(wanted[k]);
      next->results.push_back(found[k]);
      // Samples of a shared argument stand in front until they are added up.
      const bool is_argument = wanted[k] < count;
      next->out_dims.push_back(is_argument ? shared->in_dims[wanted[k]].value_or(0) : Dim());
    }
    wanted = defined;
  }
  Tensors left = leave_recorded(next, inputs), out(count + captured);
  for (size_t k = 0; k < left.size(); ++k) {
    const size_t i = wanted[k];
    out[i] = i < count && !shared->in_dims[i] ? left[k].sum(0) : left[k];
  }
  return out;
}

// The results outside of the level. inputs: what the arguments are outside.
Tensors leave_recorded(const Shared& shared, const Tensors& inputs) {
  Tensors out;
  bool records = false;
  for (size_t i = 0; i < shared->results.size(); ++i) {
    const Tensor& y = shared->results[i];
    out.push_back(shared->out_dims[i] ? batching::leave(shared->level, y, *shared->out_dims[i])
                                      : batching::leave_shared(shared->level, y));
    records |= GradMode::is_enabled() && in_graph(y);
  }
  if (!records) return out;
  const auto backward = [shared](Node& node, const Tensors& grads) {
    return gradients(shared, node, grads);
  };
  auto node = make_node<LambdaNode<decltype(backward)>>("VmapBackward0", backward);
  for (size_t i = 0; i < inputs.size(); ++i) {
    node->add_next_edge(shared->arguments[i].requires_grad() ? gradient_edge(inputs[i]) : Edge{});
    node->save(inputs[i], std::nullopt);
  }
  for (const Tensor& x : shared->level.captured) node->add_next_edge(gradient_edge(x));
  for (size_t i = 0; i < out.size(); ++i) {
    const uint32_t number = node->add_input_metadata(out[i]);
    if (in_graph(shared->results[i])) set_history(out[i], node, number);
  }
  return out;
}

// The dimension of tensor i of `count`, counted from the front.
Dim dim_of(const char* name, const MappedDims& dims, size_t i, size_t count, int64_t rank) {
  check(!dims.is_list || dims.dims.size() == count, "vmap: ", name, " has ", dims.dims.size(),
        " entries, and there are ", count, " tensors; give one for each, or one number for all");
  const Dim& dim = dims.dims[dims.is_list ? i : 0];
  return dim ? Dim(wrap_dim("vmap", *dim, rank)) : Dim();
}

// How many samples there are.
int64_t samples_of(const Tensors& inputs, const std::vector<Dim>& dims) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!dims[i]) continue;
    check(inputs[i].dim() > 0, "vmap: argument ", i,
          " is a tensor without dimensions, and in_dims ", "has ", *dims[i],
          " for it; give std::nullopt, or a tensor of several samples");
    sizes.push_back(inputs[i].sizes()[*dims[i]]);
  }
  check(!sizes.empty(),
        "vmap: no argument is mapped over; in_dims must have a dimension for at least one");
  for (const int64_t size : sizes)
    check(size == sizes[0],
          "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes ",
          IntArrayRef(sizes), " for the mapped dimension; slice the longer ones");
  return sizes[0];
}

Tensors at_once(const Function& f, const Tensors& inputs, const std::vector<Dim>& in_dims,
                const MappedDims& out_dims, int64_t size, Randomness randomness,
                batching::Undo& undo) {
  const auto shared = std::make_shared<Evaluation>();
  shared->level.size = size, shared->level.randomness = randomness;
  shared->in_dims = in_dims;
  place(shared->level);
  shared->level.undo = &undo;
  std::vector<bool> is_shared;
  {
    const Scope scope(&shared->level);
    for (size_t i = 0; i < inputs.size(); ++i)
      shared->arguments.push_back(entered(shared->level, inputs[i], in_dims[i]));
    shared->results = f(shared->arguments);
    for (size_t i = 0; i < shared->results.size(); ++i) {
      Tensor& y = shared->results[i];
      y.operand("vmap", "a result of the function");
      if (batching::depth_of(y) < shared->level.depth) y = y.view(y.sizes());
      const Dim dim = dim_of("out_dims", out_dims, i, shared->results.size(), y.dim() + 1);
      const auto& axes = batching::axes_of(y);
      check(dim || axes.empty() || axes.back().depth < shared->level.depth, "vmap: result ", i,
            " of shape ", y.sizes(),
            " differs between samples, and out_dims has None for it; give a dimension");
      is_shared.push_back(!dim);
      shared->out_dims.push_back(dim.value_or(0));
    }
  }
  shared->level.undo = nullptr;  // the graph keeps the level
  Tensors out = leave_recorded(shared, inputs);
  for (size_t i = 0; i < out.size(); ++i)
    if (is_shared[i])
      out[i] = size > 0 ? out[i].select(0, 0)
                        : batching::leave_shared(shared->level, shared->results[i]).clone();
  return out;
}

Tensors one_by_one(const Function& f, const Tensors& inputs, const std::vector<Dim>& in_dims,
                   const MappedDims& out_dims, int64_t size, Randomness randomness) {
  Level level{.size = size, .randomness = randomness, .loops = true};
  level.outer = batching::innermost();
  std::vector<Tensors> rows;  // by result
  for (int64_t s = 0; s < size; ++s) {
    Tensors arguments;
    for (size_t i = 0; i < inputs.size(); ++i)
      arguments.push_back(in_dims[i] ? inputs[i].select(*in_dims[i], s) : inputs[i]);
    Tensors results;
    {
      const Scope scope(&level);
      results = f(arguments);
    }
    if (s == 0) rows.resize(results.size());
    check(results.size() == rows.size(), "vmap: f returned ", rows.size(),
          " tensors for slice 0 and ", results.size(), " for slice ", s,
          "; expected as many for all");
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor& y = rows[i].emplace_back(results[i]).operand("vmap", "a result");
      check(y.sizes() == rows[i][0].sizes(), "vmap: f returned shape ", rows[i][0].sizes(),
            " for slice 0 and ", y.sizes(), " for slice ", s, "; expected one shape for all");
    }
  }
  Tensors out;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Dim dim = dim_of("out_dims", out_dims, i, rows.size(), rows[i][0].dim() + 1);
    out.push_back(dim ? stack(rows[i], *dim) : rows[i][0]);
  }
  return out;
}

Randomness randomness_of(std::string_view name) {
  if (name == "error") return Randomness::error;
  if (name == "different") return Randomness::different;
  check(name == "same", "vmap: Only allowed values for randomness are 'error', 'different', or ",
        "'same'. Got ", name);
  return Randomness::same;
}

}  // namespace

Tensors vmap_lists(const Function& f, const Tensors& inputs, const MappedDims& in_dims,
                   const MappedDims& out_dims, std::string_view randomness) {
  const Randomness rule = randomness_of(randomness);
  std::vector<Dim> dims;
  for (size_t i = 0; i < inputs.size(); ++i)
    dims.push_back(dim_of("in_dims", in_dims, i, inputs.size(),
                          inputs[i].operand("vmap", "an argument").dim()));
  const int64_t size = samples_of(inputs, dims);
  batching::Undo undo;
  try {
    return at_once(f, inputs, dims, out_dims, size, rule, undo);
  } catch (const batching::NotBatched& reason) {
    check<Error>(size > 0, reason.what(), ", and there is no sample to call it for");
    static std::atomic<bool> warned{false};
    if (warns_again(warned))
      warn(std::string(reason.what()) + "; the function is called once for each of " +
           std::to_string(size) + " samples, one after the other (said once)");
  }
  undo.run();
  return one_by_one(f, inputs, dims, out_dims, size, rule);
}

}  // namespace gradus::autograd::functional
