// Module: what it holds by name, moving and converting it, and printing.
#include "gradus/nn/module.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <unordered_set>

#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/node.h"
#include "gradus/nn/named_class.h"
#include "gradus/tensor/base/warning.h"

namespace gradus::nn {

namespace {
// what: "Parameter"
void check_name(const char* what, const std::string& name) {
  check(!name.empty(), what, " name must not be empty; give it one");
  check(name.find('.') == std::string::npos, what, " name must not contain a dot (got '", name,
        "'), which separates modules; leave it out");
}
std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() || name.empty() ? prefix + name : prefix + "." + name;
}

// Counts the levels of modules that this thread has gone down, since each takes some of its stack.
class Level {
 public:
  // Errors: Error beyond the limit.
  explicit Level(const Module& module) {
    constexpr int kMost = 1000;
    check<Error>(depth_ < kMost, module.name(), ": modules are nested more than ", kMost,
                 " deep; put them side by side in one Sequential or ModuleList");
    ++depth_;
  }
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  static thread_local int depth_;
};
thread_local int Level::depth_ = 0;

// Whether `wanted` is the module or below it. A loop visits each module once.
bool holds(const Module& module, const Module& wanted) {
  std::vector<const Module*> left{&module};
  std::unordered_set<const Module*> seen;
  while (!left.empty()) {
    const Module* const next = left.back();
    left.pop_back();
    if (next == &wanted) return true;
    if (!seen.insert(next).second) continue;
    for (const auto& child : next->named_children()) left.push_back(child.value().get());
  }
  return false;
}

void check_child(const char* op, const Module& parent, const std::string& name,
                 const std::shared_ptr<Module>& module) {
  check(module != nullptr, op, ": the module '", name, "' is empty; construct it first");
  if (holds(*module, parent))
    fail(op, ": the module '", name, "', ", module->name(), ", ",
         module.get() == &parent ? "is the one" : "holds the one",
         " that it is to be registered in, ", parent.name(),
         "; a module cannot be below itself, keep a plain pointer instead");
}
}  // namespace

// Calls f(prefix, module) for this module and, where asked, all below, in order.
template <class F>
void Module::visit(const std::string& prefix, bool recurse, F&& f) const {
  f(prefix, *this);
  if (!recurse) return;
  const Level level(*this);
  for (const auto& child : children_) child.value()->visit(joined(prefix, child.key()), true, f);
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(
    const std::string& name_prefix, bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> out;
  if (include_self) out.insert(name_prefix, shared_from_this_checked());
  // Each module before what is below it, as apply() calls.
  const auto add = [&](const auto& self, const Module& module, const std::string& prefix) -> void {
    const Level level(module);
    for (const auto& child : module.children_) {
      const std::string name = joined(prefix, child.key());
      if (!child.key().empty()) out.insert(name, child.value());
      self(self, *child.value(), name);
    }
  };
  add(add, *this, name_prefix);
  return out;
}

std::shared_ptr<Module> Module::shared_from_this_checked() const {
  const std::shared_ptr<const Module> self = weak_from_this().lock();
  check<Error>(self != nullptr, name(),
               ": It looks like you attempted to retrieve your top-level module as a shared_ptr, "
               "but none holds it; make it with std::make_shared, or give include_self = false to "
               "modules() and named_modules()");
  return std::const_pointer_cast<Module>(self);
}

void Module::apply(const std::function<void(Module&)>& function) {
  apply([&](const std::string&, Module& module) { function(module); });
}
void Module::apply(const std::function<void(const Module&)>& function) const {
  visit("", true, [&](const std::string&, const Module& module) { function(module); });
}
void Module::apply(const std::function<void(const std::string&, Module&)>& function,
                   const std::string& name_prefix) {
  function(name_prefix, *this);
  const Level level(*this);
  for (const auto& child : children_)
    child.value()->apply(function, joined(name_prefix, child.key()));
}
void Module::apply(const std::function<void(const std::string&, const Module&)>& function,
                   const std::string& name_prefix) const {
  visit(name_prefix, true, function);
}
void Module::apply(const std::function<void(const std::shared_ptr<Module>&)>& function) const {
  for (const auto& module : modules()) function(module);
}
void Module::apply(
    const std::function<void(const std::string&, const std::shared_ptr<Module>&)>& function,
    const std::string& name_prefix) const {
  for (const auto& item : named_modules(name_prefix)) function(item.key(), item.value());
}

// Calls f(prefix, name, tensor) for each that is defined.
template <class F>
void Module::each(TensorDict Module::*tensors, bool recurse, F&& f) const {
  visit("", recurse, [&](const std::string& prefix, const Module& module) {
    for (const auto& item : module.*tensors)
      if (item.value()->defined()) f(prefix, item.key(), *item.value());
  });
}
Tensors Module::listed(TensorDict Module::*tensors, bool recurse) const {
  Tensors out;
  std::unordered_set<const TensorImpl*> known;  // a shared layer has several names
  each(tensors, recurse, [&](const auto&, const auto&, const Tensor& x) {
    if (known.insert(&x.impl()).second) out.push_back(x);
  });
  return out;
}
OrderedDict<std::string, Tensor> Module::named(TensorDict Module::*tensors, bool recurse) const {
  OrderedDict<std::string, Tensor> out;
  each(tensors, recurse, [&](const auto& prefix, const auto& name, const Tensor& x) {
    out.insert(joined(prefix, name), x);
  });
  return out;
}

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("Parameter", name);
  check(!buffers_.contains(name) && !children_.contains(name), "register_parameter: the name '",
        name, "' is taken by a buffer or a module; choose another");
  if (!tensor.defined()) {
    if (requires_grad)
      warn(
          "register_parameter: an undefined tensor cannot require grad. Ignoring the "
          "`requires_grad=true` function parameter; give false for '" +
          name + "'");
  } else if (requires_grad != tensor.requires_grad()) {
    tensor.set_requires_grad(requires_grad);
  }
  return *parameters_.insert(std::move(name), std::make_shared<Tensor>(std::move(tensor)));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_name("Buffer", name);
  check(!parameters_.contains(name) && !children_.contains(name), "register_buffer: the name '",
        name, "' is taken by a parameter or a module; choose another");
  return *buffers_.insert(std::move(name), std::make_shared<Tensor>(std::move(tensor)));
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_name("Submodule", name);
  check(!parameters_.contains(name) && !buffers_.contains(name), "register_module: the name '",
        name, "' is taken by a parameter or a buffer; choose another");
  check_child("register_module", *this, name, module);
  children_.insert(std::move(name), std::move(module));
}

