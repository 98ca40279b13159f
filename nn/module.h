// Module: a part of a network, with its parameters, buffers and submodules by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "gradus/autograd/functions.h"
#include "gradus/nn/any_value.h"
#include "gradus/tensor/base/observed.h"
#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace serialize {
class OutputArchive;
class InputArchive;
}  // namespace serialize

namespace nn {

template <class T>
class ModuleHolder;

namespace detail {
// The module class that a holder stands for; other classes are their own.
template <class T>
struct ContainedBy {
  using type = T;
};
template <class T>
requires requires { typename T::ContainedType; }
struct ContainedBy<T> {
  using type = typename T::ContainedType;
};
template <class T>
using Contained = typename ContainedBy<T>::type;
}  // namespace detail

// "gradus::nn::Linear" for LinearImpl.
std::string class_name(const std::type_info& type);
// "Linear"
std::string short_class_name(const std::type_info& type);

class Module : public std::enable_shared_from_this<Module> {
 public:
  Module() = default;
  explicit Module(std::string name) : name_(std::move(name)) {}
  virtual ~Module() = default;

  // Every parameter (buffer, module) of this module and of its submodules; names are joined by
  // dots: "fc1.weight". The module itself has the name "".
  Tensors parameters(bool recurse = true) const { return listed(&Module::parameters_, recurse); }
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const {
    return named(&Module::parameters_, recurse);
  }
  Tensors buffers(bool recurse = true) const { return listed(&Module::buffers_, recurse); }
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const {
    return named(&Module::buffers_, recurse);
  }
  std::vector<std::shared_ptr<Module>> children() const { return children_.values(); }
  const OrderedDict<std::string, std::shared_ptr<Module>>& named_children() const {
    return children_;
  }
  // This module and all below it. include_self = false leaves this one out. Errors: Error where
  // this module is to be included, and no shared_ptr holds it.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const {
    return named_modules("", include_self).values();
  }
  // name_prefix: the name of this module, with which those below begin.
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(
      const std::string& name_prefix = "", bool include_self = true) const;

  // Calls the function for this module and all below, a module before those that it holds.
  void apply(const std::function<void(Module&)>& function);
  void apply(const std::function<void(const Module&)>& function) const;
  void apply(const std::function<void(const std::string&, Module&)>& function,
             const std::string& name_prefix = "");
  void apply(const std::function<void(const std::string&, const Module&)>& function,
             const std::string& name_prefix = "") const;
  // Errors: as modules().
  void apply(const std::function<void(const std::shared_ptr<Module>&)>& function) const;
  void apply(
      const std::function<void(const std::string&, const std::shared_ptr<Module>&)>& function,
      const std::string& name_prefix = "") const;

  // Returns this module as a T, or as T's module where T is a holder. Null where it is none.
  template <class T>
  auto* as() noexcept {
    return dynamic_cast<detail::Contained<T>*>(this);
  }
  template <class T>
  auto* as() const noexcept {
    return dynamic_cast<const detail::Contained<T>*>(this);
  }

  // Parameters, then buffers, without a graph; they share the memory of the module.
  OrderedDict<std::string, Tensor> state_dict() const;
  // Copies the values to the parameters and buffers of the same names, and converts their dtypes.
  // strict: every name is on both sides.
  // Errors: ValueError that lists all names that are missing, unknown, or of another shape; nothing
  // is changed then.
  void load_state_dict(const OrderedDict<std::string, Tensor>& values, bool strict = true);
  // Parameters, buffers and submodules under their names; defined in serialize/.
  virtual void save(serialize::OutputArchive& archive) const;
  // Errors: ValueError that names what is missing, or has another shape or dtype.
  virtual void load(serialize::InputArchive& archive);
  // Whether save() of a module that holds this one includes it.
  virtual bool is_serializable() const { return true; }

