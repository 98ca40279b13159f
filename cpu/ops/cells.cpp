// Recurrent cells, unit by unit.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/cell_loops.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// f(loops, first unit, count, place of its gates) for neighbouring units of a row of `like` (B, H),
// on several threads.
template <class F>
void for_units(int64_t gates, const Tensor& like, const F& f) {
  const int64_t all = like.numel(), units = like.size(1);
  visit_floating("cell", like.dtype(), [&]<class T>(TypeTag<T>) {
    const CellLoops<T>& loops = table_of<CellLoops<T>>();
    parallel_for(0, all, share_of(all, kGrain / 16), [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t row = begin / units, u = begin - row * units;
        const int64_t count = std::min(units - u, end - begin);
        f(loops, begin, count, row * gates * units + u);
        begin += count;
      }
    });
  });
}

// Where the elements of a tensor from `at` on are, for loops of any type.
template <class Loops>
struct TypeOf;
template <class T>
struct TypeOf<CellLoops<T>> {
  static T* at(const Tensor& x, int64_t place) { return static_cast<T*>(x.data_ptr()) + place; }
};
template <class Loops>
auto at(const Loops&, const Tensor& x, int64_t place) {
  return TypeOf<Loops>::at(x, place);
}

}  // namespace

void CpuBackend::lstm_cell(const Tensor& x, const Tensor& s, const Tensor& c_prev,
                           const Tensor& gates, const Tensor& c, const Tensor& h) {
  for_units(4, c, [&](const auto& loops, int64_t unit, int64_t count, int64_t gate) {
    loops.lstm(count, c.size(1), at(loops, x, gate), at(loops, s, gate), at(loops, c_prev, unit),
               at(loops, gates, gate), at(loops, c, unit), at(loops, h, unit));
  });
}

void CpuBackend::lstm_cell_grad(const Tensor& grad, const Tensor& c_prev, const Tensor& gates,
                                const Tensor& c, const Tensor& grad_h, const Tensor& grad_c,
                                const Tensor& grad_x) {
  if (grad.defined()) raw::zip_(BinaryOp::add, grad_h, grad);
  for_units(4, c, [&](const auto& loops, int64_t unit, int64_t count, int64_t gate) {
    loops.lstm_grad(count, c.size(1), at(loops, grad_h, unit), at(loops, c_prev, unit),
                    at(loops, gates, gate), at(loops, c, unit), at(loops, grad_c, unit),
                    at(loops, grad_x, gate));
  });
}

void CpuBackend::gru_cell(const Tensor& x, const Tensor& s, const Tensor& h_prev,
                          const Tensor& gates, const Tensor& h) {
  for_units(3, h, [&](const auto& loops, int64_t unit, int64_t count, int64_t gate) {
    loops.gru(count, h.size(1), at(loops, x, gate), at(loops, s, gate), at(loops, h_prev, unit),
              at(loops, gates, gate), at(loops, h, unit));
  });
}

void CpuBackend::gru_cell_grad(const Tensor& grad, const Tensor& h_prev, const Tensor& s,
                               const Tensor& gates, const Tensor& grad_h, const Tensor& grad_x,
                               const Tensor& grad_s) {
  if (grad.defined()) raw::zip_(BinaryOp::add, grad_h, grad);
  for_units(3, h_prev, [&](const auto& loops, int64_t unit, int64_t count, int64_t gate) {
    loops.gru_grad(count, h_prev.size(1), at(loops, h_prev, unit), at(loops, s, gate),
                   at(loops, gates, gate), at(loops, grad_h, unit), at(loops, grad_x, gate),
                   at(loops, grad_s, gate));
  });
}

}  // namespace gradus::cpu
