// The function of a row of a table, as the elementwise kernels take it.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace gradus::cuda {

// A function of one type, whatever row it is of.
template <class Out, class... In>
class RowFunction {
 public:
  template <class F>
  explicit RowFunction(const F& f)
      : call_([](const std::byte* row, In... in) -> Out {
          return (*std::launder(reinterpret_cast<const F*>(row)))(in...);
        }) {
    static_assert(sizeof(F) <= sizeof row_ && alignof(F) <= alignof(double) &&
                  std::is_trivially_copyable_v<F>);
    new (row_) F(f);
  }

  Out operator()(In... in) const { return call_(row_, in...); }

 private:
  Out (*call_)(const std::byte*, In...);
  alignas(double) std::byte row_[3 * sizeof(double)] = {};
};

// On a GPU: f itself. Each row has kernels of its own, with f inside.
// On simulated devices: a RowFunction. Rows of one type share kernels, which compile in a third of the time and make the
// same accesses.
template <class Out, class... In, class F>
auto row_function(const F& f) {
#ifdef GRADUS_SIMULATED
  return RowFunction<Out, In...>(f);
#else
  return f;
#endif
}

}  // namespace gradus::cuda
