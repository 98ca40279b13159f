// Where the graph of a replica ends: in the place of each parameter and of each input.
#pragma once

#include <cstdint>

#include "gradus/autograd/engine/node.h"

namespace gradus::nn::parallel {

// What the gradients of one backward pass of one replica are reported to.
class GradientReceiver {
 public:
  // forward: the number of the forward whose graph the pass runs through.
  explicit GradientReceiver(uint64_t forward) : forward_(forward) {}
  virtual ~GradientReceiver() = default;
  virtual void receive(size_t index, Tensor grad) = 0;
  // As Node::rows_ready, of what receive() will get.
  virtual void rows_ready(size_t index, const Tensor& grad, int64_t end) = 0;
  uint64_t forward() const { return forward_; }

 private:
  uint64_t forward_;
};

// The receiver of the backward pass that runs on this thread; null outside of one.
class ReceiverGuard {
 public:
  explicit ReceiverGuard(GradientReceiver& receiver);
  ~ReceiverGuard();
  ReceiverGuard(const ReceiverGuard&) = delete;
  ReceiverGuard& operator=(const ReceiverGuard&) = delete;
};

// Hands the gradient of a tensor of a replica over as soon as it is complete. Once connected it is
// an ordinary node too, which leads to the tensor that the replica's stands for: gradients of
// gradients go that way.
class GradientSink final : public Node {
 public:
  GradientSink(uint64_t forward, size_t index, Edge target, const Tensor& tensor);
  void connect();
  void rows_ready(const Tensor& grad, int64_t end) override;

 private:
  Tensors apply(Tensors&& grads) override;

  uint64_t forward_;
  size_t index_;
  Edge target_;
};

}  // namespace gradus::nn::parallel
