// softmax and log_softmax on a GPU against the CPU.
#include <limits>

#include "gradus/nn/modules/loss.h"
#include "gradus/tensor/factories.h"
#include "tests/cuda/compare.h"
#include "tests/support.h"

namespace gradus {
namespace {

std::string where(const char* what, bool log, ScalarType dtype, const std::string& layout,
                  int64_t dim) {
  return describe(what, dtype, layout) + (log ? ", log" : "") + " along " + std::to_string(dim);
}

// Against the CPU's result in float64. Elements are below 4; gradients are sums of n of them.
void compare(bool log, const Pair& x, const Pair& grad, int64_t dim, const std::string& layout) {
  const ScalarType dtype = x.cpu.dtype();
  const auto wide = [](const Tensor& t) { return raw::to(t, kDouble); };
  const Tensor expected = raw::softmax(log, wide(x.cpu), dim);
  const Tensor got = raw::softmax(log, x.gpu, dim);
  expect_close(got, expected, 4 * rounding(dtype), where("softmax", log, dtype, layout, dim));
  const auto n = static_cast<double>(x.cpu.dim() > 0 ? x.cpu.size(dim) : 1);
  expect_close(
      raw::softmax_grad(log, grad.gpu, raw::to(raw::to(expected, dtype), Device(kCUDA)), dim),
      raw::softmax_grad(log, wide(grad.cpu), expected, dim),
      rounding(dtype) * 8 * (1 + std::sqrt(n)), where("gradient", log, dtype, layout, dim));
}

class CudaSoftmax : public GpuTest {};

TEST_F(CudaSoftmax, EveryDimensionOfEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const Pair x = random_pair(dtype, layout), grad = random_pair(dtype, layout);
      const auto rank = std::max<int64_t>(std::ssize(layout.sizes), 1);
      for (int64_t d = 0; d < rank; ++d)
        for (const bool log : {false, true}) compare(log, x, grad, d, layout.name);
    }
}

// Extents around those at which the kernels change their method, with aligned and odd rows.
TEST_F(CudaSoftmax, RowsAndColumnsOfEveryLength) {
  for (const int64_t n : {1, 2, 4, 7, 8, 16, 31, 64, 100, 129, 512, 513, 1024, 1025, 1100, 2052})
    for (const int64_t m : {int64_t{1}, int64_t{3}, pick(64, 80)})
      for (const ScalarType dtype : {kFloat, kDouble}) {
        const MemoryLayout rows =
            contiguous_layout("length " + std::to_string(n), {m, n}, pick(0, 1) * 3);
        const MemoryLayout columns =
            contiguous_layout("columns of " + std::to_string(n), {n, m}, pick(0, 1));
        const bool log = pick(0, 1);
        compare(log, random_pair(dtype, rows), random_pair(dtype, rows), 1, rows.name);
        compare(log, random_pair(dtype, columns), random_pair(dtype, columns), 0, columns.name);
      }
}

// Lines of several tiles, which are read twice.
TEST_F(CudaSoftmax, LongLines) {
  const int64_t odd = pick(1, 99);
  const MemoryLayout layouts[] = {
      contiguous_layout("one long row", {40000 + odd}),
      contiguous_layout("two long rows of vectors", {2, 16400}),
      contiguous_layout("long rows at odd addresses", {3, 9000 + odd}, 1),
      contiguous_layout("rows that begin anywhere in a vector", {7, 2000 + odd}),
      contiguous_layout("rows of whole tiles", {2, 16384}),
      contiguous_layout("rows of which some stays in shared memory", {2, 24000 + odd}),
      contiguous_layout("the same by vectors", {2, 50000}),
      contiguous_layout("rows of which some is read twice", {1, 140000 + odd}),
      contiguous_layout("few long columns", {20000 + odd, 3}),
      {"every second", {30000}, {2}, 1}};
  for (const MemoryLayout& layout : layouts)
    for (const ScalarType dtype : {kFloat, kDouble}) {
      // Falling and rising lines, of which the largest elements stand at one end.
      const Pair x = random_pair(dtype, layout, {-40, 40}), grad = random_pair(dtype, layout);
      const int64_t d = layout.sizes[0] < 1000 ? 1 : 0;
      for (const bool log : {false, true})
        if (!kSimulated || log == (dtype == kFloat)) compare(log, x, grad, d, layout.name);
    }
}

// So few lines that a block for each would leave the rest of the GPU idle.
// With the static memory of the kernel they need more than a kernel has unasked.
TEST_F(CudaSoftmax, GradientsOfLinesThatFillSharedMemory) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {2, 6140}));
  const Pair grad = random_pair(kFloat, contiguous_layout("", {2, 6140}));
  const auto slope = [](const Tensor& of, const Tensor& g) {
    const Tensor leaf = of.detach().requires_grad_();
    softmax(leaf, 1).backward(g);
    return leaf.grad();
  };
  expect_close(slope(x.gpu, grad.gpu), slope(x.cpu, grad.cpu), 1e-6, "lines of 6140 floats");
}

TEST_F(CudaSoftmax, FewLinesOfGreatLength) {
  constexpr int64_t kLong = 1 << 17;
  const MemoryLayout layouts[] = {contiguous_layout("one row", {kLong + pick(0, 9)}),
                                  contiguous_layout("three rows", {3, kLong}, 1),
                                  contiguous_layout("two columns", {kLong, 2})};
  for (const MemoryLayout& layout : layouts) {
    const Pair x = random_pair(kFloat, layout, {-90, 90}), grad = random_pair(kFloat, layout);
    const int64_t d = layout.sizes[0] < 1000 ? 1 : 0;
    for (const bool log : {false, true}) compare(log, x, grad, d, layout.name);
  }
  const Pair x = random_pair(kFloat, layouts[1]);
  cpu_backend().softmax(true, x.cpu, 1, x.cpu);
  cuda_backend().softmax(true, x.gpu, 1, x.gpu);
  expect_close(x.gpu, x.cpu, 1e-5, "in place");
}

