// ForwardGraph: the graphs of the replicas' forwards; DataParallelBackward: the one node that
// stands for all of them in the graph around them.
#pragma once

#include "gradus/nn/parallel/engine.h"
#include "gradus/nn/parallel/gradient_sink.h"

namespace gradus::nn::parallel {

struct ForwardGraph {
  std::shared_ptr<Engine> engine;
  uint64_t number;  // of the forward
  size_t replicas;
  Tensors tensors;             // the original's parameters and buffers, then the inputs
  size_t inputs_at;            // where the inputs begin
  std::vector<Tensors> parts;  // by input and replica
  // By replica and index in `tensors`; null where that requires no grad.
  std::vector<std::vector<std::shared_ptr<GradientSink>>> sinks;
  std::vector<Tensors> outputs;  // by output and replica

  bool requires_grad(size_t index) const { return sinks[0][index] != nullptr; }
};

class DataParallelBackward final : public Node {
 public:
  // Its edges lead to those of graph->tensors that require grad, in their order.
  explicit DataParallelBackward(std::shared_ptr<ForwardGraph> graph);
  void release_variables() override;

 private:
  Tensors apply(Tensors&& grads) override;

  std::shared_ptr<ForwardGraph> graph_;
  std::mutex mutex_;  // guards graph_
};

}  // namespace gradus::nn::parallel