void Module::replace_child(const std::string& name, std::shared_ptr<Module> module) {
  check_child("replace_module", *this, name, module);
  children_[name] = std::move(module);
}

void Module::unregister_module(const std::string& name) {
  check(children_.contains(name), "No Module with name `", name,
        "` is registered; named_children() lists them");
  children_.erase(name);
}

Tensor Module::unregister_parameter(const std::string& name) {
  check(parameters_.contains(name), "No Parameter with name `", name,
        "` is registered; named_parameters() lists them");
  const Tensor out = *parameters_[name];
  parameters_.erase(name);
  return out;
}
Tensor Module::unregister_buffer(const std::string& name) {
  check(buffers_.contains(name), "No Buffer with name `", name,
        "` is registered; named_buffers() lists them");
  const Tensor out = *buffers_[name];
  buffers_.erase(name);
  return out;
}

void Module::stand_for(std::shared_ptr<Module> module) { children_.insert("", std::move(module)); }

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  fail<Error>("clone() has not been implemented for ", name(), ". Subclass nn::Cloneable<", name(),
              "> instead of nn::Module to inherit the ability to clone.");
}

void Module::clone_(const Module& other, const std::optional<Device>&) {
  fail<Error>("clone: the submodule ", other.name(), " was to be cloned into ", name(),
              ", which does not derive from nn::Cloneable<", name(), ">");
}

size_t Module::register_forward_pre_hook(std::function<Tensor(Module&, const Tensor&)> hook) {
  const size_t number = next_forward_pre_hook_++;
  forward_pre_hooks_.emplace(number, std::move(hook));
  return number;
}
size_t Module::register_forward_hook(
    std::function<Tensor(Module&, const Tensor&, const Tensor&)> hook) {
  const size_t number = next_forward_hook_++;
  forward_hooks_.emplace(number, std::move(hook));
  return number;
}
void Module::remove_forward_pre_hook(size_t number) {
  check<IndexError>(forward_pre_hooks_.erase(number) == 1, "remove_forward_pre_hook: ", name(),
                    " has no hook ", number, "; give the number that the registration returned");
}
void Module::remove_forward_hook(size_t number) {
  check<IndexError>(forward_hooks_.erase(number) == 1, "remove_forward_hook: ", name(),
                    " has no hook ", number, "; give the number that the registration returned");
}

// Hooks may register and remove hooks, so a copy of the list is gone through.
Tensor Module::before_forward(Tensor input) {
  const auto hooks = forward_pre_hooks_;
  for (const auto& [number, hook] : hooks)
    if (Tensor other = hook(*this, input); other.defined()) input = std::move(other);
  return input;
}
Tensor Module::after_forward(const Tensor& input, Tensor output) {
  const auto hooks = forward_hooks_;
  for (const auto& [number, hook] : hooks)
    if (Tensor other = hook(*this, input, output); other.defined()) output = std::move(other);
  return output;
}
void Module::copy_hooks(const Module& from) {
  next_forward_pre_hook_ = from.next_forward_pre_hook_;
  next_forward_hook_ = from.next_forward_hook_;
  forward_pre_hooks_ = from.forward_pre_hooks_;
  forward_hooks_ = from.forward_hooks_;
}
void Module::fail_hooks() const {
  fail<TypeError>(name(),
                  ": its hooks take Tensors, which its forward() does not take first and return; "
                  "call what they do in forward()");
}