  virtual void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }
  // A deep copy, on `device` where one is given. Cloneable (nn/cloneable.h) defines it.
  // Errors: Error where the class does not derive from Cloneable.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;
  // Moves or converts all parameters and buffers in place: an optimizer made before still holds
  // them. Integer buffers keep their dtype. non_blocking as in Tensor::to.
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  void to(DeviceType device, bool non_blocking = false) { to(Device(device), non_blocking); }
  // Lays out parameters and buffers as Python's Module.to(memory_format=...). ChannelsLast changes
  // those of 4 dimensions, ChannelsLast3d those of 5, Contiguous all. Errors: ValueError for
  // Preserve.
  void to(MemoryFormat memory_format);
  // Moves to the current GPU, or to that of this index.
  void cuda(std::optional<DeviceIndex> device = std::nullopt) {
    to(Device(kCUDA, device.value_or(-1)));
  }
  void cpu() { to(kCPU); }
  // set_to_none: grad() becomes undefined, and the next backward stores instead of adding.
  virtual void zero_grad(bool set_to_none = true);
  // The one given, or that of the class.
  std::string name() const;
  // "Linear(in_features=10, out_features=1, bias=true)"
  virtual void pretty_print(std::ostream& stream) const;

  // Python's hooks, for a module whose forward() takes a Tensor first and returns one first. Hooks
  // run in the order of their registration, where a holder or a Sequential calls the module. A
  // defined tensor that a hook returns takes the place of the input or the output. The number that
  // is returned here removes the hook. A hook may register and remove hooks, itself too; those that
  // run at the moment do not change by it.
  size_t register_forward_pre_hook(std::function<Tensor(Module&, const Tensor& input)> hook);
  size_t register_forward_hook(
      std::function<Tensor(Module&, const Tensor& input, const Tensor& output)> hook);
  // Errors: IndexError where there is no such hook.
  void remove_forward_pre_hook(size_t number);
  void remove_forward_hook(size_t number);
  // Whether somebody looks at what forward() takes or returns.
  bool is_watched() const {
    return !forward_pre_hooks_.empty() || !forward_hooks_.empty() || Observer<Module>::any();
  }
  // forward(), between the hooks. Errors: TypeError where there are hooks for other types than it
  // takes or returns; those of forward(), to which the path of the module is added.
  template <class M, class... Args>
  static auto call(M& module, Args&&... args) {
    const Observed<Module> observed(module);
    return with_path(module, [&] {
      if (module.forward_pre_hooks_.empty() && module.forward_hooks_.empty()) [[likely]]
        return module.forward(std::forward<Args>(args)...);
      return call_with_hooks(module, std::forward<Args>(args)...);
    });
  }
  // f(); the path of the layer is added to its errors.
  template <class F>
  static auto with_path(const Module& layer, const F& f) {
    try {
      return f();
    } catch (Error& error) {
      layer.add_path_to(error);
      throw;
    }
  }

  // The returned references stay valid while the module lives. Errors: ValueError for a name that
  // is taken, empty, or contains a dot.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <class T>
  std::shared_ptr<T> register_module(std::string name, std::shared_ptr<T> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <class T>
  std::shared_ptr<T> register_module(std::string name, ModuleHolder<T> holder) {
    return register_module(std::move(name), holder.ptr());
  }
  // Puts another module in the place of one. Errors: ValueError where there is none of this name.
  template <class T>
  std::shared_ptr<T> replace_module(const std::string& name, std::shared_ptr<T> module) {
    replace_child(name, module);
    return module;
  }
  template <class T>
  std::shared_ptr<T> replace_module(const std::string& name, ModuleHolder<T> holder) {
    return replace_module(name, holder.ptr());
  }
  // Errors: ValueError where there is none of this name.
  void unregister_module(const std::string& name);
  Tensor unregister_parameter(const std::string& name);
  Tensor unregister_buffer(const std::string& name);

 protected:
  // Values of the last arguments of forward(), which AnyModule and Sequential may then leave out:
  // their places, from 0, and their values. GRADUS_FORWARD_HAS_DEFAULT_ARGS defines it.
  virtual std::vector<std::pair<unsigned, AnyValue>> forward_default_args() const { return {}; }
  // Lets the contents of `module` count as this module's own, under the same names. REQUIRES: this
  // module registers nothing itself.
  void stand_for(std::shared_ptr<Module> module);
  // pretty_print with another name at its head.
  void print_tree(std::ostream& stream, const std::string& head) const;
  // Takes over the hooks of a module of which this one is to be a copy.
  void copy_hooks(const Module& from);
  // Empties a copy of this module, lets `reset` register everything anew, and copies the values.
  void make_anew(Module& copy, void (*reset)(Module& copy),
                 const std::optional<Device>& device) const;
  // Errors: Error, for `other` cannot be copied into this module, which is of another class.
  [[noreturn]] void fail_other_class(const Module& other) const;
  // The values in memory of their own, on `device` where one is given.
  static Tensor copied(const Tensor& x, const std::optional<Device>& device) {
    return device ? x.to(*device, x.scalar_type(), /*non_blocking=*/false, /*copy=*/true)
                  : x.clone();
  }
  // Errors: ValueError for an undefined tensor, which is an argument of forward.
  void check_defined(const Tensor& tensor, const char* argument) const;

  // Tensors stand behind pointers so that references to them survive further registrations.
  using TensorDict = OrderedDict<std::string, std::shared_ptr<Tensor>>;
  TensorDict parameters_{"Parameter"}, buffers_{"Buffer"};
  std::map<size_t, std::function<Tensor(Module&, const Tensor&)>> forward_pre_hooks_;
  std::map<size_t, std::function<Tensor(Module&, const Tensor&, const Tensor&)>> forward_hooks_;

 private:
  friend class AnyModule;
  // Makes this module a clone of `other`.
  static void copy_values(const TensorDict& from, const TensorDict& to,
                          const std::optional<Device>& device);
  virtual void clone_(const Module& other, const std::optional<Device>& device);
  void add_child(std::string name, std::shared_ptr<Module> module);
  void replace_child(const std::string& name, std::shared_ptr<Module> module);
  std::shared_ptr<Module> shared_from_this_checked() const;
  [[noreturn]] void fail_hooks() const;
  // Lets an error of this module's forward() say where it was: "in 3.fc2 (Linear) of Net".
  void add_path_to(Error& error) const;
  Tensor before_forward(Tensor input);
  Tensor after_forward(const Tensor& input, Tensor output);
  template <class M, class First, class... Args>
  static auto call_with_hooks(M& module, First&& first, Args&&... args);
  template <class M>
  static auto call_with_hooks(M& module) -> decltype(module.forward()) {
    static_cast<Module&>(module).fail_hooks();
  }
  template <class F>
  void visit(const std::string& prefix, bool recurse, F&& f) const;
  template <class F>
  void each(TensorDict Module::*tensors, bool recurse, F&& f) const;
  Tensors listed(TensorDict Module::*tensors, bool recurse) const;
  OrderedDict<std::string, Tensor> named(TensorDict Module::*tensors, bool recurse) const;
  template <class Convert>
  void apply_to_tensors(const Convert& convert);

  std::string name_;
  bool training_ = true;
  OrderedDict<std::string, std::shared_ptr<Module>> children_{"Submodule"};
  // A number is given only once, so that an old one removes no other hook.
  size_t next_forward_pre_hook_ = 0, next_forward_hook_ = 0;
};

