// Tests of modules, made from rows: tests/nn/rows/FAMILY.def lists modules with their options.
//
//   MODULE(linear_without_bias, "nn.Linear(3, 2, bias=False)", "randn(4, 3)",
//          nn::Linear(nn::LinearOptions(3, 2).bias(false)))
//   CALL(lstm_with_state, "nn.LSTM(3, 2)", "randn(4, 1, 3), randn(1, 1, 2), randn(1, 1, 2)",
//        "m(x[0], (x[1], x[2]))", nn::LSTM(3, 2), m(x[0], std::make_tuple(x[1], x[2])))
//
// Columns: name, PyTorch's expression, the inputs that PyTorch draws, the expression here. CALL
// adds how the module m is called with the inputs x, there and here; MODULE gives it the inputs in
// order. tests/conformance/golden/rows.py writes rows/FAMILY.inc: parameters, inputs, results,
// gradients, what the call makes of the buffers, and what 100 steps make of the parameters, in
// float64.
//
// Each row is a test, ModuleRows.FAMILY_NAME: values, gradients and a training of 100 steps against
// PyTorch's; the first and second derivative by the inputs against finite differences; a clone
// against its original; float32 on CUDA against the CPU; an undefined input is refused.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gradus/gradus.h"

namespace gradus::test {

struct ModuleRow {
  const char* name;
  std::function<std::shared_ptr<nn::Module>()> make;
  std::function<Tensors(nn::Module&, const Tensors&)> call;
};

// Registers a test for each row.
struct ModuleRows {
  ModuleRows(const char* family, std::vector<ModuleRow> rows, const char* golden);
};

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

// m(x[0], x[1], ...), with as many inputs as there are.
template <class M>
auto call_with_all(M& m, const Tensors& x) {
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
Holder in_eval(Holder module) {
  module->eval();
  return module;
}

template <class Make, class Call>
ModuleRow module_row(const char* name, Make make, Call call) {
  using Holder = decltype(make());
  using Impl = typename Holder::ContainedType;
  return {name, [make] { return std::shared_ptr<nn::Module>(make().ptr()); },
          [call](nn::Module& module, const Tensors& x) {
            Holder m(std::dynamic_pointer_cast<Impl>(module.shared_from_this()));
            Tensors out;
            collect(out, call(m, x));
            return out;
          }};
}

#define MODULE(name, there, inputs, ...) \
  ::gradus::test::module_row(            \
      #name, [] { return __VA_ARGS__; }, \
      [](auto& m, const Tensors& x) { return call_with_all(m, x); }),
#define CALL(name, there, inputs, call_there, module, ...) \
  ::gradus::test::module_row(                              \
      #name, [] { return module; }, []([[maybe_unused]] auto& m, const Tensors& x) { return __VA_ARGS__; }),

}  // namespace gradus::test
