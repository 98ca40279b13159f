// The folds of reductions, and the searches for their extremes, for one instruction set.
#include "gradus/cpu/simd/set.h"

#include <cstring>

#include "gradus/cpu/simd/folds.h"
#include "gradus/tensor/math/elementwise.h"

namespace gradus::cpu::GRADUS_SET {

// The vector of `bytes` bytes of T, and the numbers that comparisons of it give.
template <class T, int bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(bytes)));
  using Mask = decltype(type{} < type{});
};

template <class V, class T>
GRADUS_TARGET V load(const T* x) {
  V v;
  std::memcpy(&v, x, sizeof(V));
  return v;
}

// The functions that the rows of reductions.def call, on vectors: a function for all processors
// would take those apart. All bits set are a NaN.
template <class V, class Mask = decltype(V{} != V{})>
GRADUS_TARGET V or_nan(V result, V a) {
  return reinterpret_cast<V>(reinterpret_cast<Mask>(result) | (a != a));
}
template <class V>
GRADUS_TARGET V max(V a, V b) {
  return or_nan(a > b ? a : b, a);
}
template <class V>
GRADUS_TARGET V min(V a, V b) {
  return or_nan(a < b ? a : b, a);
}
template <class V>
GRADUS_TARGET V number_or_0(V x) {
  return x == x ? x : V{};
}
template <class V>
GRADUS_TARGET V magnitude(V x) {  // -0.0 has no bit but the sign
  using Mask = decltype(x != x);
  return reinterpret_cast<V>(reinterpret_cast<Mask>(x) & ~reinterpret_cast<Mask>(-V{}));
}
template <math::Number T>
GRADUS_TARGET T max(T a, T b) {
  return scalar::max(a, b);
}
template <math::Number T>
GRADUS_TARGET T min(T a, T b) {
  return scalar::min(a, b);
}
template <math::Number T>
GRADUS_TARGET T number_or_0(T x) {
  return scalar::number_or_0(x);
}
template <math::Number T>
GRADUS_TARGET T magnitude(T x) {
  return scalar::magnitude(x);
}
template <ReduceOp>
struct Row;
#define REDUCTION(name, doc, start, enter_, combine_, finish)      \
  template <>                                                      \
  struct Row<ReduceOp::name> : scalar::Reduction<ReduceOp::name> { \
    template <class V>                                             \
    GRADUS_TARGET static V enter(V x) {                            \
      return enter_;                                               \
    }                                                              \
    template <class V>                                             \
    GRADUS_TARGET static V combine(V a, V b) {                     \
      return combine_;                                             \
    }                                                              \
  };
#include "gradus/tensor/table/reductions.def"

// The fold of a vector's lanes, the second half onto the first.
template <class R, int half, class V, int... lane>
GRADUS_TARGET auto fold_lanes(V v, std::integer_sequence<int, lane...> lanes) {
  if constexpr (half == 0)
    return v[0];
  else
    return fold_lanes<R, half / 2>(
        R::combine(v, __builtin_shufflevector(v, v, (lane + half) % int{sizeof...(lane)}...)),
        lanes);
}

// Folds n >= `lanes` elements, of which every lane takes one in turn.
template <class R, int lanes, class T>
GRADUS_TARGET T fold_run(const T* x, int64_t n) {
  constexpr int kBytes = lanes * int{sizeof(T)};
  using Vector = VectorOf<T, std::min(kBytes, int{GRADUS_VECTOR})>;
  using V = typename Vector::type;
  using Mask = typename Vector::Mask;
  using Place = std::remove_cvref_t<decltype(Mask{}[0])>;
  constexpr int kWidth = sizeof(V) / sizeof(T), kVectors = lanes / kWidth;
  V total[kVectors];
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) total[v] = R::enter(load<V>(x + v * kWidth));
  int64_t i = lanes;
  for (; i + lanes <= n; i += lanes)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v)
      total[v] = R::combine(R::enter(load<V>(x + i + v * kWidth)), total[v]);
  if (i < n) {
    // The last block reaches back into what has been folded, of which nothing counts.
    const auto folded = static_cast<Place>(i + lanes - n);
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      Mask lane;
#pragma GCC unroll 16
      for (int l = 0; l < kWidth; ++l) lane[l] = static_cast<Place>(v * kWidth + l);
      const V last = R::enter(load<V>(x + n - lanes + v * kWidth));
      const V start = V{} + R::template start<T>();
      total[v] = R::combine(lane < folded ? start : last, total[v]);
    }
  }
