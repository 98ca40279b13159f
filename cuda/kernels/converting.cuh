// The third kernel of elementwise operations, out[i] = f(in[i]...) for any strides. Memory holds
// other types than f computes with: narrow integers, or operands of several types. A thread
// switches on the types once for all of its elements.
#pragma once

#include <cstring>

#include "gradus/cuda/kernels/elementwise.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/tensor/math/convert.h"

namespace gradus::cuda {

// Elements of any type. Where there is no operand they have size 0, and none is read.
struct Elements {
  void* data;
  ScalarType dtype;
  int size;  // of one, in bytes

  GRADUS_HD Elements from(int64_t i) const {
    return {static_cast<char*>(data) + i * size, dtype, size};
  }
};

// A thread loads pairs of neighbours, a pair in one access. Neighbouring threads load neighbouring
// pairs, so that a warp reads whole sectors of memory, whatever the types.
inline constexpr int kPairs = 2;
template <class T>
struct Pairs {
  Vector<T, 2> at[kPairs];
};
// The same as they lie in memory, of any type.
struct StoredPairs {
  uint4 at[kPairs];
};

// Calls f(TypeTag<T>{}) with the type of what is stored.
template <class F>
__device__ void visit_stored(ScalarType dtype, const F& f) {
  switch (dtype) {
#define DTYPE(name, type, short_name, kind, computed) \
  case ScalarType::name:                              \
    return f(TypeTag<type>{});
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
    default:  // complex numbers are not converted here
      break;
  }
}
// Calls f(TypeTag<T>{}) with an unsigned integer of so many bytes.
template <class F>
__device__ void visit_stored_bits(int size, const F& f) {
  if (size == 1) return f(TypeTag<uint8_t>{});
  if (size == 2) return f(TypeTag<uint16_t>{});
  if (size == 4) return f(TypeTag<uint32_t>{});
  f(TypeTag<uint64_t>{});
}

// Where a thread's elements of one tensor lie: neighbours are `step` elements apart, pairs `jump`
// steps. An element exists if it is less than `left` steps from the first one.
struct Run {
  int step;
  int jump;
  int left;
};

// Does not use the loaded values, so that loads of several tensors can be in flight at once.
__device__ inline StoredPairs load_stored(const Elements& x, const Run& run) {
  StoredPairs out;
  visit_stored_bits(x.size, [&]<class Bits>(TypeTag<Bits>) {
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
      const Bits* const from = static_cast<const Bits*>(x.data) + int64_t{p} * run.jump * run.step;
      const int count = run.left - p * run.jump;
      Vector<Bits, 2> pair;
      if (run.step == 1 && count > 1 && is_aligned<2>(from)) {
        pair = load_vector<2>(from);
      } else {
        if (count > 0) pair.at[0] = from[0];
        if (count > 1) pair.at[1] = from[run.step];
      }
      memcpy(&out.at[p], &pair, sizeof pair);
    }
  });
  return out;
}
__device__ inline void store_stored(const Elements& x, const Run& run, const StoredPairs& value) {
  visit_stored_bits(x.size, [&]<class Bits>(TypeTag<Bits>) {
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
      Bits* const to = static_cast<Bits*>(x.data) + int64_t{p} * run.jump * run.step;
      const int count = run.left - p * run.jump;
      Vector<Bits, 2> pair;
      memcpy(&pair, &value.at[p], sizeof pair);
      if (run.step == 1 && count > 1 && is_aligned<2>(to)) {
        store_vector(to, pair);
      } else {
        if (count > 0) to[0] = pair.at[0];
        if (count > 1) to[run.step] = pair.at[1];
      }
    }
  });
}

// f(p, i) for the elements that there are.
template <class F>
__device__ void for_elements(const Run& run, const F& f) {
#pragma unroll
  for (int p = 0; p < kPairs; ++p)
#pragma unroll
    for (int i = 0; i < 2; ++i)
      if (p * run.jump + i < run.left) f(p, i);
}

// Integers are converted without a switch: those that are narrower than 64 bits fill 32, and
// then 64.
__device__ inline Pairs<int64_t> widened(const Elements& x, const StoredPairs& stored) {
  Pairs<int64_t> out;
  if (x.size == sizeof(int64_t)) {
    memcpy(&out, &stored, sizeof out);
    return out;
  }
  const int bits = 8 * x.size, above = (32 - bits) % 32;
  const bool is_signed = x.dtype != ScalarType::Byte && x.dtype != ScalarType::Bool;
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
    const uint32_t word = stored.at[p].x;
    const uint32_t high[] = {word << above,
                             bits == 32 ? stored.at[p].y : word >> bits % 32 << above};
#pragma unroll
    for (int i = 0; i < 2; ++i)
      out.at[p].at[i] = is_signed ? static_cast<int32_t>(high[i]) >> above
                                  : static_cast<int32_t>(high[i] >> above);
  }
  return out;
}
__device__ inline StoredPairs narrowed(const Elements& to, const Pairs<int64_t>& value) {
  StoredPairs out;
  if (to.size == sizeof(int64_t)) {
    memcpy(&out, &value, sizeof out);
    return out;
  }
  const int bits = 8 * to.size;
  const bool is_bool = to.dtype == ScalarType::Bool;
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
    uint32_t word[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int64_t number = value.at[p].at[i];
      word[i] = is_bool ? number != 0 : static_cast<uint32_t>(number);
    }
    const uint32_t both = (word[0] & ((1u << bits % 32) - 1)) | word[1] << bits % 32;
    out.at[p].x = bits == 32 ? word[0] : both;
    out.at[p].y = word[1];
  }
  return out;
}

