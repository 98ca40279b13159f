// guvectorize: a function of vectors and matrices that runs over tensors of more dimensions, on the
// CPU and on GPUs, from one text (Numba's idea; docs/own-kernels.md).
//
//   const auto dot = guvectorize("(n),(n)->()", GRADUS_CORE((Core<const float> x,
//                                                            Core<const float> y, float& out) {
//     out = 0;
//     for (int64_t i = 0; i < x.size(); ++i) out += x[i] * y[i];
//   }));
//   Tensor y = dot(a, b);  // (5, 1, n), (4, n) -> (5, 4)
#pragma once

#include <math.h>  // fabs(float) and its like in the global namespace, as in CUDA C++

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/cuda/rtc/argument.h"
#include "gradus/cuda/rtc/core_kernel.h"

// A function of core dimensions, written as a lambda without its []. The parameters are those of
// the signature in order. An input "()" is a number (float x), such an output a reference (float&
// y). "(n)" is Core<const float> or Core<float>, "(m,n)" is Core<const float, 2>. The body returns
// nothing, and C++ and CUDA C++ both compile it: no std::, nothing from outside.
#define GRADUS_CORE(...) \
  ::gradus::detail::core_function([] __VA_ARGS__, #__VA_ARGS__, __FILE__, __LINE__)

namespace gradus {

// The core of an operand in one call: x[i], a(i, j), a.size(1). Indices are not checked.
template <class T, int D = 1>
struct Core {
  T* data;
  int64_t sizes[D], strides[D];  // in elements
  int64_t size(int d = 0) const { return sizes[d]; }
  T& operator[](int64_t i) const requires(D == 1) { return data[i * strides[0]]; }
  template <class... I>
  requires(sizeof...(I) == D) T& operator()(I... i) const {
    const int64_t at[] = {static_cast<int64_t>(i)...};
    int64_t out = 0;
    for (int d = 0; d < D; ++d) out += at[d] * strides[d];
    return data[out];
  }
};

namespace detail {

// A function of core dimensions: its text, its parameters, and a loop of it on the CPU.
struct CoreFunction {
  // Calls it for n items, which lie `steps` elements apart.
  using Items = void (*)(int64_t n, const cuda::CorePart* parts, const int64_t* steps);
  std::string text, file;
  int line;
  std::vector<cuda::CoreParameter> parameters;
  Items items;
};

// How a parameter of type P is described, and made for item k.
template <class P>
struct CoreAs {
  static constexpr cuda::CoreParameter parameter{dtype_of<P>, 0, false};
  static P at(const cuda::CorePart& part, int64_t offset) {
    return static_cast<const P*>(part.data)[offset];
  }
};
template <class T>
struct CoreAs<T&> {
  static constexpr cuda::CoreParameter parameter{dtype_of<T>, 0, true};
  static T& at(const cuda::CorePart& part, int64_t offset) {
    return static_cast<T*>(part.data)[offset];
  }
};
template <class T, int D>
struct CoreAs<Core<T, D>> {
  static constexpr cuda::CoreParameter parameter{dtype_of<std::remove_const_t<T>>, D,
                                                 !std::is_const_v<T>};
  static Core<T, D> at(const cuda::CorePart& part, int64_t offset) {
    Core<T, D> out{static_cast<T*>(part.data) + offset, {}, {}};
    for (int d = 0; d < D; ++d) out.sizes[d] = part.sizes[d], out.strides[d] = part.strides[d];
    return out;
  }
};

template <class F, class... P, size_t... I>
void core_items(int64_t n, const cuda::CorePart* parts, const int64_t* steps,
                std::index_sequence<I...>) {
  const F f{};
  for (int64_t k = 0; k < n; ++k) f(CoreAs<P>::at(parts[I], k * steps[I])...);
}

template <class F, class... P>
CoreFunction core_function(void (F::*)(P...) const, const char* text, const char* file, int line) {
  return {text,
          file,
          line,
          {CoreAs<P>::parameter...},
          [](int64_t n, const cuda::CorePart* parts, const int64_t* steps) {
            core_items<F, P...>(n, parts, steps, std::index_sequence_for<P...>{});
          }};
}
template <class F>
CoreFunction core_function(F, const char* text, const char* file, int line) {
  static_assert(std::is_empty_v<F>, "a GRADUS_CORE captures nothing");
  return core_function(&F::operator(), text, file, line);
}

}  // namespace detail

// A function of core dimensions over tensors.
class GUVectorized {
 public:
  GUVectorized(const std::string& signature, detail::CoreFunction function);

  // Tensors of the parameters' dtypes, of any strides. The last dimensions of each are its core;
  // they have one size for each name. All others are the loop's: they broadcast against each other.
  // Numbers stand for inputs "()". Returns the first output: contiguous, of the loop's dimensions
  // and then those of its core, on the device of the tensors. One thread of a GPU calls the
  // function for one item of the loop. Errors: TypeError for another dtype, number or kind of
  // arguments. ValueError where a size of the core is another one, and where tensors lack a
  // dimension, do not broadcast or are on several devices. Error where a tensor requires grad, grad
  // mode is on and there is no gradient. CompileError on a GPU where CUDA C++ does not take the
  // text.
  template <class... A>
  Tensor operator()(const A&... arguments) const {
    return call({cuda::Argument(arguments)...})[0];
  }
  // All outputs.
  Tensors call(ArrayRef<cuda::Argument> arguments) const;

  // The same function with a gradient. Each input has one function for its gradient: of all inputs
  // and of the gradients of all outputs, with the gradient of the input as its one output. The
  // signatures of these functions follow: (n),(n),()->(n) for the first input of (n),(n)->().
  // Gradients of these gradients do not exist. Errors: TypeError where their number or their
  // parameters are others.
  template <class... G>
  GUVectorized with_gradient(const G&... of_each_input) const {
    return with_gradients({of_each_input...});
  }

 private:
  struct State;
  GUVectorized with_gradients(std::vector<detail::CoreFunction> gradients) const;
  std::shared_ptr<State> state_;
};

// The function over tensors. signature: the core dimensions of inputs and outputs, by name, as
// "(m,n),(n)->(m)"; "()" has none. An output's names are among those of the inputs.
// Errors: ValueError where the signature cannot be read or names an output's dimension that no
// input has; TypeError where the function's parameters are not those of the signature.
inline GUVectorized guvectorize(const std::string& signature, detail::CoreFunction function) {
  return GUVectorized(signature, std::move(function));
}

}  // namespace gradus
