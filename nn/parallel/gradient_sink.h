// GradientSink: the node at which the graph of a replica ends, one for each parameter and input.
#pragma once

#include <cstdint>

#include "gradus/autograd/engine/node.h"
#include "gradus/autograd/engine/pieces.h"

namespace gradus::nn::parallel {

// Gets the gradients of one replica in one backward pass.
class GradientReceiver {
 public:
  // forward: the number of the forward whose graph the pass runs through.
  explicit GradientReceiver(uint64_t forward) : forward_(forward) {}
  virtual ~GradientReceiver() = default;
  virtual void receive(size_t index, Tensor grad) = 0;
  // As RowReceiver::rows_ready, of the gradient that receive() will get.
  virtual void rows_ready(size_t index, const Tensor& grad, int64_t end) = 0;
  uint64_t forward() const { return forward_; }

 private:
  uint64_t forward_;
};

// While it lives, backward passes on this thread report to the receiver.
class ReceiverGuard {
 public:
  explicit ReceiverGuard(GradientReceiver& receiver);
  ~ReceiverGuard();
  ReceiverGuard(const ReceiverGuard&) = delete;
  ReceiverGuard& operator=(const ReceiverGuard&) = delete;
};

// Passes the gradient of one tensor of a replica to the receiver as soon as it is complete. After
// connect() it has an edge to the original tensor, which gradients of gradients take.
class GradientSink final : public Node, public autograd::RowReceiver {
 public:
  GradientSink(uint64_t forward, size_t index, Edge target, const Tensor& tensor);
  void connect();
  autograd::RowReceiver* row_receiver() override { return this; }
  void rows_ready(const Tensor& grad, int64_t end) override;

 private:
  Tensors apply(Tensors&& grads) override;

  uint64_t forward_;
  size_t index_;
  Edge target_;
};

}  // namespace gradus::nn::parallel