template <class M, class First, class... Args>
auto Module::call_with_hooks(M& module, First&& first, Args&&... args) {
  using Result = decltype(module.forward(std::forward<First>(first), std::forward<Args>(args)...));
  if constexpr (!std::is_convertible_v<First, Tensor>) {
    static_cast<Module&>(module).fail_hooks();
    return module.forward(std::forward<First>(first), std::forward<Args>(args)...);
  } else {
    Module& base = module;  // M may have functions of the same names
    const Tensor input = base.before_forward(std::forward<First>(first));
    if constexpr (std::is_same_v<Result, Tensor>) {
      return base.after_forward(input, module.forward(input, std::forward<Args>(args)...));
    } else {
      if (!base.forward_hooks_.empty()) base.fail_hooks();
      return module.forward(input, std::forward<Args>(args)...);
    }
  }
}

std::ostream& operator<<(std::ostream& stream, const Module& module);

namespace detail {
// Not something that holds a module already.
template <class Contained, class Arg>
concept Argument = !std::is_base_of_v<ModuleHolder<Contained>, std::remove_cvref_t<Arg>> &&
                   !std::is_convertible_v<Arg, std::shared_ptr<Contained>>;
template <class Contained, class... Args>
concept Arguments = sizeof...(Args) > 1 || (Argument<Contained, Args> && ...);
template <class Contained, class... Args>
concept Constructs = Arguments<Contained, Args...> && std::is_constructible_v<Contained, Args...>;

[[noreturn]] void fail_empty_holder(const std::type_info& contained);
}  // namespace detail