#pragma GCC unroll 16
  for (int half = kVectors / 2; half > 0; half /= 2)
#pragma GCC unroll 16
    for (int v = 0; v < half; ++v) total[v] = R::combine(total[v], total[v + half]);
  return fold_lanes<R, kWidth / 2>(total[0], std::make_integer_sequence<int, kWidth>());
}

// One after the other.
template <class R, class T>
GRADUS_TARGET T fold_few(const T* x, int64_t n) {
  T result = R::template start<T>();
  for (int64_t i = 0; i < n; ++i) result = R::combine(R::enter(x[i]), result);
  return result;
}

template <class R, int lanes, class T>
GRADUS_TARGET void fold_runs(int64_t count, const T* x, int64_t apart, int64_t n, T* out) {
  for (int64_t o = 0; o < count; ++o, x += apart)
    if constexpr (lanes == 1)
      out[o] = fold_few<R>(x, n);
    else
      out[o] = fold_run<R, lanes>(x, n);
}

// So many lanes in every instruction set: enough for several vectors of each, and few enough that
// T counts them.
template <class T>
inline constexpr int kLanes = sizeof(T) == 1 ? 128 : 256 / sizeof(T);

// Each length has a loop of its own, so that runs of a few elements take no longer than they must.
template <ReduceOp op, class T>
GRADUS_TARGET void runs(int64_t count, const T* x, int64_t apart, int64_t n, T* out) {
  using R = Row<op>;
  constexpr int kMany = kLanes<T>, kSome = kMany / 4, kFew = kMany / 16;
  if (n >= kMany)
    fold_runs<R, kMany>(count, x, apart, n, out);
  else if (n >= kSome)
    fold_runs<R, kSome>(count, x, apart, n, out);
  else if (n >= kFew)
    fold_runs<R, kFew>(count, x, apart, n, out);
  else
    fold_runs<R, 1>(count, x, apart, n, out);
}

// The pairwise fold of so many rows' elements in one column.
template <class R, int rows, class T>
GRADUS_TARGET T fold_rows(const T* x, int64_t step) {
  if constexpr (rows == 1)
    return R::enter(x[0]);
  else
    return R::combine(fold_rows<R, rows / 2>(x, step),
                      fold_rows<R, rows / 2>(x + rows / 2 * step, step));
}
template <class R, int rows, class T>
GRADUS_TARGET const T* fold_rows(int64_t width, const T* x, int64_t step, int64_t n, T* out) {
  for (; n >= rows; n -= rows, x += rows * step)
#pragma omp simd
    for (int64_t w = 0; w < width; ++w)
      out[w] = R::combine(fold_rows<R, rows>(x + w, step), out[w]);
  return x;
}

// Many rows at a time, to touch `out` less.
template <ReduceOp op, class T>
GRADUS_TARGET void columns(int64_t width, const T* x, int64_t step, int64_t n, T* out) {
  using R = Row<op>;
  x = fold_rows<R, 16>(width, x, step, n, out);
  x = fold_rows<R, 4>(width, x, step, n % 16, out);
  fold_rows<R, 1>(width, x, step, n % 4, out);
}

template <ReduceOp op, class T>
GRADUS_TARGET void finish(int64_t count, [[maybe_unused]] int64_t n, T* folds) {
  for (int64_t i = 0; i < count; ++i) folds[i] = Row<op>::finish(folds[i], n);
}

template <class T>
GRADUS_TARGET bool is_nan([[maybe_unused]] T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x != x;
  else
    return false;
}

// The first of `lanes` elements that is `wanted`; `lanes` if none is.
template <int lanes, class T>
GRADUS_TARGET int64_t first_of(const T* x, T wanted) {
  using Place = std::remove_cvref_t<decltype(typename VectorOf<T, 16>::Mask{}[0])>;
  Place first = lanes;
#pragma omp simd reduction(min : first)
  for (Place l = 0; l < lanes; ++l) {
    const Place place = x[int64_t{l}] == wanted ? l : Place{lanes};
    first = place < first ? place : first;
  }
  return first;
}

// The same among n >= `lanes` elements, one of which is.
template <int lanes, class T>
GRADUS_TARGET int64_t find(const T* x, int64_t n, T wanted) {
  for (int64_t i = 0; i + lanes < n; i += lanes)
    if (const int64_t place = first_of<lanes>(x + i, wanted); place < lanes) return i + place;
  return n - lanes + first_of<lanes>(x + n - lanes, wanted);
}

