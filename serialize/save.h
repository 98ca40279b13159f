// save and load, as in libtorch, for modules, optimizers, tensors and vectors of tensors:
//
//   gradus::save(model, "model.safetensors");
//   gradus::load(model, "model.safetensors");
//
// The arguments after the value are those of OutputArchive::save_to and InputArchive::load_from. A
// module keeps its dtypes and devices; values of other shapes or dtypes are an error. requires_grad
// is not saved.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gradus/nn/module.h"
#include "gradus/optim/optimizer.h"
#include "gradus/serialize/archive.h"

namespace gradus {

namespace serialize {

inline OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}
inline InputArchive& operator>>(InputArchive& archive, Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}
// Errors: Error for a null pointer.
OutputArchive& operator<<(OutputArchive& archive, const std::shared_ptr<nn::Module>& module);
// No tensor of the module is changed after an error.
InputArchive& operator>>(InputArchive& archive, const std::shared_ptr<nn::Module>& module);
template <class M>
OutputArchive& operator<<(OutputArchive& archive, const nn::ModuleHolder<M>& holder) {
  return archive << std::shared_ptr<nn::Module>(holder.ptr());
}
template <class M>
InputArchive& operator>>(InputArchive& archive, nn::ModuleHolder<M>& holder) {
  return archive >> std::shared_ptr<nn::Module>(holder.ptr());
}
OutputArchive& operator<<(OutputArchive& archive, const optim::Optimizer& optimizer);
InputArchive& operator>>(InputArchive& archive, optim::Optimizer& optimizer);

}  // namespace serialize

// Writes a module, an optimizer or tensors to a file or a stream.
template <class Value, class... To>
void save(const Value& value, To&&... to) {
  serialize::OutputArchive archive("save");
  archive << value;
  archive.save_to(std::forward<To>(to)...);
}
template <class... To>
void save(const Tensors& tensors, To&&... to) {
  serialize::OutputArchive archive("save");
  for (size_t i = 0; i < tensors.size(); ++i) archive.write(std::to_string(i), tensors[i]);
  archive.save_to(std::forward<To>(to)...);
}

// Reads the value that `save` wrote.
template <class Value, class... From>
void load(Value& value, From&&... from) {
  serialize::InputArchive archive("load");
  archive.load_from(std::forward<From>(from)...);
  archive >> value;
}
// Tensors are appended to the vector, as in libtorch.
template <class... From>
void load(Tensors& tensors, From&&... from) {
  serialize::InputArchive archive("load");
  archive.load_from(std::forward<From>(from)...);
  Tensor value;
  for (size_t i = 0; archive.try_read(std::to_string(i), value); ++i)
    tensors.push_back(std::exchange(value, {}));
}

}  // namespace gradus
