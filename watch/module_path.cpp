// Where a module stands in another one.
#include "gradus/watch/module_path.h"

namespace gradus::watch {

std::string path_below(const nn::Module& holder, const nn::Module& module) {
  for (const auto& child : holder.named_children())
    if (child.value().get() == &module) return child.key();
  for (const auto& child : holder.named_children()) {
    const std::string below = path_below(*child.value(), module);
    if (!below.empty()) return child.key().empty() ? below : child.key() + '.' + below;
  }
  return "";
}

}  // namespace gradus::watch
