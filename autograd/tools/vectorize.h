// vectorize: a function of numbers that runs over tensors, on the CPU and on GPUs, from one text
// (Numba's idea; docs/own-kernels.md).
//
//   const auto soft = vectorize(GRADUS_SCALAR((float x, float b) { return x * x / (x * x + b); }));
//   Tensor y = soft(x, 0.5);
//
// A lambda whose parameters are all `auto` is one function for several dtypes:
//
//   const auto cube = vectorize<float, double>(GRADUS_SCALAR((auto x) { return x * x * x; }));
#pragma once

#include <math.h>  // fabs(float) and its like in the global namespace, as in CUDA C++

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/cuda/rtc/argument.h"

// A function of numbers, written as a lambda without its []. Parameters have the C++ types of
// dtypes (float, int64_t, bool, ...), or all of them are `auto`. C++ and CUDA C++ both compile the
// body: no std::, but exp, fabs and the like; nothing from outside. GPUs compile its text, which is
// one line.
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

// One whose parameters are `auto`: a function of T for any type T.
template <class F>
struct GenericScalarFunction {
  const char *text, *file;
  int line;

  template <class T>
  ScalarFunction of() const {
    return of_types<T>(std::make_index_sequence<parameters<T>()>());
  }

 private:
  template <class T, size_t>
  using Repeated = T;
  template <class T, size_t... I>
  static constexpr bool takes(std::index_sequence<I...>) {
    return std::is_invocable_v<const F&, Repeated<T, I>...>;
  }
  template <class T, size_t N = 1>
  static constexpr size_t parameters() {
    static_assert(N <= 32, "the parameters of a generic GRADUS_SCALAR are all `auto`");
    if constexpr (takes<T>(std::make_index_sequence<N>()))
      return N;
    else
      return parameters<T, N + 1>();
  }
  template <class T, size_t... I>
  ScalarFunction of_types(std::index_sequence<I...>) const {
    using Result = std::invoke_result_t<const F&, Repeated<T, I>...>;
    return {text,
            file,
            line,
            {dtype_of<Repeated<T, I>>...},
            dtype_of<Result>,
            [](int64_t n, void* out, int64_t out_step, void* const* in, const int64_t* steps) {
              scalar_row<F, Result, Repeated<T, I>...>(n, out, out_step, in, steps,
                                                       std::index_sequence<I...>{});
            }};
  }
};

template <class F>
auto scalar_function(F, const char* text, const char* file, int line) {
  static_assert(std::is_empty_v<F>, "a GRADUS_SCALAR captures nothing");
  if constexpr (requires { &F::operator(); })
    return scalar_function(&F::operator(), text, file, line);
  else
    return GenericScalarFunction<F>{text, file, line};
}

}  // namespace detail

// A function of numbers over tensors.
class Vectorized {
 public:
  explicit Vectorized(detail::ScalarFunction function);

  // Arguments are tensors of the parameters' dtypes, of any strides, that broadcast against each
  // other. Numbers are converted to the parameters' types. The result is contiguous, of the dtype
  // that the function returns, on the device of the tensors. Numbers alone give a result on the
  // CPU. A tensor behind the arguments gets the result and is returned, as in NumPy: it has the
  // result's shape and dtype, and may be one of the arguments.
  // Errors: TypeError for another dtype or number of arguments. ValueError where tensors do not
  // broadcast or are on several devices, and for a result of another shape. Error where a tensor
  // requires grad, grad mode is on and there is no gradient, or the result is given. CompileError
  // on a GPU where CUDA C++ does not take the text.
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
    return Vectorized(functions(), {{of_each_parameter...}});
  }

 protected:
  using Functions = std::vector<detail::ScalarFunction>;
  // A function for each dtype, and its gradients by parameter.
  explicit Vectorized(Functions functions, const std::vector<Functions>& gradients = {});
  Functions functions() const;

 private:
  struct Version;
  struct State;
  const Version& version_for(ArrayRef<cuda::Argument> arguments) const;
  std::shared_ptr<State> state_;
};

// A function of several dtypes: the tensors of a call have one of them. Numbers alone are of the
// first.
template <class... T>
class VectorizedFor : public Vectorized {
 public:
  template <class F>
  explicit VectorizedFor(const detail::GenericScalarFunction<F>& function)
      : Vectorized(Functions{function.template of<T>()...}) {}

  template <class... F>
  VectorizedFor with_gradient(const detail::GenericScalarFunction<F>&... of_each_parameter) const {
    return VectorizedFor(functions(), {of_each<T>(of_each_parameter...)...});
  }

 private:
  VectorizedFor(Functions functions, const std::vector<Functions>& gradients)
      : Vectorized(std::move(functions), gradients) {}
  template <class One, class... F>
  static Functions of_each(const detail::GenericScalarFunction<F>&... functions) {
    return {functions.template of<One>()...};
  }
};

// The function over tensors.
inline Vectorized vectorize(detail::ScalarFunction function) {
  return Vectorized(std::move(function));
}

// The same for tensors of the types T, or of float and double.
template <class... T, class F>
auto vectorize(const detail::GenericScalarFunction<F>& function) {
  if constexpr (sizeof...(T) == 0)
    return VectorizedFor<float, double>(function);
  else
    return VectorizedFor<T...>(function);
}

}  // namespace gradus
