// Matrices that factorizations are tested with, and LAPACK's measure of their errors.
#pragma once

#include "tests/support.h"

namespace gradus::test {

struct NamedMatrix {
  std::string name;
  Tensor matrix;
};

// Of (m, n): random, graded over 12 orders of magnitude, Hilbert's, singular, zero; batches, a
// transposed one, and one with gaps in memory.
inline std::vector<NamedMatrix> matrices_of(int64_t m, int64_t n) {
  manual_seed(7 + m * 100 + n);
  const auto random = [](IntArrayRef sizes) { return randn(sizes, kDouble); };
  const Tensor rows = arange(m, kDouble).unsqueeze(1), columns = arange(n, kDouble);
  std::vector<NamedMatrix> out = {
      {"random", random({m, n})},
      {"graded",
       random({m, n}) * pow(10, -12 * columns / static_cast<double>(std::max<int64_t>(n, 1)))},
      {"Hilbert's", 1 / (rows + columns + 1)},
      {"of rank 1", random({m, 1}).matmul(random({1, n}))},
      {"zero", zeros({m, n}, kDouble)},
      {"batch", random({2, 3, m, n})},
      {"transposed batch", random({2, n, m}).mT()},
      {"with gaps", random({m, n, 2}).select(2, 1)},
      {"expanded", random({1, m, n}).expand({2, m, n})},
      {"empty batch", random({0, m, n})}};
  return out;
}

// Sizes of matrices: none, one element, tall, wide, square, larger than a block of LAPACK.
inline std::vector<std::array<int64_t, 2>> sizes_of_matrices() {
  return {{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 4}, {4, 1}, {3, 3}, {5, 3}, {3, 5}, {8, 8}, {40, 33}};
}

// A build or a machine without OpenBLAS has no LAPACK: all tests here are skipped then.
class NeedsLapack : public ::testing::Environment {
  void SetUp() override {
    try {
      linalg_cholesky(eye(1));
    } catch (const NotImplementedError& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

inline double epsilon_of(ScalarType dtype) { return dtype == kFloat ? 0x1p-23 : 0x1p-52; }

// The largest |difference| in a matrix over (its size * the 1-norm of `scale` * epsilon). LAPACK's
// own tests accept up to 30.
inline double ratio(const Tensor& difference, const Tensor& scale, ScalarType dtype) {
  if (difference.numel() == 0 || scale.numel() == 0) return 0;
  const auto norms = [](const Tensor& x) { return x.abs().sum(-2).amax(-1); };
  const double size = static_cast<double>(std::max(difference.size(-2), difference.size(-1)));
  const Tensor scales = norms(scale).clamp_min(1e-30) * (size * epsilon_of(dtype));
  return (norms(difference) / scales).max().item<double>();
}
#define EXPECT_RATIO(difference, scale, dtype) EXPECT_LT(ratio(difference, scale, dtype), 30)

// Q^T Q against the identity.
inline double orthogonality(const Tensor& q, ScalarType dtype) {
  const Tensor gram = q.mT().matmul(q);
  const Tensor one = eye(gram.size(-1), gram.options());
  return ratio(gram - one, one.expand(gram.sizes()), dtype);
}
inline Tensor wide(const Tensor& x) { return x.detach().to(kCPU).to(kDouble); }

// f(matrix, its name) for every matrix of every size, in both types, on every device. The matrix
// and what f computes with wide() are compared in float64.
template <class F>
void each_matrix(F f, bool square = false) {
  for (const Device device : cpu_and_cuda())
    for (const ScalarType dtype : {kFloat, kDouble})
      for (const auto& [m, n] : sizes_of_matrices()) {
        if (square && m != n) continue;
        for (const NamedMatrix& each : matrices_of(m, n)) {
          SCOPED_TRACE(each.name + " " + std::to_string(m) + " x " + std::to_string(n) + " " +
                       (dtype == kFloat ? "float32 " : "float64 ") + device.str());
          // The layout stays where the device does.
          f(device.is_cpu() ? each.matrix.to(dtype) : each.matrix.to(device, dtype), each.name);
        }
      }
}

}  // namespace gradus::test
