// The largest or smallest elements along one dimension, and where they are.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/folds.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

template <class T>
void arg_reduce_tensor(const Searches<T>& searches, const Tensor& x, int64_t dim,
                       const Tensor& values, const Tensor& indices) {
  const int64_t n = x.dim() ? x.sizes()[dim] : 1, step = x.dim() ? x.strides()[dim] : 0;
  // x is walked over the outputs: with size 1 in dim, its stride there does not matter.
  const Strided<3> view =
      collapse<3>(values.sizes(), {values.strides(), indices.strides(), x.strides()});
  const auto apart = inner_strides(view);
  const T* const from = static_cast<const T*>(x.data_ptr());
  T* const value = static_cast<T*>(values.data_ptr());
  int64_t* const index = static_cast<int64_t*>(indices.data_ptr());
  const int64_t count = view.numel;
  if (count == 0) return;

  // Every thread has a part of the outputs or, where they are few, of the elements behind them.
  const int64_t threads = count * n <= kGrain ? 1 : thread_count();
  const int64_t length = divide_up(n, std::min(divide_up(threads, count), n));
  const int64_t pieces = divide_up(n, length), part = divide_up(count, threads);
  const bool direct = pieces == 1 && values.is_contiguous() && indices.is_contiguous();
  // Row p holds what piece p gives for every output.
  StoragePtr memory;
  if (!direct)
    memory = cpu_backend().allocate(
        static_cast<size_t>(pieces * count) * (sizeof(int64_t) + sizeof(T)), Device(kCPU));
  int64_t* const places = direct ? index : static_cast<int64_t*>(memory->data());
  T* const extremes = direct ? value : reinterpret_cast<T*>(places + pieces * count);

  const auto search = [&](int64_t piece, int64_t begin, int64_t end) {
    const int64_t first = piece * length, some = std::min(length, n - first);
    T* best = extremes + piece * count + begin;
    int64_t* place = places + piece * count + begin;
    walk(view, begin, end, [&](const auto& at, int64_t run) {
      const T* const start = from + at[2] + first * step;
      if (step == 1)
        searches.runs(run, start, apart[2], some, best, place);
      else if (apart[2] == 1)
        searches.columns(run, start, step, some, best, place);
      else
        for (int64_t i = 0; i < run; ++i)
          searches.columns(1, start + i * apart[2], step, some, best + i, place + i);
      best += run, place += run;
    });
  };
  const int64_t parts = divide_up(count, part);
  parallel_for(0, parts * pieces, divide_up(parts * pieces, threads), [&](int64_t i, int64_t last) {
    for (; i < last; ++i) {
      const int64_t begin = i / pieces * part;
      search(i % pieces, begin, std::min(begin + part, count));
    }
  });
  if (direct) return;

  int64_t o = 0;
  walk(view, 0, count, [&](const auto& at, int64_t run) {
    for (int64_t i = 0; i < run; ++i, ++o) {
      int64_t piece;
      searches.columns(1, extremes + o, count, pieces, &value[at[0] + i * apart[0]], &piece);
      index[at[1] + i * apart[1]] = places[piece * count + o] + piece * length;
    }
  });
}

}  // namespace

void CpuBackend::arg_reduce(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                            const Tensor& indices) {
  visit(x.dtype(), [&]<class Element>(TypeTag<Element>) {
    using T = std::conditional_t<std::is_same_v<Element, bool>, uint8_t, Element>;
    if constexpr (HalfType<T>) {
      fail<TypeError>(largest ? "max" : "min", ": dtype ", short_name(x.dtype()),
                      " is not computed with; convert with .to(kFloat)");
    } else {
      const FoldTable<T>& table = table_of<FoldTable<T>>();
      arg_reduce_tensor(largest ? table.largest : table.smallest, x, dim, values, indices);
    }
  });
}

}  // namespace gradus::cpu
