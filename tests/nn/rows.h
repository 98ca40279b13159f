// Tests of modules, made from rows: tests/nn/rows/FAMILY.def lists modules with their options.
//
//   MODULE(linear_without_bias, "nn.Linear(3, 2, bias=False)", "randn(4, 3)",
//          nn::Linear(nn::LinearOptions(3, 2).bias(false)))
//   CALL(lstm_with_state, "nn.LSTM(3, 2)", "randn(4, 1, 3), randn(1, 1, 2), randn(1, 1, 2)",
//        "m(x[0], (x[1], x[2]))", nn::LSTM(3, 2), m(x[0], std::make_tuple(x[1], x[2])))
//
// Columns: name, PyTorch's expression, the inputs that PyTorch draws, the expression here. CALL
// adds how the module m is called with the inputs x, there and here; MODULE gives it the inputs in
// order. tests/conformance/golden/rows.py writes rows/FAMILY.txt: parameters, inputs, results,
// gradients, what the call makes of the buffers, and what 100 steps make of the parameters, in
// float64.
//
// Each row is a test, ModuleRows.FAMILY_NAME: values, gradients and a training of 100 steps against
// PyTorch's; the first and second derivative by the inputs against finite differences; a clone
// against its original; float32 on CUDA against the CPU, and results that change in place there; an
// undefined input is refused.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gradus/gradus.h"

namespace gradus::test {

struct ModuleRow {
  const char* name;
  std::shared_ptr<nn::Module> (*make)();
  Tensors (*call)(nn::Module&, const Tensors&);
};
struct ModuleFamily {
  const char* name;
  std::vector<ModuleRow> rows;
};
const std::vector<ModuleFamily>& module_families();

// The tensors of a result, in order.
inline void collect(Tensors& out, const Tensor& x) { out.push_back(x); }
inline void collect(Tensors& out, const Tensors& xs) {
  out.insert(out.end(), xs.begin(), xs.end());
}
template <class... Parts>
void collect(Tensors& out, const std::tuple<Parts...>& parts) {
  std::apply([&](const auto&... part) { (collect(out, part), ...); }, parts);
}
template <class A, class B>
void collect(Tensors& out, const std::pair<A, B>& parts) {
  collect(out, parts.first), collect(out, parts.second);
}

template <class Holder>
Holder held(nn::Module& module) {
  return std::dynamic_pointer_cast<typename Holder::ContainedType>(module.shared_from_this());
}

// m(x[0], x[1], ...), with as many inputs as there are.
template <class Holder>
Tensors call_with_all(nn::Module& module, const Tensors& x) {
  const auto m = held<Holder>(module);
  Tensors out;
  if constexpr (requires { m->forward(x[0]); })
    if (x.size() == 1) return collect(out, m->forward(x[0])), out;
  if constexpr (requires { m->forward(x[0], x[1]); })
    if (x.size() == 2) return collect(out, m->forward(x[0], x[1])), out;
  if constexpr (requires { m->forward(x[0], x[1], x[2]); })
    if (x.size() == 3) return collect(out, m->forward(x[0], x[1], x[2])), out;
  if constexpr (requires { m->forward(x[0], x[1], x[2], x[3]); })
    if (x.size() == 4) return collect(out, m->forward(x[0], x[1], x[2], x[3])), out;
  fail<Error>("this module does not take ", x.size(), " tensors");
}

template <class Holder>
Holder in_eval(Holder m) {
  m->eval();
  return m;
}

template <class Holder>
std::shared_ptr<nn::Module> module_of(const Holder& m) {
  return m.ptr();
}

// A row is two functions and nothing else: there are hundreds.
#define MODULE(name, there, inputs, ...) \
  {#name, [] { return module_of(__VA_ARGS__); }, call_with_all<decltype(__VA_ARGS__)>},
#define CALL(name, there, inputs, call_there, module, ...)     \
  {#name, [] { return module_of(module); },                    \
   [](nn::Module& itself, const Tensors& x) {                  \
     [[maybe_unused]] auto m = held<decltype(module)>(itself); \
     Tensors out;                                              \
     collect(out, __VA_ARGS__);                                \
     return out;                                               \
   }},

}  // namespace gradus::test