// x as numbers of type T.
template <class T>
__device__ Pairs<T> converted(const Elements& x, const StoredPairs& stored, const Run& run) {
  Pairs<T> out{};
  visit_stored(x.dtype, [&]<class S>(TypeTag<S>) {
    Pairs<S> in;
    for (int p = 0; p < kPairs; ++p) memcpy(&in.at[p], &stored.at[p], sizeof in.at[p]);
    for_elements(run, [&](int p, int i) { out.at[p].at[i] = convert<T>(in.at[p].at[i]); });
  });
  return out;
}
// The same where an int64 stands for an integer.
template <class T>
__device__ Pairs<T> entered(const Elements& x, const StoredPairs& stored, const Run& run) {
  if constexpr (std::is_same_v<T, int64_t>)
    return widened(x, stored);
  else
    return converted<T>(x, stored, run);
}

template <class S, class T>
__device__ StoredPairs stored_as(const Pairs<T>& value) {
  StoredPairs out;
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
    Vector<S, 2> pair;
#pragma unroll
    for (int i = 0; i < 2; ++i) pair.at[i] = convert<S>(value.at[p].at[i]);
    memcpy(&out.at[p], &pair, sizeof pair);
  }
  return out;
}
// Results of type T as `to` stores them: int64 as any integer, float32 also as a half type, and
// others as they are.
template <class T>
__device__ StoredPairs as_stored(const Elements& to, const Pairs<T>& value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return narrowed(to, value);
  } else {
    if constexpr (std::is_same_v<T, float>) {
      if (to.dtype == ScalarType::Half) return stored_as<Half>(value);
      if (to.dtype == ScalarType::BFloat16) return stored_as<BFloat16>(value);
    }
    return stored_as<T>(value);
  }
}

template <class Out, class F, class... Inputs>
__device__ Pairs<Out> apply_all(const F& f, const Run& run, const Inputs&... in) {
  Pairs<Out> out{};
  for_elements(run, [&](int p, int i) { out.at[p].at[i] = f(in.at[p].at[i]...); });
  return out;
}

// f of numbers of type In gives one of type Out. Columns and rows as in elementwise_strided, but
// that a thread has its pairs of columns. Three operands take more registers.
template <class F, class Out, class In, class... Inputs>
__global__ void __launch_bounds__(kElementwiseThreads, sizeof...(Inputs) < 3 ? 3 : 2)
    elementwise_converting(F f, Strided<1 + sizeof...(Inputs), int32_t> walk, int32_t rows,
                           int32_t tiles, Elements out, Inputs... in) {
  wait_for_earlier_kernels();
  const int32_t block = static_cast<int32_t>(blockIdx.x), width = static_cast<int32_t>(blockDim.x);
  const int32_t row_block = block / tiles, last = walk.dims - 1;
  const int32_t row = row_block * static_cast<int32_t>(blockDim.y) + threadIdx.y;
  const int32_t column =
      ((block - row_block * tiles) * width * kPairs + static_cast<int32_t>(threadIdx.x)) * 2;
  if (row >= rows || column >= walk.size[last]) return;
  const auto at = offsets_of(walk, last, row);
  const auto from = [&](const Elements& x, int n) {
    return x.from(at.at[n] + column * walk.stride[n][last]);
  };
  const auto run = [&](const Elements& x, int n) {
    return Run{walk.stride[n][last], 2 * width, x.size > 0 ? walk.size[last] - column : 0};
  };
  [&]<size_t... I>(std::index_sequence<I...>) {
    const StoredPairs stored[] = {load_stored(from(in, I + 1), run(in, I + 1))...};
    const Run all = run(out, 0);
    const auto result = apply_all<Out>(f, all, entered<In>(in, stored[I], run(in, I + 1))...);
    store_stored(from(out, 0), all, as_stored(out, result));
  }
  (std::index_sequence_for<Inputs...>{});
}

// f, a function of floats or a predicate, on elements of one half type. The kernel tests at run
// time which one it is, so that each f needs one more kernel and not two.
template <class F>
struct OfHalves {
  F f;
  bool brain;  // of bfloat16

  template <class... Bits>
  __device__ auto operator()(Bits... in) const {
    const auto y = f((brain ? detail::float_of(uint32_t{in} << 16) : detail::half_value(in))...);
    if constexpr (std::is_same_v<decltype(y), const bool>)
      return y;
    else
      return brain ? detail::bfloat16_bits(y) : detail::half_bits(y);
  }
};

}  // namespace gradus::cuda
