// ModulePaths: a path is found once for each child of a holder.
#include "gradus/watch/guard/module_paths.h"

#include "gradus/nn/named_class.h"
#include "gradus/watch/module_path.h"

namespace gradus::guarding {

namespace {

constexpr size_t kMostChildren = 1 << 12;  // of one path, where modules come and go

std::shared_ptr<ModulePath> make_path(std::string names, const nn::Module& module) {
  auto out = std::make_shared<ModulePath>();
  const std::string type = nn::short_class_name(module);
  out->text = names.empty() ? type : names + " (" + type + ")";
  out->names = std::move(names);
  return out;
}

// Whether the class says itself what it is called, which may change.
bool names_itself(const nn::Module& module) {
  return dynamic_cast<const nn::NamedClass*>(&module) != nullptr;
}

}  // namespace

std::shared_ptr<ModulePath> ModulePaths::find(const nn::Module* holder, ModulePath* above,
                                              const nn::Module& module) {
  const std::type_info& type = typeid(module);
  if (!holder) {
    if (const auto known = first_.find(&type); known != first_.end()) return known->second;
    auto out = make_path("", module);
    if (!names_itself(module)) first_.emplace(&type, out);
    return out;
  }
  const auto& children = holder->named_children().items();
  if (const auto known = above->children.find(&module); known != above->children.end()) {
    const ModulePath::Child& child = known->second;
    if (child.place < children.size() && children[child.place].value().get() == &module &&
        children[child.place].key() == child.name && *child.type == type)
      return child.path;
    above->children.erase(known);
  }
  const std::string name = watch::path_below(*holder, module);
  if (name.empty()) return find(nullptr, nullptr, module);
  auto out = make_path(above->names.empty() ? name : above->names + '.' + name, module);
  if (above->children.size() == kMostChildren) above->children.clear();
  for (size_t i = 0; i < children.size(); ++i)
    if (children[i].value().get() == &module && !names_itself(module))
      above->children.emplace(&module, ModulePath::Child{i, children[i].key(), &type, out});
  return out;
}

}  // namespace gradus::guarding
