// Saving a tensor and finding it unchanged.
#include "gradus/autograd/engine/saved.h"

#include "gradus/autograd/engine/anomaly_mode.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/level_edges.h"
#include "gradus/autograd/engine/meta.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

thread_local constinit SavedStore* current_store = nullptr;

// "[CPUFloatType [3]], which is output 0 of MulBackward0,"
std::string what_it_is(const Tensor& x, const Node* maker, uint32_t output_nr) {
  std::string out = "[";
  out += x.is_cuda() ? "CUDA" : "CPU";
  out += toString(x.dtype());
  out += "Type ";
  append(out, x.sizes());
  out += "]";
  if (maker) out += ", which is output " + std::to_string(output_nr) + " of " + maker->name() + ",";
  return out;
}

}  // namespace

void fail_changed(const Tensor& x, uint32_t version, const Node* maker, uint32_t output_nr,
                  std::string_view keeper) {
  fail<Error>(
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: ",
      what_it_is(x, maker, output_nr), " is at version ", x._version(), "; expected version ",
      version, " instead. ", keeper, " saved it; clone() it before it is changed.",
      autograd::AnomalyMode::is_enabled()
          ? ""
          : " Hint: autograd::AnomalyMode::set_enabled(true) shows where that was called.");
}

SavedStoreGuard::SavedStoreGuard(SavedStore& store) : before_(current_store) {
  current_store = &store;
}
SavedStoreGuard::~SavedStoreGuard() { current_store = before_; }

struct Saved::Ticket {
  Ticket(SavedStore& from, const Tensor& tensor, Edge history)
      : store(from.shared_from_this()), number(from.put(tensor)), edge(std::move(history)) {}
  ~Ticket() { store->drop(number); }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  std::shared_ptr<SavedStore> store;
  size_t number;
  Edge edge;  // the history of the tensor, where it is no output of the owner
};

Saved::Saved(const Tensor& tensor, std::optional<uint32_t> output_nr) : output_nr_(output_nr) {
  if (!tensor.defined()) return;
  check<Error>(!tensor.is_inference(),
               "Inference tensors cannot be saved for backward. clone() it outside of "
               "InferenceMode and compute with the clone");
  if (current_store) [[unlikely]] {
    ticket_ =
        std::make_shared<Ticket>(*current_store, tensor, output_nr ? Edge{} : own_edge(tensor));
    return;
  }
  tensor_ = output_nr ? raw::alias(tensor) : tensor;
  version_ = tensor._version();
}

Tensor Saved::unpack(const std::shared_ptr<Node>& owner) const {
  if (ticket_) [[unlikely]] {
    Tensor out = ticket_->store->get(ticket_->number);
    if (output_nr_)
      set_history(out, owner, *output_nr_);
    else if (ticket_->edge.is_valid())
      set_history(out, ticket_->edge.function, ticket_->edge.input_nr);
    return out;
  }
  if (!tensor_.defined()) return tensor_;
  if (tensor_._version() != version_) [[unlikely]]
    fail_changed(tensor_, version_, output_nr_ ? owner.get() : tensor_.grad_fn().get(),
                 output_nr_.value_or(tensor_.output_nr()), owner ? owner->label() : "checkpoint");
  if (!output_nr_ || !GradMode::is_enabled()) return tensor_;
  Tensor out = raw::alias(tensor_);
  set_history(out, owner, *output_nr_);
  return out;
}

}  // namespace gradus
