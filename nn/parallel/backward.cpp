// The backward pass of DataParallel: each replica's graph on its thread, then the sums.
#include <unordered_set>
#include <utility>

#include "gradus/autograd/engine/graph_task.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/cuda/runtime/peer.h"
#include "gradus/nn/parallel/forward_graph.h"
#include "gradus/nn/parallel/scatter_gather.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::nn::parallel {

namespace {

// Where the results of a replica stand in what was gathered.
struct Place {
  bool scalar;
  int64_t dim, begin, size;
};
Place place_of(const ForwardGraph& graph, size_t output, size_t replica) {
  const Tensors& parts = graph.outputs[output];
  if (parts[0].dim() == 0) return {true, 0, static_cast<int64_t>(replica), 1};
  const int64_t dim = wrap_dim("gather", graph.engine->dim, parts[0].dim());
  int64_t begin = 0;
  for (size_t r = 0; r < replica; ++r) begin += parts[r].size(dim);
  return {false, dim, begin, parts[replica].size(dim)};
}

struct Root {
  Edge edge;
  Tensor grad;
};

// Where the backward pass of a replica begins, with its parts of the gradients.
std::vector<Root> roots_of(const ForwardGraph& graph, size_t replica, const Tensors& grads) {
  std::vector<Root> roots;
  for (size_t k = 0; k < grads.size(); ++k) {
    const Tensor& output = graph.outputs[k][replica];
    if (!grads[k].defined() || !output.requires_grad()) continue;
    const Place place = place_of(graph, k, replica);
    Tensor grad = grads[k].narrow(place.dim, place.begin, place.size);
    if (place.scalar) grad = grad.squeeze(0);
    const Edge edge = gradient_edge(output);
    roots.push_back({edge, autograd::fit(grad, edge.function->meta(edge.input_nr), nullptr, k)});
  }
  return roots;
}

// Sorts the gradients of one replica.
class Receiver final : public GradientReceiver {
 public:
  Receiver(const ForwardGraph& graph, size_t replica, GradientSums& sums, Tensors& inputs)
      : GradientReceiver(graph.number),
        inputs_at_(graph.inputs_at),
        replica_(replica),
        sums_(sums),
        inputs_(inputs) {}
  void receive(size_t index, Tensor grad) override {
    if (index < inputs_at_)
      sums_.report(replica_, index, std::move(grad));
    else
      inputs_[index - inputs_at_] = std::move(grad);
  }
  void rows_ready(size_t index, const Tensor& grad, int64_t end) override {
    if (index < inputs_at_) sums_.report_rows(replica_, index, grad, end);
  }

