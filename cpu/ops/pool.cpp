// Pools, a plane at a time: max pools line by line of windows, all others window by window.
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/pool_loops.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

template <class T>
constexpr T kLeastOf = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                            : std::numeric_limits<T>::lowest();

// The elements of a window in one dimension that lie within it, `step` apart.
struct Reach {
  Reach(const WindowDim& dim, int64_t o) : begin(dim.begin(o)), end(dim.end(o)) {
    if (begin < 0) begin += (-begin + dim.dilation - 1) / dim.dilation * dim.dilation;
    end = std::min(end, dim.in);
  }
  int64_t begin, end;
};

// f(first plane, last plane), on several threads.
template <class F>
void for_planes(const Pool& pool, const F& f) {
  const int64_t work = std::max<int64_t>(pool.inputs(), pool.outputs());
  const int64_t grain = std::max<int64_t>(kGrain / 4 / work, 1);
  parallel_for(0, pool.planes, share_of(pool.planes, grain, 1), f);
}

// f(o0, o1, o2, i) for the windows of a plane, in order.
template <class F>
void for_windows(const Pool& pool, const F& f) {
  int64_t i = 0;
  for (int64_t o0 = 0; o0 < pool.dim[0].out; ++o0)
    for (int64_t o1 = 0; o1 < pool.dim[1].out; ++o1)
      for (int64_t o2 = 0; o2 < pool.dim[2].out; ++o2, ++i) f(o0, o1, o2, i);
}

// f(begin, end) for each line of elements of a window: places in the plane.
template <class F>
void for_lines(const Pool& pool, int64_t o0, int64_t o1, int64_t o2, const F& f) {
  const Reach depth(pool.dim[0], o0), row(pool.dim[1], o1), column(pool.dim[2], o2);
  for (int64_t d = depth.begin; d < depth.end; d += pool.dim[0].dilation)
    for (int64_t r = row.begin; r < row.end; r += pool.dim[1].dilation) {
      const int64_t line = (d * pool.dim[1].in + r) * pool.dim[2].in;
      f(line + column.begin, line + column.end);
    }
}

// Some place of a window: its first where it has elements.
int64_t first_place(const Pool& pool, int64_t o0, int64_t o1, int64_t o2) {
  const auto within = [](const WindowDim& dim, int64_t o) {
    return std::min(Reach(dim, o).begin, dim.in - 1);
  };
  return (within(pool.dim[0], o0) * pool.dim[1].in + within(pool.dim[1], o1)) * pool.dim[2].in +
         within(pool.dim[2], o2);
}

template <class T>
void max_by_windows(const Pool& pool, const T* x, T* values, int64_t* indices) {
  const int64_t step = pool.dim[2].dilation;
  for_windows(pool, [&](int64_t o0, int64_t o1, int64_t o2, int64_t i) {
    T most = kLeastOf<T>;
    int64_t where = first_place(pool, o0, o1, o2);
    for_lines(pool, o0, o1, o2, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; k += step)
        if (x[k] > most || x[k] != x[k]) most = x[k], where = k;
    });
    values[i] = most, indices[i] = where;
  });
}

// The layout of a line, which max_by_lines computes before it reads any.
struct Line {
  // The windows whose element k lies within, and where it lies in the first window of all.
  struct Element {
    int64_t first, end, column;
  };
  std::vector<Element> elements;
  std::vector<int64_t> columns;        // where windows begin
  int64_t whole_first = 0, whole_end;  // the windows that lie within as a whole

  explicit Line(const Pool& pool) : whole_end(pool.dim[2].out) {
    const WindowDim& w = pool.dim[2];
    for (int64_t k = 0; k < w.kernel; ++k) {
      const int64_t at = k * w.dilation - w.padding;
      const int64_t first = at >= 0 ? 0 : divide_up(-at, w.stride);
      const int64_t last = at >= w.in ? 0 : std::min(w.out, (w.in - 1 - at) / w.stride + 1);
      whole_first = std::max(whole_first, first), whole_end = std::min(whole_end, last);
      if (first < last) elements.push_back({first, last, at});
    }
    whole_end = std::max(whole_end, whole_first);
    for (int64_t o = 0; o < w.out; ++o) columns.push_back(std::min(Reach(w, o).begin, w.in - 1));
  }
};

