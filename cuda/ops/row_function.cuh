// The function of a row of a table, as the elementwise kernels take it.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace gradus::cuda {

// Calls the function of any row that takes In and gives Out.
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

// Returns f on a GPU: each row has its own kernels, and nvcc inlines f into them. Returns a
// RowFunction on simulated devices: rows with the same types share kernels, which compile sooner.
template <class Out, class... In, class F>
auto row_function(const F& f) {
#ifdef GRADUS_SIMULATED
  return RowFunction<Out, In...>(f);
#else
  return f;
#endif
}

}  // namespace gradus::cuda