 private:
  size_t inputs_at_, replica_;
  GradientSums& sums_;
  Tensors& inputs_;
};

// The gradient of an input, of those of its parts.
Tensor join_parts(const ForwardGraph& graph, size_t input, Tensors grads) {
  const Tensor& x = graph.tensors[graph.inputs_at + input];
  bool any = false;
  for (const Tensor& grad : grads) any |= grad.defined();
  if (!any) return {};
  for (size_t r = 0; r < grads.size(); ++r) {
    if (!grads[r].defined()) grads[r] = zeros_like(graph.parts[input][r].detach());
    if (GradMode::is_enabled()) grads[r] = grads[r].to(x.device());
  }
  return GradMode::is_enabled() ? cat(grads, graph.engine->dim)
                                : parallel::gather(grads, x.device(), graph.engine->dim);
}

// By index in graph.tensors, where wanted.
Tensors reduced(ForwardGraph& graph, const Tensors& grads, std::vector<bool> wanted) {
  Engine& engine = *graph.engine;
  const size_t inputs = graph.tensors.size() - graph.inputs_at;
  const std::vector<bool> inputs_wanted(wanted.begin() + static_cast<long>(graph.inputs_at),
                                        wanted.end());
  wanted.resize(graph.inputs_at);
  const std::lock_guard lock(engine.mutex);
  std::vector<Tensors> input_grads(graph.replicas, Tensors(inputs));
  GradientSums sums(engine.replicas, graph.replicas, engine.buckets, std::move(wanted),
                    engine.timeline.get());
  struct Settled {
    GradientSums& sums;
    ~Settled() { sums.settle(); }
  };
  {
    const Settled settled{sums};
    // Here, and not by the replicas: a late thread's copy would wait for the first replica's work.
    const cuda::CopiesAtOnce copies;
    std::vector<std::vector<Root>> roots;
    for (size_t r = 0; r < graph.replicas; ++r) roots.push_back(roots_of(graph, r, grads));
    const bool keep = autograd::kept_by_task();
    engine.threads.run(graph.replicas, [&](size_t replica) {
      Receiver receiver(graph, replica, sums, input_grads[replica]);
      const ReceiverGuard guard(receiver);
      const TimelineScope scope(engine.timeline.get(), "backward", replica,
                                compute_stream(engine.replicas.devices()[replica]));
      autograd::GraphTask task(keep, nullptr, true);
      for (Root& root : roots[replica]) task.add_root(root.edge, std::move(root.grad));
      task.execute();
      sums.end(replica);
    });
  }
  Tensors out = sums.take();
  for (size_t i = 0; i < inputs; ++i) {
    Tensors parts;
    for (Tensors& of_replica : input_grads) parts.push_back(std::move(of_replica[i]));
    out.push_back(inputs_wanted[i] ? join_parts(graph, i, std::move(parts)) : Tensor());
  }
  return out;
}

// Makes the graphs of the replicas parts of the graph around them. A later pass then comes through
// their nodes twice, from outside and by DataParallelBackward, so they free nothing.
void open_up(ForwardGraph& graph) {
  std::unordered_set<Node*> seen;
  std::vector<Node*> path;
  const auto enter = [&](const Edge& edge) {
    if (edge.is_valid() && seen.insert(edge.function.get()).second)
      path.push_back(edge.function.get());
  };
  for (const auto& of_replica : graph.sinks)
    for (const auto& sink : of_replica)
      if (sink) seen.insert(sink.get());
  for (const Tensors& output : graph.outputs)
    for (const Tensor& part : output) enter(gradient_edge(part));
  while (!path.empty()) {
    Node* const node = path.back();
    path.pop_back();
    node->keep_variables();
    for (const Edge& edge : node->next_edges()) enter(edge);
  }
  for (const auto& of_replica : graph.sinks)
    for (const auto& sink : of_replica)
      if (sink) sink->connect();
}

// The same by operations that are recorded, for gradients of gradients: one replica after the other
// on this thread, with its sums in the order of sum_in_chain.h.
Tensors recorded(ForwardGraph& graph, const Tensors& grads, const std::vector<bool>& wanted) {
  open_up(graph);
  std::vector<Tensors> found(graph.replicas, Tensors(wanted.size()));
  for (size_t r = 0; r < graph.replicas; ++r) {
    std::vector<autograd::Capture> captures;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) captures.push_back({{graph.sinks[r][i], 0}, Tensor()});
    autograd::GraphTask task(true, &captures, false);
    for (Root& root : roots_of(graph, r, grads)) task.add_root(root.edge, std::move(root.grad));
    task.execute();
    for (size_t i = 0, k = 0; i < wanted.size(); ++i)
      if (wanted[i]) found[r][i] = captures[k++].grad;
  }
  Tensors out(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i >= graph.inputs_at) {
      Tensors parts;
      for (const Tensors& of_replica : found) parts.push_back(of_replica[i]);
      out[i] = join_parts(graph, i - graph.inputs_at, std::move(parts));
      continue;
    }
    for (size_t r = graph.replicas; r-- > 0;) {
      const Tensor& part = found[r][i];
      if (part.defined()) out[i] = out[i].defined() ? part + out[i].to(part.device()) : part;
    }
  }
  return out;
}

}  // namespace

DataParallelBackward::DataParallelBackward(std::shared_ptr<ForwardGraph> graph)
    : Node("DataParallelBackward"), graph_(std::move(graph)) {
  for (size_t i = 0; i < graph_->tensors.size(); ++i)
    if (graph_->requires_grad(i)) add_next_edge(gradient_edge(graph_->tensors[i]));
}

void DataParallelBackward::release_variables() {
  std::shared_ptr<ForwardGraph> freed;  // after the lock
  const std::lock_guard lock(mutex_);
  freed.swap(graph_);
}

Tensors DataParallelBackward::apply(Tensors&& grads) {
  std::shared_ptr<ForwardGraph> graph;
  {
    const std::lock_guard lock(mutex_);
    graph = graph_;
  }
  check<Error>(graph != nullptr,
               "backward: Trying to backward through the graph a second time: the graphs of "
               "DataParallel's replicas were freed by the first; pass retain_graph = true to it");
  std::vector<bool> wanted;
  size_t edge = 0;
  for (size_t i = 0; i < graph->tensors.size(); ++i)
    wanted.push_back(graph->requires_grad(i) && wants(edge++));
  Tensors all =
      GradMode::is_enabled() ? recorded(*graph, grads, wanted) : reduced(*graph, grads, wanted);
  Tensors out;
  for (size_t i = 0; i < all.size(); ++i)
    if (graph->requires_grad(i)) out.push_back(std::move(all[i]));
  return out;
}

}  // namespace gradus::nn::parallel
