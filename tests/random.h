// Tensors of random shapes and layouts, and slow, obvious ways to read and write them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include "gradus/tensor/raw/raw.h"

namespace gradus::test {

// Starts in every test with GRADUS_TEST_SEED, or with a new seed, which is printed.
inline std::mt19937_64& rng() {
  static const uint64_t seed = [] {
    const char* text = std::getenv("GRADUS_TEST_SEED");
    const uint64_t value = text ? std::strtoull(text, nullptr, 10) : std::random_device{}();
    std::cout << "GRADUS_TEST_SEED=" << value << std::endl;
    return value;
  }();
  static std::mt19937_64 engine;
  static const testing::TestInfo* current = nullptr;
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  if (test != current) engine.seed(seed), current = test;
  return engine;
}
inline int64_t pick(int64_t low, int64_t high) {  // both included
  return std::uniform_int_distribution<int64_t>(low, high)(rng());
}
inline double real(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(rng());
}

inline Dims random_sizes(int64_t max_rank, int64_t max_size) {
  Dims sizes;
  for (int64_t rank = pick(0, max_rank); rank > 0; --rank) sizes.push_back(pick(1, max_size));
  return sizes;
}

// The element at a row-major index.
inline int64_t offset_of(const Tensor& x, int64_t i) {
  int64_t offset = 0;
  for (int64_t d = x.dim(); d-- > 0; i /= x.sizes()[d]) offset += i % x.sizes()[d] * x.strides()[d];
  return offset;
}
inline double get(const Tensor& x, int64_t i) {
  return visit(x.dtype(), [&]<class T>(TypeTag<T>) {
    return static_cast<double>(static_cast<const T*>(x.data_ptr())[offset_of(x, i)]);
  });
}
inline void set(const Tensor& x, int64_t i, double value) {
  visit(x.dtype(), [&]<class T>(TypeTag<T>) {
    static_cast<T*>(x.data_ptr())[offset_of(x, i)] = static_cast<T>(value);
  });
}

inline Tensor empty(IntArrayRef sizes, ScalarType dtype = kFloat) {
  return raw::empty(sizes, dtype, Device(kCPU));
}
inline Tensor tensor(IntArrayRef sizes, const std::vector<double>& values,
                     ScalarType dtype = kFloat) {
  Tensor out = empty(sizes, dtype);
  for (int64_t i = 0; i < out.numel(); ++i) set(out, i, values[static_cast<size_t>(i)]);
  return out;
}

// A tensor that may be row-major, permuted or with gaps in memory.
inline Tensor random_layout(IntArrayRef sizes, ScalarType dtype) {
  const int64_t rank = static_cast<int64_t>(sizes.size());
  std::vector<int64_t> order(sizes.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int64_t>(d);
  if (pick(0, 1)) std::shuffle(order.begin(), order.end(), rng());
  const bool gaps = pick(0, 1);
  Dims strides = Dims::filled(rank, 0);
  int64_t extent = gaps ? pick(1, 3) : 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = extent;
    extent *= sizes[order[i]] + (gaps ? pick(0, 2) : 0);
  }
  const int64_t offset = gaps ? pick(0, 5) : 0;
  return raw::as_strided(empty({extent + offset}, dtype), Dims(sizes.data(), sizes.size()), strides,
                         offset);
}

// The same, or broadcast along some dimensions; filled with values of [low, high), whole numbers
// for integers.
inline Tensor random_tensor(IntArrayRef sizes, ScalarType dtype, double low = -3, double high = 3) {
  Dims stored(sizes.data(), sizes.size());
  if (pick(0, 2) == 0)
    for (int64_t& size : stored)
      if (pick(0, 2) == 0) size = 1;
  const Tensor out = random_layout(stored, dtype);
  for (int64_t i = 0; i < out.numel(); ++i)
    set(out, i, isFloatingType(dtype) ? real(low, high) : std::floor(real(low, high)));
  return raw::expand(out, sizes);
}

}  // namespace gradus::test
