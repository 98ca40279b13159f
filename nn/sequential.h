// Sequential: modules in a row, each fed with what the one before returned.
#pragma once

#include "gradus/nn/any_module.h"
#include "gradus/nn/cloneable.h"

namespace gradus::nn {

struct SequentialImpl : Cloneable<SequentialImpl> {
  SequentialImpl() : Cloneable("Sequential") {}
  template <class... Modules>
  requires(sizeof...(Modules) > 0 && (std::is_constructible_v<AnyModule, Modules> &&
                                      ...)) explicit SequentialImpl(Modules&&... modules)
      : SequentialImpl() {
    (push_back(std::forward<Modules>(modules)), ...);
  }
  // Modules by name: Sequential({{"fc", Linear(3, 4)}, {"act", ReLU()}}).
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules) : SequentialImpl() {
    for (const NamedAnyModule& item : modules) push_back(item.name(), item.module());
  }
  explicit SequentialImpl(const OrderedDict<std::string, AnyModule>& modules) : SequentialImpl() {
    for (const auto& item : modules) push_back(item.key(), item.value());
  }

  // The modules are given, and not made by it.
  void reset() override {}
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void pretty_print(std::ostream& stream) const override;

  // A module, a holder of one, or an AnyModule. A module without a name gets its number.
  template <class M>
  requires std::is_constructible_v<AnyModule, M>
  void push_back(M&& module) { push_back(std::to_string(size()), std::forward<M>(module)); }
  template <class M>
  requires std::is_constructible_v<AnyModule, M>
  void push_back(std::string name, M&& module) {
    AnyModule any(std::forward<M>(module));
    register_module(std::move(name), any.ptr());
    modules_.push_back(std::move(any));
  }
  // The modules of another Sequential, or of a container.
  template <class Container>
  void extend(const Container& container) {
    const std::vector items(container.begin(), container.end());  // it may be this one
    for (const auto& module : items) push_back(module);
  }

  // The first module gets the arguments, whose types are exactly those of its forward(), each other
  // one what the module before it returned.
  // Errors: Error where there is no module; TypeError where types do not fit.
  template <class Result = Tensor, class... Args>
  Result forward(Args&&... args) {
    check<Error>(!modules_.empty(),
                 "Cannot call forward() on an empty Sequential; push_back() a module");
    constexpr bool kOne = sizeof...(Args) == 1;
    AnyValue value = [&] {
      if constexpr (kOne)
        return AnyValue(std::forward<Args>(args)...);
      else
        return modules_[0].any_forward(std::forward<Args>(args)...);
    }();
    for (size_t i = kOne ? 0 : 1; i < size();) i += feed(i, value);
    if (Result* result = value.try_get<Result>()) return std::move(*result);
    fail_result(value.type_info(), typeid(Result));
  }

  auto begin() { return modules_.begin(); }
  auto begin() const { return modules_.begin(); }
  auto end() { return modules_.end(); }
  auto end() const { return modules_.end(); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }
  // Errors: IndexError out of range; TypeError where the module is of another class.
  std::shared_ptr<Module> ptr(size_t index) const { return any(index).ptr(); }
  template <class T>
  std::shared_ptr<detail::Contained<T>> ptr(size_t index) const {
    return any(index).ptr<T>();
  }
  template <class T>
  T& at(size_t index) const {
    return any(index).get<T>();
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }

 private:
  const AnyModule& any(size_t index) const;
  // Replaces the value by what module i makes of it, or it and the next one where they run as one.
  // Returns how many modules these are.
  size_t feed(size_t i, AnyValue& value) const;
  [[noreturn]] static void fail_result(const std::type_info& actual, const std::type_info& asked);

  std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  Sequential() : ModuleHolder(std::make_shared<SequentialImpl>()) {}
  Sequential(std::initializer_list<NamedAnyModule> modules)
      : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}
};

}  // namespace gradus::nn
