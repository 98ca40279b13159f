// Nodes: their names, saved tensors and hooks, and how long chains of them end.
#include "gradus/autograd/engine/node.h"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <typeinfo>

#include "gradus/autograd/engine/graph_task.h"

namespace gradus {

namespace {
thread_local constinit uint64_t next_sequence_nr = 0;
std::atomic<unsigned> next_hook{0};
}  // namespace

unsigned new_hook_handle() { return next_hook.fetch_add(1, std::memory_order_relaxed); }

uint64_t autograd::next_sequence_number() { return next_sequence_nr; }

Node::Node(edge_list&& next_edges)
    : sequence_nr_(next_sequence_nr++), next_edges_(std::move(next_edges)) {
  if (autograd::AnomalyMode::keeps_places()) [[unlikely]]
    forward_call_ = std::make_unique<autograd::ForwardCall>();
}

Node::Node(const char* name) : Node(edge_list{}) { name_ = name; }

Node::~Node() = default;

std::string readable_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return readable ? readable.get() : type.name();
}

std::string Node::name() const { return name_ ? name_ : readable_name(typeid(*this)); }

std::string Node::label() const {
  constexpr std::string_view prefix = "torch::autograd::";
  const std::string full = name();
  return full.starts_with(prefix) ? full.substr(prefix.size()) : full;
}

void Node::release_variables() {
  SmallList<Saved, 2> freed;  // after the lock: what they free may be much
  const std::lock_guard lock(mutex_);
  released_ |= !saved_.empty();
  freed.swap(saved_);
}

Tensor Node::saved(size_t i) {
  std::optional<Saved> found;
  {
    const std::lock_guard lock(mutex_);
    check<Error>(!released_,
                 "backward: Trying to backward through the graph a second time: the tensors that ",
                 *this,
                 " saved were freed by the first; pass retain_graph = true to the first one, or "
                 "detach() what an earlier step computed, such as a hidden state");
    if (i >= saved_.size()) return {};
    found = saved_[i];
  }
  return found->unpack(shared_from_this());
}

uint32_t Node::add_input_metadata(const Tensor& forward_output) {
  Meta& meta = metas_.add();
  meta.sizes = forward_output.impl().sizes;
  meta.dtype = forward_output.dtype();
  meta.device = forward_output.device();
  return static_cast<uint32_t>(metas_.size() - 1);
}

bool Node::should_compute_output(size_t i) const {
  check<IndexError>(i < next_edges_.size(), "should_compute_output: ", *this, " has ",
                    next_edges_.size(), " outputs, and number ", i, " was asked for");
  return next_edges_[i].is_valid();
}

bool Node::should_compute_output(std::initializer_list<std::pair<size_t, size_t>> ranges) const {
  for (auto [first, last] : ranges)
    for (size_t i = first; i < last; ++i)
      if (should_compute_output(i)) return true;
  return false;
}

bool Node::wants(size_t i) const {
  return next_edges_[i].is_valid() && autograd::needed_by_task(next_edges_[i].function.get());
}

NodeHooks& Node::hooks() {
  if (!hooks_) hooks_ = std::make_unique<NodeHooks>();
  return *hooks_;
}

uintptr_t Node::add_post_hook(std::unique_ptr<autograd::FunctionPostHook>&& hook) {
  hooks().after.push_back(std::move(hook));
  return reinterpret_cast<uintptr_t>(hooks().after.back().get());
}

bool Node::del_post_hook(uintptr_t handle) {
  return std::erase_if(hooks().after, [handle](const auto& hook) {
           return reinterpret_cast<uintptr_t>(hook.get()) == handle;
         }) > 0;
}

void Node::add_pre_hook(std::unique_ptr<autograd::FunctionPreHook>&& hook) {
  hooks().before.push_back(std::move(hook));
}

void end_node(Node* node, void (*end)(Node*)) {
  static thread_local constinit Node* waiting = nullptr;
  static thread_local constinit bool ending = false;
  node->end_ = end;
  node->next_to_end_ = std::exchange(waiting, node);
  if (std::exchange(ending, true)) return;
  while (waiting) {
    Node* const next = std::exchange(waiting, waiting->next_to_end_);
    // The node shares memory with its count; the memory goes when nothing refers to the count any
    // more.
    const std::weak_ptr<Node> memory = next->weak_from_this();
    next->end_(next);
  }
  ending = false;
}

}  // namespace gradus