void Module::train(bool on) {
  const Level level(*this);
  training_ = on;
  for (const auto& child : children_) child.value()->train(on);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& parameter : parameters()) autograd::clear_grad(parameter, set_to_none);
}

// All conversions are made before the first tensor changes, so that an error changes nothing.
template <class Convert>
void Module::apply_to_tensors(const Convert& convert) {
  const NoGradGuard guard;
  std::vector<std::pair<Tensor, Tensor>> changes;
  const auto plan = [&](const Tensor& x) {
    changes.emplace_back(x, convert(x));
    if (x.grad().defined()) changes.emplace_back(x.grad(), convert(x.grad()));
  };
  for (const Tensor& x : parameters()) plan(x);
  for (const Tensor& x : buffers()) plan(x);
  for (auto& [old, fresh] : changes) {
    if (old.is_same(fresh)) continue;
    // The handle stays. So optimizers, and whoever else holds it, see the new memory.
    old.set_data(fresh);
  }
}

namespace {
void check_dtype(ScalarType dtype) {
  check<TypeError>(!isComplexType(dtype), "Module::to: dtype ", dtype,
                   ", and parameters are real; register view_as_real() of a complex one, and "
                   "compute with view_as_complex() of that");
  check<TypeError>(isFloatingType(dtype), "Module::to: dtype ", dtype,
                   " is not a floating point type; parameters need one");
}
}  // namespace

void Module::to(Device device, ScalarType dtype, bool non_blocking) {
  check_dtype(dtype);
  apply_to_tensors([&](const Tensor& x) {
    return x.to(device, x.is_floating_point() ? dtype : x.scalar_type(), non_blocking);
  });
}
void Module::to(ScalarType dtype, bool non_blocking) {
  check_dtype(dtype);
  apply_to_tensors(
      [&](const Tensor& x) { return x.is_floating_point() ? x.to(dtype, non_blocking) : x; });
}
void Module::to(Device device, bool non_blocking) {
  apply_to_tensors([&](const Tensor& x) { return x.to(device, non_blocking); });
}
void Module::to(MemoryFormat memory_format) {
  check(memory_format != MemoryFormat::Preserve,
        "Module::to: memory_format is Preserve, which changes nothing; give ChannelsLast, "
        "ChannelsLast3d or Contiguous");
  const int64_t dims = memory_format == MemoryFormat::ChannelsLast ? 4 : 5;
  apply_to_tensors([&](const Tensor& x) {
    const bool takes = memory_format == MemoryFormat::Contiguous || x.dim() == dims;
    return takes ? x.contiguous(memory_format) : x;
  });
}

std::string class_name(const std::type_info& type) {
  std::string name = readable_name(type);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}
std::string short_class_name(const std::type_info& type) {
  std::string name = readable_name(type);
  name.resize(std::min(name.size(), name.find('<')));
  name.erase(0, name.rfind(':') + 1);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

NamedClass::~NamedClass() = default;
std::string short_class_name(const Module& module) {
  const auto* const named = dynamic_cast<const NamedClass*>(&module);
  return named != nullptr ? named->class_name() : short_class_name(typeid(module));
}

void detail::fail_empty_holder(const std::type_info& contained) {
  const std::string type = class_name(contained), name = short_class_name(contained);
  fail<Error>(type, ": Accessing empty ModuleHolder, expected a module; write the member as `",
              name, " x{nullptr};` and assign it in the constructor: x = register_module(\"x\", ",
              name, "(...))");
}

void Module::check_defined(const Tensor& tensor, const char* argument) const {
  if (!tensor.defined())
    fail<ValueError>(name(), ": ", argument,
                     " is undefined, expected a tensor; assign it one first");
}

std::string Module::name() const { return name_.empty() ? readable_name(typeid(*this)) : name_; }

void Module::pretty_print(std::ostream& stream) const { print_tree(stream, name()); }

void Module::print_tree(std::ostream& stream, const std::string& head) const {
  const Level level(*this);
  stream << head;
  if (children_.is_empty()) return;
  stream << "(\n";
  for (const auto& child : children_) {
    std::ostringstream text;
    text.copyfmt(stream);
    text << *child.value();
    stream.copyfmt(text);  // libtorch's modules leave std::boolalpha set
    stream << "  (" << child.key() << "): ";
    for (const char c : text.str()) stream << c << (c == '\n' ? "  " : "");
    stream << '\n';
  }
  stream << ')';
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.pretty_print(stream);
  return stream;
}

}  // namespace gradus::nn
