// The loops of recurrent cells for one instruction set.
#include "gradus/cpu/simd/cell_loops.h"

#include <type_traits>

#include "gradus/cpu/simd/set.h"
#include "gradus/tensor/math/cells.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

template <class T>
GRADUS_TARGET void lstm(int64_t count, int64_t units, const T* x, const T* s, const T* c_prev,
                        T* gates, T* c, T* h) {
#pragma omp simd
  for (int64_t u = 0; u < count; ++u)
    scalar::lstm_unit(units, x + u, s + u, c_prev[u], gates + u, c + u, h + u);
}

template <class T>
GRADUS_TARGET void lstm_grad(int64_t count, int64_t units, const T* grad_h, const T* c_prev,
                             const T* gates, const T* c, T* grad_c, T* grad_x) {
#pragma omp simd
  for (int64_t u = 0; u < count; ++u)
    scalar::lstm_unit_grad(units, grad_h[u], c_prev[u], gates + u, c[u], grad_c + u, grad_x + u);
}

template <class T>
GRADUS_TARGET void gru(int64_t count, int64_t units, const T* x, const T* s, const T* h_prev,
                       T* gates, T* h) {
#pragma omp simd
  for (int64_t u = 0; u < count; ++u)
    scalar::gru_unit(units, x + u, s + u, h_prev[u], gates + u, h + u);
}

template <class T>
GRADUS_TARGET void gru_grad(int64_t count, int64_t units, const T* h_prev, const T* s,
                            const T* gates, T* grad_h, T* grad_x, T* grad_s) {
#pragma omp simd
  for (int64_t u = 0; u < count; ++u)
    scalar::gru_unit_grad(units, h_prev[u], s + u, gates + u, grad_h + u, grad_x + u, grad_s + u);
}

template <class T>
constexpr CellLoops<T> cell_loops() {
  return {lstm<T>, lstm_grad<T>, gru<T>, gru_grad<T>};
}

}  // namespace
}  // namespace GRADUS_SET
}  // namespace gradus::cpu

#if GRADUS_VECTOR == 64
#include "gradus/cpu/simd/cells_avx512.inc"
#endif

namespace gradus::cpu {

template <class T>
const CellLoops<T>& CellLoops<T>::GRADUS_SET() {
  static constexpr CellLoops loops = [] {
    CellLoops all = cpu::GRADUS_SET::cell_loops<T>();
#if GRADUS_VECTOR == 64
    if constexpr (std::is_same_v<T, float>)
      all.lstm = avx512::lstm_units, all.lstm_grad = avx512::lstm_units_grad,
      all.gru = avx512::gru_units;
#endif
    return all;
  }();
  return loops;
}
template const CellLoops<float>& CellLoops<float>::GRADUS_SET();
template const CellLoops<double>& CellLoops<double>::GRADUS_SET();

}  // namespace gradus::cpu
