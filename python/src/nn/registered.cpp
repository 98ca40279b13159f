// What modules register in C++ for Python, and what the garbage collector sees of it.
#include "nn/registered.h"

#include <typeindex>
#include <unordered_map>
#include <unordered_set>

#include "cycles.h"
#include "errors.h"
#include "nn/computed.h"
#include "nn/hooks.h"
#include "tensor.h"

namespace gradus::python {

PyObject* parameter_class = nullptr;
PyObject* buffer_class = nullptr;

bool is_parameter(nb::handle object) {
  return parameter_class && PyObject_IsInstance(object.ptr(), parameter_class) == 1;
}

namespace {

// What a Module keeps to itself and to classes that derive from it.
struct Registered : nn::Module {
  static auto& parameters(nn::Module& module) { return module.*(&Registered::parameters_); }
  static auto& buffers(nn::Module& module) { return module.*(&Registered::buffers_); }
  static auto& pre_hooks(nn::Module& module) { return module.*(&Registered::forward_pre_hooks_); }
  static auto& hooks(nn::Module& module) { return module.*(&Registered::forward_hooks_); }
};

std::unordered_map<std::type_index, MemberOf>& members() {
  static std::unordered_map<std::type_index, MemberOf> all;
  return all;
}
Tensor* member_of(nn::Module& module, const std::string& name) {
  const auto found = members().find(typeid(module));
  return found == members().end() ? nullptr : found->second(module, name);
}
bool is_of_cpp(nn::Module& module) { return members().contains(typeid(module)); }

void set(nn::Module& module, const std::string& name, Tensor& slot, const Tensor& tensor) {
  slot = tensor;
  if (Tensor* member = member_of(module, name)) *member = tensor;
}
Tensor registered_tensor(nb::handle value) {
  return value.is_none() ? Tensor() : kept_by_object(value);
}

// The object of a parameter, which the module keeps from here on.
nb::object parameter_object(nn::Module& module, const std::string& name, Tensor& slot) {
  const nb::object object = nb::steal(show(slot, reinterpret_cast<PyTypeObject*>(parameter_class)));
  // Another thread may be reading the handle.
  if (slot.defined() && !object_kept_by(slot) && Released::running == 0)
    set(module, name, slot, kept_by_object(object));
  return object;
}

// A submodule that owns its Python object. Each registration has an owner of its own, so that the
// garbage collector may count it.
struct OwnsModule {
  PyObject* object;
  int64_t handles = 1;  // of the module above it
  void operator()(nn::Module*) const { let_go(object); }
};
nb::object module_object(const std::shared_ptr<nn::Module>& module) {
  const auto* owns = std::get_deleter<OwnsModule>(module);
  return owns ? nb::borrow(owns->object) : nb::cast(module);
}
// The object that a handle owns, where the module above has all handles; null otherwise.
PyObject* object_owned(const std::shared_ptr<nn::Module>& child) {
  const auto* owns = std::get_deleter<OwnsModule>(child);
  return owns && child.use_count() == owns->handles ? owns->object : nullptr;
}

}  // namespace

OwnedModule::OwnedModule(nb::handle module)
    : handle(nb::inst_ptr<nn::Module>(module), OwnsModule{module.inc_ref().ptr()}) {}
OwnedModule::~OwnedModule() {
  std::get_deleter<OwnsModule>(handle)->handles = handle.use_count() - 1;
}

bool has_parameter(nn::Module& module, const std::string& name) {
  return Registered::parameters(module).contains(name);
}
bool has_buffer(nn::Module& module, const std::string& name) {
  return Registered::buffers(module).contains(name);
}

void register_parameter(nn::Module& module, const std::string& name, nb::handle value) {
  const Tensor tensor = registered_tensor(value);
  if (auto* known = Registered::parameters(module).find(name))
    set(module, name, **known, tensor);
  else
    module.register_parameter(name, tensor, tensor.defined() && tensor.requires_grad()),
        set_member(module, name, tensor);
}
void register_buffer(nn::Module& module, const std::string& name, nb::handle value) {
  const Tensor tensor = registered_tensor(value);
  if (auto* known = Registered::buffers(module).find(name))
    set(module, name, **known, tensor);
  else
    module.register_buffer(name, tensor);
}

Tensor exchange(nn::Module& module, const std::string& name, const Tensor& tensor) {
  auto* known = Registered::parameters(module).find(name);
  if (!known) known = Registered::buffers(module).find(name);
  check<ValueError>(known != nullptr, module.name(), " has no parameter or buffer ", name,
                    "; expected a name of named_parameters() or named_buffers()");
  const Tensor before = **known;
  set(module, name, **known, tensor);
  return before;
}

bool set_member(nn::Module& module, const std::string& name, const Tensor& tensor) {
  Tensor* member = member_of(module, name);
  if (member) *member = tensor;
  return member != nullptr;
}

namespace {
void check_is_free(nn::Module& module, const std::string& name) {
  if (is_of_cpp(module))
    fail<NotImplementedError>(module.name(), ": its part ", name,
                              " cannot be replaced; expected a module whose class is Python's");
}
}  // namespace

void unregister_child(nn::Module& module, const std::string& name) {
  check_is_free(module, name);
  module.unregister_module(name);
}

void register_child(nn::Module& module, const std::string& name, nb::handle child) {
  const OwnedModule owned(child);
  const bool known = module.named_children().contains(name);
  if (known) check_is_free(module, name);
  if (known)
    module.replace_module(name, owned.handle);
  else
    module.register_module(name, owned.handle);
}

bool holds(const nn::Module& module, const nn::Module& other) {
  if (&module == &other) return true;
  for (const auto& child : module.named_children())
    if (holds(*child.value(), other)) return true;
  return false;
}

nb::list children_of(const nn::Module& module) {
  nb::list out;
  for (const auto& child : module.named_children()) out.append(module_object(child.value()));
  return out;
}

std::optional<nb::object> registered(nn::Module& module, const std::string& name) {
  if (auto* parameter = Registered::parameters(module).find(name))
    return parameter_object(module, name, **parameter);
  if (auto* buffer = Registered::buffers(module).find(name)) return nb::cast(**buffer);
  if (const auto* child = module.named_children().find(name)) return module_object(*child);
  return std::nullopt;
}

nb::list named_parameters(nn::Module& module, const std::string& prefix, bool recurse) {
  nb::list out;
  std::unordered_set<const TensorImpl*> known;
  const auto add = [&](const auto& self, nn::Module& of, const std::string& path) -> void {
    const std::string before = path.empty() ? path : path + ".";
    for (auto& item : Registered::parameters(of)) {
      Tensor& slot = *item.value();
      if (slot.defined() && known.insert(slot.unsafeGetTensorImpl()).second)
        out.append(nb::make_tuple(before + item.key(), parameter_object(of, item.key(), slot)));
    }
    if (!recurse) return;
    for (const auto& child : of.named_children())
      self(self, *child.value(), child.key().empty() ? path : before + child.key());
  };
  add(add, module, prefix);
  return out;
}

void note_members(const std::type_info& type, MemberOf member_of) { members()[type] = member_of; }

namespace {

// Whether the Python object alone owns the module: it holds it in itself, or as the one owner.
bool is_owned_by(const nn::Module& module, const PyObject* self) {
  const auto* inside = reinterpret_cast<const char*>(&module);
  const auto* begin = reinterpret_cast<const char*>(self);
  return (inside > begin && inside < begin + sizeof(nn::Module)) ||
         module.weak_from_this().use_count() == 1;
}

int traverse_module(PyObject* self, visitproc visit, void* arg) {
  Visit visited(self, visit, arg);
  if (!visited.sees_inside()) return visited.result();
  nn::Module& module = *nb::inst_ptr<nn::Module>(self);
  if (!is_owned_by(module, self)) return 0;
  for (const auto& [number, hook] : Registered::pre_hooks(module))
    if (const auto* call = hook.target<ForwardPreHook>()) visited.held(call->hook);
  for (const auto& [number, hook] : Registered::hooks(module))
    if (const auto* call = hook.target<ForwardHook>()) visited.held(call->hook);
  for (auto* tensors : {&Registered::parameters(module), &Registered::buffers(module)})
    for (const auto& item : *tensors) {
      visited.tensor(*item.value());
      const Tensor* member = member_of(module, item.key());
      if (member && member->is_same(*item.value())) visited.tensor(*member);
    }
  for (const auto& child : module.named_children()) visited.object(object_owned(child.value()));
  return visited.result();
}

int clear_module(PyObject* self) {
  if (nb::inst_ready(self)) {
    nn::Module& module = *nb::inst_ptr<nn::Module>(self);
    if (is_owned_by(module, self)) {
      Registered::pre_hooks(module).clear();
      Registered::hooks(module).clear();
      std::vector<std::string> names;
      for (const auto& child : module.named_children())
        if (std::get_deleter<OwnsModule>(child.value())) names.push_back(child.key());
      for (const std::string& name : names) module.unregister_module(name);
    }
  }
  return clear_attributes(self);
}

}  // namespace

PyType_Slot module_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_module)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_module)},
                              {0, nullptr}};
std::array<PyType_Slot, 4> slots_called_by(ternaryfunc call) {
  return {
      module_slots[0], module_slots[1], {Py_tp_call, reinterpret_cast<void*>(call)}, {0, nullptr}};
}

}  // namespace gradus::python
