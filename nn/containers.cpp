// ModuleList and ModuleDict: what they register, copies, text and errors.
#include "gradus/nn/containers.h"

#include "gradus/autograd/engine/node.h"

namespace gradus::nn {

void detail::fail_module_class(const Module& module, const std::type_info& asked) {
  fail<TypeError>("at: Unable to cast module ", module.name(), " to ", readable_name(asked),
                  "; ask for its own class");
}

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>();
  copy->train(is_training());
  copy->copy_hooks(*this);
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  return copy;
}

void ModuleListImpl::pretty_print(std::ostream& stream) const {
  print_tree(stream, "gradus::nn::ModuleList");
}

std::shared_ptr<Module> ModuleListImpl::ptr(size_t index) const {
  check<IndexError>(index < size(), "ModuleList: Index out of range: ", index, " of ", size(),
                    " modules; count from 0");
  return modules_[index];
}

void ModuleListImpl::insert_module(size_t index, std::shared_ptr<Module> module) {
  check<IndexError>(index <= size(), "ModuleList: insert: Index out of range: ", index, " of ",
                    size(), " modules; count from 0");
  register_module(std::to_string(size()), module);
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  for (size_t i = index; i < size(); ++i) replace_module(std::to_string(i), modules_[i]);
}

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>();
  copy->train(is_training());
  copy->copy_hooks(*this);
  for (const auto& item : *this) copy->insert(item.key(), item.value()->clone(device));
  return copy;
}

void ModuleDictImpl::pretty_print(std::ostream& stream) const {
  print_tree(stream, "gradus::nn::ModuleDict");
}

void ModuleDictImpl::insert(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key))
    replace_module(key, std::move(module));
  else
    register_module(key, std::move(module));
}

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> out = named_children()[key];
  unregister_module(key);
  return out;
}

void ModuleDictImpl::clear() {
  for (const std::string& key : keys()) unregister_module(key);
}

}  // namespace gradus::nn
