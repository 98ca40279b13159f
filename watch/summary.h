// summary: the layers of a model as a table, with the shapes of their outputs, parameters,
// multiply-adds and memory.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "gradus/nn/module.h"

namespace gradus::watch {

struct LayerSummary {
  std::string name;                  // "layers.0"; empty for the model itself
  std::string type;                  // "Linear"
  std::vector<int64_t> output_size;  // of the last call; empty where it was not seen
  int64_t parameters = 0;            // its own, without those of its submodules
  int64_t multiply_adds = 0;         // of all calls
  int64_t calls = 0;
};

// Printed as a table.
struct ModelSummary {
  std::vector<LayerSummary> layers;  // a module before those that it holds
  int64_t total_params = 0;          // each once, however many layers share it
  int64_t trainable_params = 0;
  int64_t total_mult_adds = 0;
  int64_t input_bytes = 0;
  int64_t param_bytes = 0;
  int64_t buffer_bytes = 0;
  int64_t output_bytes = 0;  // of all layers that hold no others

  std::string str() const;
};
std::ostream& operator<<(std::ostream& out, const ModelSummary& summary);

namespace detail {
ModelSummary summarize(nn::Module& model, const std::function<void()>& forward);

inline int64_t bytes_of(const Tensor& x) {
  return x.defined() ? static_cast<int64_t>(x.nbytes()) : 0;
}
template <class T>
int64_t bytes_of(const T&) {
  return 0;
}
}  // namespace detail

// Calls the model once with the inputs, in eval mode and without a graph. The mode of each module
// is as before afterwards. Forward hooks see the shapes: those of layers that are called through
// holders, as `fc(x)`, or by a Sequential. A layer whose forward() is called directly has none.
// Counted are the products of linear layers, convolutions, recurrent layers,
// attention and normalisations; what a module computes with functions (`matmul`) is not.
// Errors: those of the model's forward.
//
//   std::cout << watch::summary(model, gradus::rand({1, 1, 28, 28}));
template <std::derived_from<nn::Module> M, class... Inputs>
ModelSummary summary(M& model, const Inputs&... inputs) {
  ModelSummary out =
      detail::summarize(model, [&] { static_cast<void>(nn::Module::call(model, inputs...)); });
  out.input_bytes = (int64_t{0} + ... + detail::bytes_of(inputs));
  return out;
}
template <class M, class... Inputs>
ModelSummary summary(const nn::ModuleHolder<M>& model, const Inputs&... inputs) {
  return summary(*model, inputs...);
}
template <class M, class... Inputs>
ModelSummary summary(const std::shared_ptr<M>& model, const Inputs&... inputs) {
  return summary(*model, inputs...);
}

}  // namespace gradus::watch