// The largest element so far grows from tile to tile, or is -infinity for a while.
TEST_F(CudaSoftmax, TheLargestElementMayStandAnywhere) {
  constexpr int64_t n = 20000;
  const double inf = std::numeric_limits<double>::infinity();
  const auto line = [&](const auto& f) {
    const Tensor out = raw::empty({n}, kFloat, Device(kCPU));
    for (int64_t i = 0; i < n; ++i) out.data_ptr<float>()[i] = static_cast<float>(f(i));
    return out;
  };
  const int64_t some = pick(0, n - 1);
  const Tensor lines[] = {line([](int64_t i) { return static_cast<double>(i) / 100; }),
                          line([](int64_t i) { return -static_cast<double>(i) / 100; }),
                          line([&](int64_t i) { return i == some ? 500 : -500; }),
                          line([&](int64_t i) { return i < some ? -inf : -1000; }),
                          line([&](int64_t i) { return i > some ? -inf : -1000; }),
                          line([&](int64_t) { return -inf; }),
                          line([&](int64_t i) { return i == some ? inf : 0; }),
                          line([&](int64_t i) { return i == some ? std::nan("") : 0; })};
  for (const Tensor& x : lines)
    for (const int64_t count : {int64_t{7}, n})
      for (const bool log : {false, true}) {
        const Tensor own = raw::narrow(x, 0, std::min(some, n - count), count);
        const Tensor expected = raw::softmax(log, raw::to(own, kDouble), 0);
        const std::string what = where("softmax", log, kFloat, std::to_string(count), 0);
        expect_close(raw::softmax(log, raw::to(own, Device(kCUDA)), 0), expected, 4e-6, what);
        const Tensor columns = raw::clone(raw::expand(raw::unsqueeze(own, 1), {count, 2}));
        expect_close(raw::narrow(raw::softmax(log, raw::to(columns, Device(kCUDA)), 0), 1, 1, 1),
                     raw::unsqueeze(expected, 1), 4e-6, what + " of columns");
      }
}

TEST_F(CudaSoftmax, WritesAViewAndNothingElse) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {6, 7, 5}));
  for (const int64_t d : {0, 1, 2}) {
    const Pair out = random_pair(kFloat, {"a view", {6, 7, 5}, {120, 16, 3}, 2});
    cpu_backend().softmax(false, x.cpu, d, out.cpu);
    cuda_backend().softmax(false, x.gpu, d, out.gpu);
    expect_close(out.gpu_all, out.cpu_all, 4e-6, "dimension " + std::to_string(d));
    const Tensor y = raw::softmax(true, x.cpu, d);
    cpu_backend().softmax_grad(true, x.cpu, y, d, out.cpu);
    cuda_backend().softmax_grad(true, x.gpu, raw::to(y, Device(kCUDA)), d, out.gpu);
    expect_close(out.gpu_all, out.cpu_all, 1e-5, "gradient, dimension " + std::to_string(d));
  }
}

TEST_F(CudaSoftmax, InPlace) {
  for (const Dims& sizes : {Dims{5, 40}, Dims{2, 9000}}) {
    const Pair x = random_pair(kFloat, contiguous_layout("", sizes));
    for (const int64_t d : {0, 1}) {
      cpu_backend().softmax(true, x.cpu, d, x.cpu);
      cuda_backend().softmax(true, x.gpu, d, x.gpu);
      expect_close(x.gpu, x.cpu, 1e-5, "along " + std::to_string(d));
    }
  }
}

TEST_F(CudaSoftmax, IsOneLaunch) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {64, 60}));
  for (const int64_t d : {0, 1}) {
    const int64_t before = cuda::stats().kernel_launches;
    raw::softmax(true, x.gpu, d);
    EXPECT_EQ(cuda::stats().kernel_launches - before, 1);
  }
}

// By one block, and for many rows by several.
TEST_F(CudaSoftmax, MeansOfCrossEntropies) {
  for (const int64_t n : {1, 300, 33000}) {
    const Pair x = random_pair(kFloat, contiguous_layout("", {n, 3}));
    const Tensor target = arange(n).remainder(3), weight = rand({3}) + 0.5;
    const CrossEntropyRule rule = {{"test", 1, 3}, 1, 0.125};
    const Device gpu(kCUDA);
    const int64_t before = cuda::stats().kernel_launches;
    const Tensor there[] = {raw::to(target, gpu), raw::to(weight, gpu)};
    const auto got = raw::cross_entropy(rule, x.gpu, there[0], there[1], true);
    if (n <= 300) {
      EXPECT_EQ(cuda::stats().kernel_launches - before, 2);
    }
    const auto expected =
        raw::cross_entropy(rule, raw::to(x.cpu, kDouble), target, raw::to(weight, kDouble), true);
    expect_close(got.first, expected.first, 1e-5, "of each row");
    expect_close(got.second, expected.second, 1e-5, "mean");
    const Tensor shares = raw::reduce(ReduceOp::sum, raw::narrow(got.first, 0, 1, 1), {});
    expect_close(shares, ones({1, 1}), 1e-4, "the factors are shares");
  }
}

TEST_F(CudaSoftmax, CrossEntropyNamesTargetsOfAnotherDevice) {
  const Tensor x = randn({4, 3}, kCUDA), target = zeros({4}, kLong);
  expect_error<Error>([&] { nn::functional::cross_entropy(x, target); },
                      "cross_entropy: input is on cuda:0, target on cpu; move one with .to(...)");
}

}  // namespace
}  // namespace gradus
