#include "gradus/autograd/node.h"

#include <atomic>

#include "gradus/autograd/grad_mode.h"
#include "gradus/autograd/meta.h"
#include "gradus/tensor/raw.h"

namespace gradus {

namespace {
thread_local bool grad_enabled = true;
std::atomic<uint64_t> next_sequence_nr{0};
std::atomic<unsigned> next_hook{0};
}  // namespace

bool GradMode::is_enabled() { return grad_enabled; }
void GradMode::set_enabled(bool enabled) { grad_enabled = enabled; }

unsigned new_hook_handle() { return next_hook.fetch_add(1); }

Node::Node(std::string name)
    : name_(std::move(name)), sequence_nr_(next_sequence_nr.fetch_add(1)) {}

void Node::release() {
  released_ = !saved_.empty();
  saved_.clear();
}

Tensor Node::saved(size_t i) {
  check<Error>(!released_, "backward: the graph was freed by an earlier backward (at ", name_,
               "); pass retain_graph = true to the first one to go through it twice");
  return saved_[i].unpack(shared_from_this());
}

unsigned Node::add_post_hook(PostHook hook) {
  post_hooks_.push_back(std::move(hook));
  return static_cast<unsigned>(post_hooks_.size() - 1);
}

void Node::run_post_hooks(const TensorList& outputs, const TensorList& inputs) const {
  for (const PostHook& hook : post_hooks_) hook(outputs, inputs);
}

uint32_t Node::add_input(const Tensor& forward_output) {
  metas_.push_back({forward_output.impl().sizes, forward_output.dtype(), forward_output.device()});
  return static_cast<uint32_t>(metas_.size() - 1);
}

Saved::Saved(const Tensor& tensor, std::optional<uint32_t> output_nr) : output_nr_(output_nr) {
  if (!tensor.defined()) return;
  tensor_ = output_nr ? raw::alias(tensor) : tensor;
  version_ = tensor._version();
}

Tensor Saved::unpack(const std::shared_ptr<Node>& owner) const {
  if (!tensor_.defined()) return tensor_;
  check<Error>(tensor_._version() == version_,
               "backward: one of the variables needed for gradient computation has been modified "
               "by an inplace operation: a tensor of shape ",
               tensor_.sizes(), " and dtype ", tensor_.dtype(), " saved by ", owner->name(),
               " is at version ", tensor_._version(), "; expected version ", version_,
               "; clone() it before changing it");
  if (!output_nr_ || !GradMode::is_enabled()) return tensor_;
  Tensor out = raw::alias(tensor_);
  set_history(out, owner, *output_nr_);
  return out;
}

void NodeDeleter::operator()(Node* node) const {
  static thread_local std::vector<Node*>* waiting = nullptr;
  if (waiting) return waiting->push_back(node);
  std::vector<Node*> queue;
  waiting = &queue;
  delete node;
  while (!queue.empty()) {
    Node* next = queue.back();
    queue.pop_back();
    delete next;
  }
  waiting = nullptr;
}

}  // namespace gradus
