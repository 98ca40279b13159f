// The nodes that hand the gradients of a replica over.
#include "gradus/nn/parallel/gradient_sink.h"

namespace gradus::nn::parallel {

namespace {
thread_local constinit GradientReceiver* receiver = nullptr;
}

ReceiverGuard::ReceiverGuard(GradientReceiver& current) { receiver = &current; }
ReceiverGuard::~ReceiverGuard() { receiver = nullptr; }

GradientSink::GradientSink(uint64_t forward, size_t index, Edge target, const Tensor& tensor)
    : Node("GradientSink"), forward_(forward), index_(index), target_(std::move(target)) {
  run_first();
  add_input_metadata(tensor);
}

void GradientSink::connect() {
  if (next_edges().empty()) add_next_edge(target_);
}

void GradientSink::rows_ready(const Tensor& grad, int64_t end) {
  if (receiver && receiver->forward() == forward_) receiver->rows_ready(index_, grad, end);
}

Tensors GradientSink::apply(Tensors&& grads) {
  if (!receiver) {
    check<Error>(!next_edges().empty(),
                 "DataParallel: a backward pass has reached a replica's parameter or input from "
                 "within the module's forward; differentiate what DataParallel returns instead");
    return {std::move(grads[0])};
  }
  check<Error>(receiver->forward() == forward_,
               "DataParallel: the module's results depend on an earlier forward; detach() what it "
               "keeps from one forward to the next");
  receiver->receive(index_, std::move(grads[0]));
  return {};
}

}  // namespace gradus::nn::parallel
