// One forward pass of all replicas: sharing out, running, gathering.
#include <algorithm>
#include <atomic>
#include <list>

#include "gradus/autograd/engine/record.h"
#include "gradus/nn/parallel/forward_graph.h"
#include "gradus/nn/parallel/scatter_gather.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::nn::parallel {

namespace {
std::atomic<uint64_t> forwards{0};

bool any_requires_grad(const Tensors& list) {
  return std::any_of(list.begin(), list.end(), [](const Tensor& x) { return x.requires_grad(); });
}
}  // namespace

Forward::Forward(std::shared_ptr<Engine> engine, const Tensors& inputs, size_t replicas)
    : engine_(std::move(engine)),
      lock_(engine_->mutex),
      settled_{engine_->replicas},
      count_(replicas) {
  Replicas& all = engine_->replicas;
  std::list<TimelineScope> scopes;
  for (size_t r = 0; engine_->timeline && r < all.size(); ++r)
    scopes.emplace_back(engine_->timeline.get(), "scatter", r, compute_stream(all.devices()[r]));
  // The inputs first, which are small; the copies of parameters do not wait for theirs.
  all.find_changes();
  for (size_t i = 0; i < inputs.size(); ++i) {
    parts_.push_back(scatter(inputs[i], all.devices(), engine_->dim));
    check(parts_[i].size() == parts_[0].size(), "DataParallel: along dimension ", engine_->dim,
          " the input of shape ", inputs[0].sizes(), " falls into ", parts_[0].size(),
          " parts, that of shape ", inputs[i].sizes(), " into ", parts_[i].size(),
          "; give them the same size there");
    count_ = parts_[0].size();
  }
  all.copy_changes();
  if (!GradMode::is_enabled()) return;
  if (!any_requires_grad(all.originals()) && !any_requires_grad(inputs)) return;
  graph_ = std::make_shared<ForwardGraph>();
  graph_->engine = engine_;
  graph_->number = ++forwards;
  graph_->replicas = count_;
  graph_->tensors = all.originals();
  graph_->inputs_at = graph_->tensors.size();
  graph_->tensors.insert(graph_->tensors.end(), inputs.begin(), inputs.end());
  graph_->parts = parts_;
  graph_->sinks.assign(count_, std::vector<std::shared_ptr<GradientSink>>(graph_->tensors.size()));
}

// Puts sinks in the place of what the graph of a replica would go on to.
void Forward::attach(size_t replica, Tensors& parts) {
  const size_t inputs_at = graph_->inputs_at;
  for (size_t i = 0; i < graph_->tensors.size(); ++i) {
    const bool is_input = i >= inputs_at;
    const Tensor& target = is_input ? parts[i - inputs_at] : graph_->tensors[i];
    Tensor end = is_input ? target : engine_->replicas.tensors(replica)[i];
    if (!graph_->tensors[i].requires_grad()) {
      if (!is_input) end.detach_();
      continue;
    }
    if (is_input) end = target.detach();
    auto sink = make_node<GradientSink>(graph_->number, i, gradient_edge(target), end);
    set_history(end, sink, 0);
    graph_->sinks[replica][i] = std::move(sink);
    if (is_input) parts[i - inputs_at] = std::move(end);
  }
}

void Forward::run(const std::function<void(size_t, const Tensors&)>& f) {
  engine_->threads.run(count_, [&](size_t replica) {
    engine_->replicas.match_training(replica);
    Tensors parts;
    for (const Tensors& of_input : parts_) parts.push_back(of_input[replica]);
    if (graph_) attach(replica, parts);
    const TimelineScope scope(engine_->timeline.get(), "forward", replica,
                              compute_stream(engine_->replicas.devices()[replica]));
    f(replica, parts);
  });
}

Tensors Forward::gather(const std::vector<Tensors>& columns) {
  const TimelineScope scope(engine_->timeline.get(), "gather", 0,
                            compute_stream(engine_->output_device));
  Tensors outputs;
  for (const Tensors& column : columns) {
    const auto defined =
        std::count_if(column.begin(), column.end(), [](const Tensor& x) { return x.defined(); });
    check(defined == 0 || defined == static_cast<long>(count_),
          "gather: some replicas returned an undefined tensor where others returned one");
    outputs.push_back(defined ? parallel::gather(column, engine_->output_device, engine_->dim)
                              : Tensor());
  }
  if (!graph_ || std::none_of(columns.begin(), columns.end(), [](const Tensors& column) {
        return column[0].defined() && any_requires_grad(column);
      }))
    return outputs;
  const auto node = make_node<DataParallelBackward>(graph_);
  for (size_t k = 0; k < columns.size(); ++k) {
    if (!outputs[k].defined() || !any_requires_grad(columns[k])) continue;
    graph_->outputs.push_back(columns[k]);
    set_history(outputs[k], node, node->add_input_metadata(outputs[k]));
  }
  return outputs;
}

}  // namespace gradus::nn::parallel
