// AnyModule: a module whatever its class, called with arguments whose types are checked at run
// time.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gradus/nn/module.h"

namespace gradus::nn {

// A forward() that is no template and not overloaded, so that its types are known.
template <class T>
concept HasForward = std::is_base_of_v<Module, T> && requires {
  &T::forward;
};
// Or one that takes and returns one Tensor, as that of Sequential can.
template <class T>
concept Chainable = std::is_base_of_v<Module, T> && requires(T& module, const Tensor& x) {
  { module.forward(x) } -> std::convertible_to<Tensor>;
};
template <class T>
concept HasForwardOrChainable = HasForward<T> || Chainable<T>;

namespace detail {

// A class of modules as AnyModule sees it.
struct AnyForward {
  // REQUIRES: as many values as parameters.
  AnyValue (*call)(Module& module, std::vector<AnyValue>& values);
  size_t parameters;
};

[[noreturn]] void fail_argument(size_t place, const std::type_info& expected,
                                const std::type_info& actual);

// The value as an argument of type A.
template <class A>
A&& argument(std::vector<AnyValue>& values, size_t place) {
  using T = std::remove_cvref_t<A>;
  T* value = values[place].try_get<T>();
  if (value == nullptr) fail_argument(place, typeid(T), values[place].type_info());
  return static_cast<A&&>(*value);
}

template <class T, class... A>
AnyValue call_any(Module& module, std::vector<AnyValue>& values) {
  return [&]<size_t... i>(std::index_sequence<i...>) {
    return AnyValue(Module::call(static_cast<T&>(module), argument<A>(values, i)...));
  }
  (std::index_sequence_for<A...>());
}

template <class T, class R, class C, class... A>
constexpr AnyForward any_forward(R (C::*)(A...)) {
  return {call_any<T, A...>, sizeof...(A)};
}
template <class T, class R, class C, class... A>
constexpr AnyForward any_forward(R (C::*)(A...) const) {
  return {call_any<T, A...>, sizeof...(A)};
}
template <class T>
constexpr AnyForward any_forward() {
  if constexpr (HasForward<T>)
    return any_forward<T>(&T::forward);
  else
    return {call_any<T, const Tensor&>, 1};
}
template <class T>
inline constexpr AnyForward any_forward_of = any_forward<T>();

}  // namespace detail

// Copies share the module.
class AnyModule {
 public:
  AnyModule() = default;
  template <HasForwardOrChainable T>
  explicit AnyModule(std::shared_ptr<T> module)
      : module_(std::move(module)), forward_(&detail::any_forward_of<T>) {}
  template <HasForwardOrChainable T>
  explicit AnyModule(const ModuleHolder<T>& holder) : AnyModule(holder.ptr()) {}
  // A module by value is moved into a shared one.
  template <class T>
  requires HasForwardOrChainable<std::remove_cvref_t<T>>
  explicit AnyModule(T&& module)
      : AnyModule(std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(module))) {}
  template <HasForwardOrChainable T>
  AnyModule& operator=(std::shared_ptr<T> module) {
    return *this = AnyModule(std::move(module));
  }

  // Returns the result of the module's forward(). The arguments have exactly the types of its
  // parameters; those that GRADUS_FORWARD_HAS_DEFAULT_ARGS names may be left out.
  // Errors: Error for another number of arguments, TypeError for one of another type.
  template <class... Args>
  AnyValue any_forward(Args&&... args) const {
    check_filled("forward");
    std::vector<AnyValue> values;
    values.reserve(sizeof...(args));
    (values.push_back(AnyValue(std::forward<Args>(args))), ...);
    complete(values);
    return forward_->call(*module_, values);
  }
  // Errors: also TypeError where it returns another type.
  template <class Result = Tensor, class... Args>
  Result forward(Args&&... args) const {
    return any_forward(std::forward<Args>(args)...).template get<Result>();
  }

  // A deep copy of the module. Errors: as Module::clone.
  AnyModule clone(const std::optional<Device>& device = std::nullopt) const;

  // The module as one of class T, or the holder T of it.
  // Errors, of these and of ptr(): Error where there is no module, TypeError where it is of another
  // class.
  template <class T>
  requires std::is_base_of_v<Module, T> T& get() const {
    check_filled("get");
    return *cast<T>();
  }
  template <class T>
  requires(!std::is_base_of_v<Module, T>) T get()
  const {
    check_filled("get");
    return T(std::shared_ptr<detail::Contained<T>>(module_, cast<detail::Contained<T>>()));
  }
  const std::shared_ptr<Module>& ptr() const { return check_filled("ptr"), module_; }
  template <class T>
  std::shared_ptr<detail::Contained<T>> ptr() const {
    check_filled("ptr");
    return {module_, cast<detail::Contained<T>>()};
  }
  const std::type_info& type_info() const;
  bool is_empty() const noexcept { return module_ == nullptr; }

 private:
  void check_filled(const char* method) const;
  // Checks the number of the values, and adds those of default arguments.
  void complete(std::vector<AnyValue>& values) const;
  [[noreturn]] void fail_cast(const std::type_info& asked) const;
  template <class T>
  T* cast() const {
    T* found = dynamic_cast<T*>(module_.get());
    if (found == nullptr) fail_cast(typeid(T));
    return found;
  }

  std::shared_ptr<Module> module_;
  const detail::AnyForward* forward_ = nullptr;
};

// A module with its name, for lists: Sequential({{"fc", Linear(3, 4)}, {"act", ReLU()}}).
class NamedAnyModule {
 public:
  template <class M>
  requires std::is_constructible_v<AnyModule, M> NamedAnyModule(std::string name, M&& module)
      : name_(std::move(name)), module_(std::forward<M>(module)) {}

  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace gradus::nn