// A module as a value: a shared pointer that constructs what it points to, as in libtorch. A member
// of another module starts empty, and is assigned in the constructor:
//
//   struct NetImpl : nn::Module {
//     NetImpl() { fc = register_module("fc", nn::Linear(3, 1)); }
//     Tensor forward(const Tensor& x) { return fc(x); }
//     nn::Linear fc{nullptr};
//   };
template <class Contained>
class ModuleHolder {
 public:
  using ContainedType = Contained;

  ModuleHolder() requires std::is_default_constructible_v<Contained>
      : module_(std::make_shared<Contained>()) {}
  ModuleHolder() = delete;         // write {nullptr} for an empty holder, or give arguments
  ModuleHolder(std::nullptr_t) {}  // NOLINT: implicit; an empty holder
  template <class... Args>
  requires detail::Constructs<Contained, Args...>
  explicit ModuleHolder(Args&&... args)
      : module_(std::make_shared<Contained>(std::forward<Args>(args)...)) {}
  // Takes wrong arguments, for which compilers would list all the other constructors.
  template <class... Args>
  requires detail::Arguments<Contained, Args...>
  explicit ModuleHolder(Args&&...) = delete;  // name them: Linear(LinearOptions(3, 2).bias(false))
  ModuleHolder(std::shared_ptr<Contained> module) : module_(std::move(module)) {}  // NOLINT

  explicit operator bool() const { return module_ != nullptr; }
  bool is_empty() const { return module_ == nullptr; }
  Contained* operator->() const { return get(); }
  Contained& operator*() const { return *get(); }
  std::shared_ptr<Contained> ptr() const { return std::static_pointer_cast<Contained>(module_); }
  // Errors: Error where the holder is empty.
  Contained* get() const {
    if (module_ == nullptr) [[unlikely]]
      detail::fail_empty_holder(typeid(Contained));
    return static_cast<Contained*>(module_.get());
  }
  template <class... Args>
  auto operator()(Args&&... args) const {
    return Module::call(*get(), std::forward<Args>(args)...);
  }
  // An element of a container: sequential[0].
  template <class Key>
  requires requires(Contained& container, Key&& key) { container[std::forward<Key>(key)]; }
  decltype(auto) operator[](Key&& key) const { return (*get())[std::forward<Key>(key)]; }

 private:
  std::shared_ptr<Module> module_;  // not of Contained: a type for each layer is long to compile
};

template <class T>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<T>& holder) {
  return stream << static_cast<const Module&>(*holder);
}

}  // namespace nn
}  // namespace gradus

// Stands after `struct NameImpl : Module` and declares its holder `Name`, as libtorch's
// TORCH_MODULE. A member of another module is written `Name name{nullptr}`, and assigned by
// register_module.
#define GRADUS_MODULE(Name)                                     \
  class Name : public ::gradus::nn::ModuleHolder<Name##Impl> {  \
   public:                                                      \
    using ::gradus::nn::ModuleHolder<Name##Impl>::ModuleHolder; \
    using Impl [[maybe_unused]] = Name##Impl;                   \
  }

// Stands in a module whose forward() has default arguments, and gives their places and values:
//   GRADUS_FORWARD_HAS_DEFAULT_ARGS({1, nn::AnyValue(2)}, {2, nn::AnyValue(3.0)})
#define GRADUS_FORWARD_HAS_DEFAULT_ARGS(...)                                                       \
  std::vector<std::pair<unsigned, ::gradus::nn::AnyValue>> forward_default_args() const override { \
    return {__VA_ARGS__};                                                                          \
  }
