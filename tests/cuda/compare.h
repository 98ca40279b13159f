// Tensors with the same strides on the CPU and on the GPU, in every layout that kernels tell apart,
// and the comparison of results.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "gradus/tensor/raw/raw.h"
#include "tests/cuda/gpu_test.h"
#include "tests/random.h"

namespace gradus {

using test::pick;
using test::rng;

struct Range {
  double low = -4, high = 4;
};

// n random elements on the CPU; integers are taken from [ceil(low), floor(high)].
inline Tensor random_memory(ScalarType dtype, int64_t n, Range range = {}) {
  const Tensor out = raw::empty({n}, dtype, kCPU);
  std::uniform_real_distribution<double> real(range.low, range.high);
  visit(dtype, [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < n; ++i)
      if constexpr (std::is_same_v<T, bool>)
        out.data_ptr<T>()[i] = pick(0, 1) == 1;
      else if constexpr (std::is_integral_v<T>)
        out.data_ptr<T>()[i] = static_cast<T>(
            pick(std::llround(std::ceil(range.low)), std::llround(std::floor(range.high))));
      else
        out.data_ptr<T>()[i] = static_cast<T>(real(rng()));
  });
  return out;
}

// How a tensor lies in its memory.
struct MemoryLayout {
  std::string name;
  Dims sizes, strides;
  int64_t offset = 0;

  int64_t memory() const {  // elements needed
    int64_t last = offset;
    for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
    return numel_of(sizes) == 0 ? offset : last + 1;
  }
};

inline MemoryLayout contiguous_layout(std::string name, Dims sizes, int64_t offset = 0) {
  return {std::move(name), sizes, contiguous_strides(sizes), offset};
}

// Layouts without an element that lies twice, which results may have too.
inline std::vector<MemoryLayout> dense_layouts() {
  // Simulated devices take the time of each element.
  const int64_t tail = pick(1, 2047), rows = kSimulated ? 2 : 8, blocks = kSimulated ? 1 : 3;
  return {contiguous_layout("scalar", {}),
          contiguous_layout("empty", {3, 0, 2}),
          contiguous_layout("one element", {1, 1}),
          contiguous_layout("less than a vector", {3}),
          contiguous_layout("small", {3, 1, 5}),
          contiguous_layout("whole blocks", {rows, 4096}),
          contiguous_layout("blocks and a tail", {blocks * 4096 + tail}),
          contiguous_layout("one past an aligned address", {5000 + tail}, 1),
          contiguous_layout("three past an aligned address", {7, 129}, 3),
          {"odd cut of rows", {37, 41}, {97, 1}, 5},
          {"wide rows", {3, 1500}, {1501, 1}, 1},
          {"every third", {700}, {3}, 2},
          {"transposed", {130, 67}, {1, 130}, 0},
          {"transposed in batches", {3, 50, 45}, {50 * 45, 1, 50}, 0},
          {"permuted", {5, 7, 9}, {1, 45, 5}, 0},
          {"gaps everywhere", {4, 3, 5, 6}, {500, 121, 17, 2}, 7}};
}

inline std::vector<MemoryLayout> broadcast_layouts() {
  return {{"one row for all", {33, 77}, {0, 1}, 1},
          {"one column for all", {33, 77}, {1, 0}, 0},
          {"one element for all", {9, 300}, {0, 0}, 4},
          {"one matrix for a batch", {6, 20, 30}, {0, 1, 20}, 0}};
}

inline std::vector<MemoryLayout> all_layouts() {
  std::vector<MemoryLayout> out = dense_layouts();
  for (MemoryLayout& layout : broadcast_layouts()) out.push_back(std::move(layout));
  return out;
}

// The same elements, strides and neighbouring memory on both devices.
struct Pair {
  Tensor cpu, gpu;          // the views
  Tensor cpu_all, gpu_all;  // all of the memory
};
inline Pair pair_of(const Tensor& memory, const MemoryLayout& layout) {
  const Tensor copy = raw::to(memory, Device(kCUDA));
  return {raw::as_strided(memory, layout.sizes, layout.strides, layout.offset),
          raw::as_strided(copy, layout.sizes, layout.strides, layout.offset), memory, copy};
}
inline Pair random_pair(ScalarType dtype, const MemoryLayout& layout, Range range = {}) {
  return pair_of(random_memory(dtype, layout.memory() + 3, range), layout);
}

inline std::vector<double> doubles(const Tensor& x) {
  const Tensor here = raw::contiguous(raw::to(raw::to(x, Device(kCPU)), kDouble));
  return {here.data_ptr<double>(), here.data_ptr<double>() + here.numel()};
}

// A few roundings of the dtype; integers have none.
inline double rounding(ScalarType dtype) {
  return dtype == kFloat ? 1e-6 : dtype == kDouble ? 2e-15 : 0;
}

// Every element of got within tolerance of expected, relative to its size where that is above
// `unit`; NaN equals NaN. Only the first difference is reported.
inline void expect_close(const Tensor& got, const Tensor& expected, double tolerance,
                         const std::string& what, double unit = 1) {
  ASSERT_EQ(got.sizes(), expected.sizes()) << what;
  const std::vector<double> a = doubles(got), b = doubles(expected);
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ||
                      std::abs(a[i] - b[i]) <= tolerance * std::max(unit, std::abs(b[i]));
    ASSERT_TRUE(same) << what << ": element " << i << " of " << a.size() << " is " << a[i]
                      << ", expected " << b[i];
  }
}

inline std::string describe(const char* op, ScalarType dtype, const std::string& layout) {
  return std::string(op) + " " + std::string(short_name(dtype)) + ", " + layout;
}

}  // namespace gradus
