// The path of the module in which an error was raised, added to it on its way up.
#include "gradus/nn/named_class.h"

namespace gradus::nn {

namespace {

// The path that this thread has last added to an error. A module knows the names of those that it
// holds, not its own, so each module on the way up writes the path anew.
struct AddedPath {
  const Module* module = nullptr;  // the outermost so far; compared, and never read
  std::string path, type, text;
};
thread_local AddedPath added;

// The name of a module in one that holds it; empty where it does not.
std::string name_below(const Module& holder, const Module* module) {
  try {
    for (const auto& below : holder.named_modules("", /*include_self=*/false))
      if (below.value().get() == module) return below.key();
  } catch (const Error&) {  // nested too deeply: another error is on its way already
  }
  return "";
}

}  // namespace

void Module::add_path_to(Error& error) const {
  std::string message = error.msg();
  const bool has_path = !added.text.empty() && message.ends_with(added.text);
  if (has_path && added.module == this) return;
  const std::string name = has_path ? name_below(*this, added.module) : "";
  const std::string type = short_class_name(*this);
  if (name.empty()) {
    added = {this, "", type, "\nin " + type};
  } else {
    message.resize(message.size() - added.text.size());
    added.module = this;
    added.path = added.path.empty() ? name : name + '.' + added.path;
    added.text = "\nin " + added.path + " (" + added.type + ") of " + type;
  }
  error = Error(message + added.text);  // replaces the text, and keeps the type
}

}  // namespace gradus::nn