// The windows of one line at once, element by element of a window.
template <class T>
void max_by_lines(const Pool& pool, const PoolLoops<T>& loops, const Line& line, const T* x,
                  T* values, int64_t* indices, typename PoolLoops<T>::Place* where) {
  using Place = typename PoolLoops<T>::Place;
  const WindowDim& w = pool.dim[2];
  std::vector<const T*> elements;
  std::vector<Place> places;
  for (int64_t o0 = 0; o0 < pool.dim[0].out; ++o0)
    for (int64_t o1 = 0; o1 < pool.dim[1].out; ++o1, values += w.out, indices += w.out) {
      const Reach depth(pool.dim[0], o0), row(pool.dim[1], o1);
      elements.clear(), places.clear();
      std::fill_n(values, w.out, kLeastOf<T>);
      const int64_t begin = first_place(pool, o0, o1, 0) - line.columns[0];
      for (int64_t o2 = 0; o2 < w.out; ++o2)
        where[o2] = static_cast<Place>(begin + line.columns[static_cast<size_t>(o2)]);
      for (int64_t d = depth.begin; d < depth.end; d += pool.dim[0].dilation)
        for (int64_t r = row.begin; r < row.end; r += pool.dim[1].dilation)
          for (const Line::Element& e : line.elements) {
            const int64_t place = (d * pool.dim[1].in + r) * w.in + e.column;
            elements.push_back(x + place + line.whole_first * w.stride);
            places.push_back(static_cast<Place>(place + line.whole_first * w.stride));
            const auto alone = [&](int64_t first, int64_t end) {
              if (first >= end) return;
              const T* const from = x + place + first * w.stride;
              const auto at = static_cast<Place>(place + first * w.stride);
              loops.take(end - first, w.stride, 1, &from, &at, values + first, where + first);
            };
            alone(e.first, std::min(e.end, line.whole_first));
            alone(std::max(e.first, line.whole_end), e.end);
          }
      if (line.whole_end > line.whole_first)
        loops.take(line.whole_end - line.whole_first, w.stride,
                   static_cast<int64_t>(elements.size()), elements.data(), places.data(),
                   values + line.whole_first, where + line.whole_first);
      std::copy_n(where, w.out, indices);
    }
}

template <class T>
void max_planes(const Pool& pool, const T* x, T* values, int64_t* indices) {
  using Place = typename PoolLoops<T>::Place;
  const PoolLoops<T>& loops = table_of<PoolLoops<T>>();
  // Longer windows than the input are mostly padding, of which only max_by_windows skips a part.
  const WindowDim& w = pool.dim[2];
  const bool by_lines = !w.adaptive && w.kernel <= std::max<int64_t>(w.in, 16) &&
                        pool.inputs() <= std::numeric_limits<Place>::max();
  const std::optional<Line> line = by_lines ? std::optional<Line>(pool) : std::nullopt;
  for_planes(pool, [&](int64_t begin, int64_t end) {
    std::vector<Place> where(static_cast<size_t>(by_lines ? pool.dim[2].out : 0));
    for (int64_t p = begin; p < end; ++p) {
      const T* const from = x + p * pool.inputs();
      T* const to = values + p * pool.outputs();
      int64_t* const places = indices + p * pool.outputs();
      if (by_lines)
        max_by_lines(pool, loops, *line, from, to, places, where.data());
      else
        max_by_windows(pool, from, to, places);
    }
  });
}

}  // namespace

void CpuBackend::max_pool(const Pool& pool, const Tensor& x, const Tensor& values,
                          const Tensor& indices) {
  visit_numbers("max_pool", x.dtype(), [&]<class T>(TypeTag<T>) {
    max_planes(pool, static_cast<const T*>(x.data_ptr()), values.data_ptr<T>(),
               indices.data_ptr<int64_t>());
  });
}

void CpuBackend::max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                               const Tensor& out) {
  visit_floating("max_pool", grad.dtype(), [&]<class T>(TypeTag<T>) {
    const T* const from = static_cast<const T*>(grad.data_ptr());
    const auto* const places = static_cast<const int64_t*>(indices.data_ptr());
    T* const to = out.data_ptr<T>();
    for_planes(pool, [&](int64_t begin, int64_t end) {
      std::fill(to + begin * pool.inputs(), to + end * pool.inputs(), T(0));
      for (int64_t p = begin; p < end; ++p)
        for (int64_t i = p * pool.outputs(); i < (p + 1) * pool.outputs(); ++i)
          to[p * pool.inputs() + places[i]] += from[i];
    });
  });
}

void CpuBackend::average_pool(const Pool& pool, const Tensor& x, const Tensor& out) {
  visit_floating("average_pool", x.dtype(), [&]<class T>(TypeTag<T>) {
    for_planes(pool, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const T* const from = static_cast<const T*>(x.data_ptr()) + p * pool.inputs();
        T* const to = out.data_ptr<T>() + p * pool.outputs();
        for_windows(pool, [&](int64_t o0, int64_t o1, int64_t o2, int64_t i) {
          T sum = 0;
          for_lines(pool, o0, o1, o2, [&](int64_t first, int64_t last) {
            for (int64_t k = first; k < last; ++k) sum += from[k];
          });
          to[i] = sum / static_cast<T>(pool.divisor_at({o0, o1, o2}));
        });
      }
    });
  });
}

void CpuBackend::average_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& out) {
  visit_floating("average_pool", grad.dtype(), [&]<class T>(TypeTag<T>) {
    for_planes(pool, [&](int64_t begin, int64_t end) {
      std::fill(out.data_ptr<T>() + begin * pool.inputs(), out.data_ptr<T>() + end * pool.inputs(),
                T(0));
      for (int64_t p = begin; p < end; ++p) {
        const T* const from = static_cast<const T*>(grad.data_ptr()) + p * pool.outputs();
        T* const to = out.data_ptr<T>() + p * pool.inputs();
        for_windows(pool, [&](int64_t o0, int64_t o1, int64_t o2, int64_t i) {
          const T each = from[i] / static_cast<T>(pool.divisor_at({o0, o1, o2}));
          for_lines(pool, o0, o1, o2, [&](int64_t first, int64_t last) {
            for (int64_t k = first; k < last; ++k) to[k] += each;
          });
        });
      }
    });
  });
}

}  // namespace gradus::cpu
