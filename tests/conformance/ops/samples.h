// The samples that every public operation is tested with: tests/conformance/ops/samples/*.def, one
// line each.
//
//   SAMPLE(name, "inputs", arguments)         gradus::name(arguments)
//   SAMPLE_PY(name, "inputs", "python", ...)  where PyTorch's arguments read otherwise
//   REFUSED(name, "inputs", "text", ...)      an Error whose message has the text; PyTorch refuses
//                                             it too
//   MADE, NOT_MADE                            SAMPLE_PY and REFUSED for functions that make
//   tensors,
//                                             which have no other forms
//   RANDOM(name, "inputs", "python", ...)     the shape and the dtype alone are PyTorch's
//
// The inputs are Python expressions (tests/conformance/ops/make.py has their vocabulary), separated
// by semicolons, which the arguments call a, b, c and d; `const` before one: it gets no gradient.
// make.py evaluates the same line in PyTorch and writes what came out to samples/*.txt.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "gradus/gradus.h"
#include "tests/conformance/recorded.h"

namespace gradus::test {

using Inputs = std::array<Tensor, 4>;
// What arguments call it in Python, too.
inline constexpr double inf = INFINITY;

struct Sample {
  const char *name, *inputs, *arguments;
  const char* refused;  // part of the message, or null
  Tensors (*call)(Inputs& in);
  // Nothing where the operation has no such form.
  std::optional<Tensor> (*in_place)(Inputs& in);
  bool (*into)(Tensors& outs, Inputs& in);
};

// The samples of one file.
struct Family {
  const char* name;
  std::vector<Sample> samples;
};
const std::vector<Family>& families();
// PyTorch's answers to them.
inline std::string answers(const Family& family) {
  return recorded("ops/samples/" + std::string(family.name) + ".txt");
}

// Whatever an operation returns, as a list.
inline Tensors results(const Tensor& x) { return {x}; }
inline Tensors results(const Tensors& x) { return x; }
inline Tensors results(const Scalar& x) { return {full({}, x)}; }
template <class... T>
Tensors results(const std::tuple<T...>& x) {
  return std::apply([](const auto&... each) { return Tensors{each...}; }, x);
}

template <class F>
auto with_names(Inputs& in, F f) {
  return f.template operator()<Tensors>(in[0], in[1], in[2], in[3]);
}

// The forms that a name has are found by asking the compiler, which needs arguments of a type that
// it does not know yet: hence the parameters of unnamed type, and TensorList as one.
#define GRADUS_SAMPLE(name, inputs, refused, ...)                                                  \
  {#name,                                                                                          \
   inputs,                                                                                         \
   #__VA_ARGS__,                                                                                   \
   refused,                                                                                        \
   [](Inputs& in) {                                                                                \
     [[maybe_unused]] Tensor &a = in[0], &b = in[1], &c = in[2], &d = in[3];                       \
     return results(gradus::name(__VA_ARGS__));                                                    \
   },                                                                                              \
   [](Inputs& in) {                                                                                \
     return with_names(in,                                                                         \
                       []<class TensorList>([[maybe_unused]] auto& a, [[maybe_unused]] auto& b,    \
                                            [[maybe_unused]] auto& c, [[maybe_unused]] auto& d) {  \
                         std::optional<Tensor> out;                                                \
                         if constexpr (requires { name##_(__VA_ARGS__); })                         \
                           out = name##_(__VA_ARGS__);                                             \
                         return out;                                                               \
                       });                                                                         \
   },                                                                                              \
   []([[maybe_unused]] Tensors& outs, Inputs& in) {                                                \
     return with_names(in,                                                                         \
                       [&]<class TensorList>([[maybe_unused]] auto& a, [[maybe_unused]] auto& b,   \
                                             [[maybe_unused]] auto& c, [[maybe_unused]] auto& d) { \
                         if constexpr (requires { name##_out(a, __VA_ARGS__); })                   \
                           return name##_out(outs[0], __VA_ARGS__), true;                          \
                         else if constexpr (requires { name##_out(a, a, __VA_ARGS__); })           \
                           return name##_out(outs[0], outs[1], __VA_ARGS__), true;                 \
                         else                                                                      \
                           return false;                                                           \
                       });                                                                         \
   }},
#define SAMPLE(name, inputs, ...) GRADUS_SAMPLE(name, inputs, nullptr, __VA_ARGS__)
#define SAMPLE_PY(name, inputs, python, ...) GRADUS_SAMPLE(name, inputs, nullptr, __VA_ARGS__)
#define REFUSED(name, inputs, text, ...) GRADUS_SAMPLE(name, inputs, text, __VA_ARGS__)

#define GRADUS_MADE(name, inputs, refused, expression, ...) \
  {#name,                                                   \
   inputs,                                                  \
   #__VA_ARGS__,                                            \
   refused,                                                 \
   [](Inputs& in) {                                         \
     [[maybe_unused]] Tensor &a = in[0], &b = in[1];        \
     return results(expression);                            \
   },                                                       \
   [](Inputs&) { return std::optional<Tensor>(); },         \
   [](Tensors&, Inputs&) { return false; }},
#define MADE(name, inputs, python, ...) \
  GRADUS_MADE(name, inputs, nullptr, gradus::name(__VA_ARGS__), __VA_ARGS__)
#define RANDOM(name, inputs, python, ...) \
  GRADUS_MADE(name, inputs, nullptr, zeros_like(gradus::name(__VA_ARGS__)), __VA_ARGS__)
#define NOT_MADE(name, inputs, text, ...) \
  GRADUS_MADE(name, inputs, text, gradus::name(__VA_ARGS__), __VA_ARGS__)

}  // namespace gradus::test
