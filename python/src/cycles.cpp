// What Python's garbage collector sees of the Python objects that C++ objects hold.
#include "cycles.h"

#include "errors.h"
#include "gradus/autograd/engine/meta.h"
#include "nn/hooks.h"
#include "tensor.h"

namespace gradus::python {
namespace {

// A class whose objects have attributes and nothing else.
struct Attributes {};
traverseproc visit_attributes = nullptr;
inquiry drop_attributes = nullptr;

}  // namespace

void prepare_cycles(nb::module_& m) {
  // nanobind's own functions for attributes, which no header declares.
  auto* type = reinterpret_cast<PyTypeObject*>(
      nb::class_<Attributes>(m, "_Attributes", nb::dynamic_attr()).ptr());
  visit_attributes = reinterpret_cast<traverseproc>(PyType_GetSlot(type, Py_tp_traverse));
  drop_attributes = reinterpret_cast<inquiry>(PyType_GetSlot(type, Py_tp_clear));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { end_callbacks(); }));
}

int clear_attributes(PyObject* self) { return drop_attributes(self); }

Visit::Visit(PyObject* self, visitproc visit, void* arg) : visit_(visit), arg_(arg) {
  result_ = visit_attributes(self, visit, arg);
  sees_inside_ = Released::running == 0 && nb::inst_ready(self);
}

void Visit::tensor(const Tensor& tensor, int64_t copies) {
  if (!tensor.defined()) return;
  PyObject* kept = object_kept_by(tensor);
  if (!kept && callbacks_held == 0) return;
  // Handles that own the Python object are counted apart from those that own the tensor.
  const void* owned = kept ? owner_of(tensor) : tensor.unsafeGetTensorImpl();
  if (!is_last(owned, static_cast<int64_t>(tensor.use_count()) - copies)) return;
  if (kept) return object(kept);
  tensors_.push_back(tensor.unsafeGetTensorImpl());
  if (std::exchange(looking_, true)) return;  // called by the loop below, which comes to it
  while (!tensors_.empty() || !nodes_.empty()) {
    if (!tensors_.empty()) {
      const TensorImpl* next = tensors_.back();
      tensors_.pop_back();
      look_into(*next);
    } else {
      const Node* next = nodes_.back();
      nodes_.pop_back();
      look_into(*next);
    }
  }
  looking_ = false;
}

void Visit::look_into(const TensorImpl& tensor) {
  if (tensor.view_of && is_last(tensor.view_of.get(), tensor.view_of.use_count()))
    tensors_.push_back(tensor.view_of.get());
  const auto* meta = static_cast<const AutogradMeta*>(tensor.autograd.get());
  if (!meta) return;
  hooks(meta->hooks);
  node(meta->grad_fn);
  this->tensor(meta->grad);
}

void Visit::look_into(const Node& node) {
  if (const auto* holds = dynamic_cast<const HoldsObjects*>(&node)) holds->visit(*this);
  if (const NodeHooks* own = node.find_hooks()) hooks(own->tensor);
  for (const Edge& edge : node.next_edges()) this->node(edge.function);
  if (const auto* accumulator = dynamic_cast<const AccumulateGrad*>(&node))
    tensor(accumulator->variable(), 1);
}

void Visit::hooks(const std::vector<TensorHook>& hooks) {
  for (const TensorHook& hook : hooks)
    if (const auto* call = hook.call.target<TensorHookCall>()) held(call->hook);
}

void Visit::node(const std::shared_ptr<Node>& node) {
  if (node && is_last(node.get(), node.use_count())) nodes_.push_back(node.get());
}

}  // namespace gradus::python