// One element after the other: that one wins is seldom.
template <bool largest, class T>
GRADUS_TARGET void search_one(const T* x, int64_t step, int64_t n, T* value, int64_t* index) {
  T best = x[0];
  int64_t place = 0;
  for (int64_t i = 1; i < n; ++i) {
    const T candidate = x[i * step];
    if (largest ? candidate <= best : candidate >= best) [[likely]]
      continue;
    if (is_nan(best)) break;
    best = candidate, place = i;
  }
  *value = best;
  *index = place;
}

// Two readings of a run, the second from the cache, take less than one that keeps places.
template <bool largest, int lanes, class T>
GRADUS_TARGET void search_run(const T* x, int64_t n, T* value, int64_t* index) {
  const T extreme = fold_run<Row<largest ? ReduceOp::amax : ReduceOp::amin>, lanes>(x, n);
  int64_t place = 0;
  if (is_nan(extreme))
    while (!is_nan(x[place])) ++place;
  else
    place = find<lanes>(x, n, extreme);
  *value = x[place];
  *index = place;
}

template <bool largest, class T>
GRADUS_TARGET void search_runs(int64_t count, const T* x, int64_t apart, int64_t n, T* values,
                               int64_t* indices) {
  constexpr int kMany = std::min(kLanes<T>, 64), kSome = kMany / 4;
  for (int64_t o = 0; o < count; ++o, x += apart, ++values, ++indices)
    if (n >= kMany)
      search_run<largest, kMany>(x, n, values, indices);
    else if (n >= kSome)
      search_run<largest, kSome>(x, n, values, indices);
    else
      search_one<largest>(x, 1, n, values, indices);
}

template <bool largest, class T>
GRADUS_TARGET void search_columns(int64_t width, const T* x, int64_t step, int64_t n, T* values,
                                  int64_t* indices) {
  if (width < 8) {  // not worth a vector
    for (int64_t w = 0; w < width; ++w)
      search_one<largest>(x + w, step, n, values + w, indices + w);
    return;
  }
  for (int64_t w = 0; w < width; ++w) values[w] = x[w], indices[w] = 0;
  for (int64_t i = 1; i < n; ++i) {
    x += step;
#pragma omp simd
    for (int64_t w = 0; w < width; ++w) {
      const T best = values[w];
      const bool more = largest ? x[w] > best : x[w] < best;
      const bool nan = is_nan(x[w]), first_nan = nan & !is_nan(best);
      const bool wins = more | first_nan;
      values[w] = wins ? x[w] : best;
      indices[w] = wins ? i : indices[w];
    }
  }
}

// Narrow integers have extremes alone, since sums and products are made in int64.
template <ReduceOp op, class T>
constexpr Folds<T> folds_of() {
  constexpr bool extreme = op == ReduceOp::amax || op == ReduceOp::amin;
  if constexpr (std::is_integral_v<T> && !extreme && (sizeof(T) < 8 || !scalar::folds_integers(op)))
    return {};
  else
    return {Row<op>::template start<T>(), runs<op, T>, columns<op, T>, finish<op, T>};
}

}  // namespace gradus::cpu::GRADUS_SET

namespace gradus::cpu {

template <class T>
const FoldTable<T>& FoldTable<T>::GRADUS_SET() {
  namespace set = cpu::GRADUS_SET;
  static constexpr FoldTable table = {{
#define REDUCTION(name, ...) set::folds_of<ReduceOp::name, T>(),
#include "gradus/tensor/table/reductions.def"
                                      },
                                      {set::search_runs<true, T>, set::search_columns<true, T>},
                                      {set::search_runs<false, T>, set::search_columns<false, T>}};
  return table;
}
template const FoldTable<float>& FoldTable<float>::GRADUS_SET();
template const FoldTable<double>& FoldTable<double>::GRADUS_SET();
template const FoldTable<int64_t>& FoldTable<int64_t>::GRADUS_SET();
template const FoldTable<int32_t>& FoldTable<int32_t>::GRADUS_SET();
template const FoldTable<int16_t>& FoldTable<int16_t>::GRADUS_SET();
template const FoldTable<int8_t>& FoldTable<int8_t>::GRADUS_SET();
template const FoldTable<uint8_t>& FoldTable<uint8_t>::GRADUS_SET();

}  // namespace gradus::cpu
