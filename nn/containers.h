// ModuleList and ModuleDict: modules by place and by name, without a forward() of their own.
#pragma once

#include "gradus/nn/cloneable.h"

namespace gradus::nn {

namespace detail {
// A module by value, by a shared_ptr or by a holder, as a shared_ptr.
template <class T>
std::shared_ptr<Module> shared_module(std::shared_ptr<T> module) {
  return module;
}
template <class T>
std::shared_ptr<Module> shared_module(const ModuleHolder<T>& holder) {
  return holder.ptr();
}
template <class T>
requires std::is_base_of_v<Module, std::remove_cvref_t<T>> std::shared_ptr<Module> shared_module(
    T&& module) {
  return std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(module));
}
template <class T>
concept ModuleLike = requires(T&& module) {
  detail::shared_module(std::forward<T>(module));
};

[[noreturn]] void fail_module_class(const Module& module, const std::type_info& asked);
// Errors: TypeError where the module is of another class.
template <class T>
T& module_as(const std::shared_ptr<Module>& module) {
  T* found = dynamic_cast<T*>(module.get());
  if (found == nullptr) fail_module_class(*module, typeid(T));
  return *found;
}
}  // namespace detail

// Named "0", "1", ...
struct ModuleListImpl : Cloneable<ModuleListImpl> {
  ModuleListImpl() : Cloneable("ModuleList") {}
  template <class... Modules>
  requires(sizeof...(Modules) > 0 &&
           (detail::ModuleLike<Modules> && ...)) explicit ModuleListImpl(Modules&&... modules)
      : ModuleListImpl() {
    (push_back(std::forward<Modules>(modules)), ...);
  }

  // The modules are given, and not made by it.
  void reset() override {}
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void pretty_print(std::ostream& stream) const override;

  template <detail::ModuleLike M>
  void push_back(M&& module) {
    insert(size(), std::forward<M>(module));
  }
  // Inserts before the module at this place. Errors: IndexError beyond the end.
  template <detail::ModuleLike M>
  void insert(size_t index, M&& module) {
    insert_module(index, detail::shared_module(std::forward<M>(module)));
  }
  // The modules of another list, or of a container of shared_ptrs.
  template <class Container>
  void extend(const Container& container) {
    const std::vector items(container.begin(), container.end());  // it may be this one
    for (const auto& module : items) push_back(module);
  }

  auto begin() { return modules_.begin(); }
  auto begin() const { return modules_.begin(); }
  auto end() { return modules_.end(); }
  auto end() const { return modules_.end(); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }
  // Errors: IndexError out of range; TypeError where the module is of another class.
  std::shared_ptr<Module> ptr(size_t index) const;
  template <class T>
  std::shared_ptr<detail::Contained<T>> ptr(size_t index) const {
    return {ptr(index), &at<detail::Contained<T>>(index)};
  }
  template <class T>
  T& at(size_t index) const {
    return detail::module_as<T>(ptr(index));
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }

 private:
  void insert_module(size_t index, std::shared_ptr<Module> module);

  std::vector<std::shared_ptr<Module>> modules_;
};
GRADUS_MODULE(ModuleList);

// Keeps the order in which the names were added.
struct ModuleDictImpl : Cloneable<ModuleDictImpl> {
  using Dict = OrderedDict<std::string, std::shared_ptr<Module>>;

  ModuleDictImpl() : Cloneable("ModuleDict") {}
  explicit ModuleDictImpl(
      const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules)
      : ModuleDictImpl() {
    update(modules);
  }
  explicit ModuleDictImpl(const Dict& modules) : ModuleDictImpl() { update(modules); }

  // The modules are given, and not made by it.
  void reset() override {}
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void pretty_print(std::ostream& stream) const override;

  // Replaces the module of this name, if there is one.
  void insert(const std::string& key, std::shared_ptr<Module> module);
  // Inserts all modules of a list of pairs, an OrderedDict, a map or another ModuleDict.
  void update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
    for (const auto& [key, module] : modules) insert(key, module);
  }
  template <class Container>
  void update(const Container& container) {
    if constexpr (requires { container.begin()->key(); })
      for (const auto& item : container) insert(item.key(), item.value());
    else
      for (const auto& [key, module] : container) insert(key, module);
  }
  // Takes the module out. Errors: ValueError where there is none of this name.
  std::shared_ptr<Module> pop(const std::string& key);
  void clear();

  bool contains(const std::string& key) const noexcept { return named_children().contains(key); }
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> items() const {
    return named_children().pairs();
  }
  std::vector<std::string> keys() const { return named_children().keys(); }
  std::vector<std::shared_ptr<Module>> values() const { return children(); }
  auto begin() const { return named_children().begin(); }
  auto end() const { return named_children().end(); }
  size_t size() const noexcept { return named_children().size(); }
  bool empty() const noexcept { return named_children().is_empty(); }
  // Errors: ValueError where there is none of this name; TypeError where it is of another class.
  std::shared_ptr<Module> operator[](const std::string& key) const { return named_children()[key]; }
  template <class T>
  T& at(const std::string& key) const {
    return detail::module_as<T>(named_children()[key]);
  }
};
GRADUS_MODULE(ModuleDict);

}  // namespace gradus::nn
