// vectorize: a function of numbers that runs over tensors, on the CPU and on GPUs, from one text
// (Numba's idea; docs/own-kernels.md).
//
//   const auto soft = vectorize(GRADUS_SCALAR((float x, float b) { return x * x / (x * x + b); }));
//   Tensor y = soft(x, 0.5);
#pragma once

#include <math.h>  // fabs(float) and its like in the global namespace, as in CUDA C++

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/cuda/rtc/argument.h"

// A function of numbers, written as a lambda without its []. Parameters have the C++ types of
// dtypes (float, int64_t, bool, ...). C++ and CUDA C++ both compile the body: no std::, but exp,
// fabs and the like; nothing from outside. GPUs compile its text, which is one line.
#define GRADUS_SCALAR(...) \
  ::gradus::detail::scalar_function([] __VA_ARGS__, #__VA_ARGS__, __FILE__, __LINE__)

namespace gradus {

namespace detail {

// A function of numbers: its text, its types, and a loop of it on the CPU.
struct ScalarFunction {
  // out[k] = f(in[0][k], in[1][k], ...) for k < n; steps in elements.
  using Row = void (*)(int64_t n, void* out, int64_t out_step, void* const* in,
                       const int64_t* steps);
  std::string text, file;
  int line;
  std::vector<ScalarType> parameters;
  ScalarType result;
  Row row;
};

template <class F, class Result, class... P, size_t... I>
void scalar_row(int64_t n, void* out, int64_t out_step, void* const* in, const int64_t* steps,
                std::index_sequence<I...>) {
  const F f{};
  for (int64_t k = 0; k < n; ++k)
    static_cast<Result*>(out)[k * out_step] = f(static_cast<const P*>(in[I])[k * steps[I]]...);
}

template <class F, class Result, class... P>
ScalarFunction scalar_function(Result (F::*)(P...) const, const char* text, const char* file,
                               int line) {
  return {text,
          file,
          line,
          {dtype_of<P>...},
          dtype_of<Result>,
          [](int64_t n, void* out, int64_t out_step, void* const* in, const int64_t* steps) {
            scalar_row<F, Result, P...>(n, out, out_step, in, steps,
                                        std::index_sequence_for<P...>{});
          }};
}
template <class F>
ScalarFunction scalar_function(F, const char* text, const char* file, int line) {
  static_assert(std::is_empty_v<F>, "a GRADUS_SCALAR captures nothing");
  return scalar_function(&F::operator(), text, file, line);
}

}  // namespace detail

// A function of numbers over tensors.
class Vectorized {
 public:
  explicit Vectorized(detail::ScalarFunction function);

  // Arguments are tensors of the parameters' dtypes, of any strides, that broadcast against each
  // other. Numbers are converted to the parameters' types. The result is contiguous, of the dtype
  // that the function returns, on the device of the tensors. Numbers alone give a result on the
  // CPU.
  // Errors: TypeError for another dtype or number of arguments. ValueError where tensors do not
  // broadcast or are on several devices. Error where a tensor requires grad, grad mode is on and
  // there is no gradient. CompileError on a GPU where CUDA C++ does not take the text.
  template <class... A>
  Tensor operator()(const A&... arguments) const {
    return call({cuda::Argument(arguments)...});
  }
  Tensor call(ArrayRef<cuda::Argument> arguments) const;

  // The same function with a gradient: for each parameter one function of all parameters and of the
  // gradient of the result, which returns that of the parameter. Gradients have none themselves.
  // Errors: TypeError where their number or their parameters are others.
  template <class... G>
  Vectorized with_gradient(const G&... of_each_parameter) const {
    return with_gradients({of_each_parameter...});
  }

 private:
  struct State;
  Vectorized with_gradients(std::vector<detail::ScalarFunction> gradients) const;
  std::shared_ptr<State> state_;
};

// The function over tensors.
inline Vectorized vectorize(detail::ScalarFunction function) {
  return Vectorized(std::move(function));
}

}  // namespace gradus
