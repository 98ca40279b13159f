// save and load of modules and optimizers.
#include "gradus/serialize/save.h"

#include <algorithm>
#include <typeinfo>

#include "gradus/autograd/engine/node.h"

namespace gradus {

namespace nn {

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& item : named_parameters(false)) archive.write(item.key(), item.value());
  for (const auto& item : named_buffers(false)) archive.write(item.key(), item.value(), true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive nested;
    child.value()->save(nested);
    archive.write(child.key(), nested);
  }
}

void Module::load(serialize::InputArchive& archive) {
  archive.load_all(name(), [&] {
    for (const auto& item : named_parameters(false)) archive.read_into(item.key(), item.value());
    for (const auto& item : named_buffers(false)) archive.read_into(item.key(), item.value());
    for (const auto& child : children_) {
      if (!child.value()->is_serializable()) continue;
      serialize::InputArchive nested = archive.nested(child.key());
      child.value()->load(nested);
    }
  });
}

}  // namespace nn

namespace optim {

void Optimizer::save(serialize::OutputArchive& archive) const {
  archive.write("class", readable_name(typeid(*this)));
  for (const auto& item : state_dict()) archive.write(item.key(), item.value());
}

void Optimizer::load(serialize::InputArchive& archive) {
  std::string kind, held;
  const std::string own = readable_name(typeid(*this));
  if (!archive.try_read("class", kind)) {
    std::string format;
    check(!archive.try_read("format", format) || format != serialize::kCheckpointFormat,
          "load: ", archive.source(), " is a checkpoint and not the state of a ", own,
          "; read it by serialize::load_checkpoint");
    constexpr size_t kMostKeys = 10;
    const auto keys = archive.keys();
    for (size_t i = 0; i < std::min(keys.size(), kMostKeys); ++i)
      held += ' ' + serialize::printable(keys[i]);
    if (keys.size() > kMostKeys) held += " ...";
    fail("load: ", archive.source(), " holds no state of an optimizer, but",
         held.empty() ? " nothing" : held, "; give a file that was saved from a ", own);
  }
  check(kind == own, "load: ", archive.source(), " holds the state of a ",
        serialize::printable(kind), ", and this is a ", own,
        "; load it into one of the same class");
  const serialize::NamedTensors values = archive.tensors();
  const std::string wrong = misfits(values);
  check(wrong.empty(), "load: ", archive.source(), " does not fit the ", own,
        "; nothing was loaded; give a file that was saved from one like it",
        serialize::printable_lines(wrong));
  load_state_dict(values);
}

}  // namespace optim

namespace serialize {

OutputArchive& operator<<(OutputArchive& archive, const std::shared_ptr<nn::Module>& module) {
  check<Error>(module != nullptr, "save: the module is empty; assign it one first");
  module->save(archive);
  return archive;
}

InputArchive& operator>>(InputArchive& archive, const std::shared_ptr<nn::Module>& module) {
  check<Error>(module != nullptr, "load: the module is empty; assign it one first");
  archive.load_all(module->name(), [&] { module->load(archive); });
  return archive;
}

OutputArchive& operator<<(OutputArchive& archive, const optim::Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}

InputArchive& operator>>(InputArchive& archive, optim::Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

}  // namespace serialize
}  // namespace gradus
