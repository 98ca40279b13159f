// Sequential: modules in a row, each fed with what the one before returned.
#pragma once

#include <functional>

#include "gradus/nn/cloneable.h"

namespace gradus::nn {

// Its forward takes and returns one Tensor.
template <class T>
concept Chainable = std::is_base_of_v<Module, T> && requires(T& module, const Tensor& x) {
  { module.forward(x) } -> std::convertible_to<Tensor>;
};

// A Chainable module, whatever its class.
class AnyModule {
 public:
  template <Chainable T>
  AnyModule(std::shared_ptr<T> module)  // NOLINT: implicit
      : module_(module),
        forward_([m = module.get()](const Tensor& x) { return m->forward(x); }),
        with_([](const std::shared_ptr<Module>& m) {
          const auto same = std::dynamic_pointer_cast<T>(m);
          check<Error>(same != nullptr, "clone() of ", m->name(), " returned another class");
          return AnyModule(same);
        }) {}
  template <Chainable T>
  AnyModule(const ModuleHolder<T>& holder) : AnyModule(holder.ptr()) {}  // NOLINT: implicit
  template <class T>
  requires Chainable<std::remove_cvref_t<T>> AnyModule(
      T&& module)  // NOLINT: implicit; a module by value is moved into a shared one
      : AnyModule(std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(module))) {}

  Tensor forward(const Tensor& x) const { return forward_(x); }
  const std::shared_ptr<Module>& ptr() const { return module_; }
  // Errors: as Module::clone.
  AnyModule clone(const std::optional<Device>& device = std::nullopt) const {
    return with_(module_->clone(device));
  }

 private:
  std::shared_ptr<Module> module_;
  std::function<Tensor(const Tensor&)> forward_;
  AnyModule (*with_)(const std::shared_ptr<Module>&);  // the same of another module of the class
};

struct SequentialImpl : Cloneable<SequentialImpl> {
  SequentialImpl() : Cloneable("Sequential") {}
  template <class... Modules>
  requires(sizeof...(Modules) > 0 && (std::is_constructible_v<AnyModule, Modules> &&
                                      ...)) explicit SequentialImpl(Modules&&... modules)
      : SequentialImpl() {
    (push_back(AnyModule(std::forward<Modules>(modules))), ...);
  }
  // Modules by name: Sequential({{"fc", Linear(3, 4)}, {"act", ReLU()}}).
  explicit SequentialImpl(std::initializer_list<std::pair<std::string, AnyModule>> modules)
      : SequentialImpl() {
    for (const auto& [key, module] : modules) push_back(key, module);
  }

  // The modules are given, and not made by it.
  void reset() override {}
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<SequentialImpl>();
    copy->train(is_training());
    const std::vector<std::string> names = named_children().keys();
    for (size_t i = 0; i < size(); ++i) copy->push_back(names[i], modules_[i].clone(device));
    return copy;
  }

  void pretty_print(std::ostream& stream) const override {
    print_tree(stream, "gradus::nn::Sequential");
  }

  void push_back(AnyModule module) {
    push_back(std::to_string(modules_.size()), std::move(module));
  }
  void push_back(std::string key, AnyModule module) {
    register_module(std::move(key), module.ptr());
    modules_.push_back(std::move(module));
  }
  // Errors: Error where there is no module.
  Tensor forward(Tensor x) {
    check<Error>(!modules_.empty(), "Sequential: it has no modules to go forward through");
    for (const AnyModule& module : modules_) x = module.forward(x);
    return x;
  }
  size_t size() const { return modules_.size(); }
  bool is_empty() const { return modules_.empty(); }
  // Errors: IndexError out of range; TypeError where the module is of another class.
  const std::shared_ptr<Module>& ptr(size_t index) const {
    check<IndexError>(index < size(), "Sequential: index ", index, " is out of range; it has ",
                      size(), " modules");
    return modules_[index].ptr();
  }
  template <class T>
  T& at(size_t index) const {
    auto* module = dynamic_cast<T*>(ptr(index).get());
    check<TypeError>(module != nullptr, "Sequential: module ", index, " is of another class");
    return *module;
  }
  const std::shared_ptr<Module>& operator[](size_t index) const { return ptr(index); }

 private:
  std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  Sequential() : ModuleHolder(std::make_shared<SequentialImpl>()) {}
  Sequential(std::initializer_list<std::pair<std::string, AnyModule>> modules)
      : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}
};

}  // namespace gradus::nn
