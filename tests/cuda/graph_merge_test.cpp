// Products of few rows in graphs, and what stands before and behind them: one kernel where it may
// be one, with the bits of several.
#include <functional>

#include "gradus/gradus.h"
#include "tests/cuda/compare.h"
#include "tests/support.h"

namespace gradus {
namespace {

class GraphMergeTest : public GpuTest {
 protected:
  using Function = std::function<Tensors()>;

  // How many kernels f launches while it is captured. The results of a replay are those of f.
  static int64_t kernels(const Function& f) {
    const Tensors expected = f();
    const cuda::StreamGuard guard(cuda::getStreamFromPool());
    cuda::Graph graph;
    graph.capture_begin();
    const int64_t before = cuda::stats().kernel_launches;
    const Tensors got = f();
    const int64_t launched = cuda::stats().kernel_launches - before;
    graph.capture_end();
    for (const Tensor& each : got) each.fill_(7);
    graph.replay();
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(got[i].cpu().equal(expected[i].cpu())) << "result " << i;
    return launched;
  }
};

struct Product {
  Tensor x, weight, bias, other;
  Product(int64_t rows, ScalarType dtype, int64_t terms = 64, int64_t columns = 72)
      : x(random_memory(dtype, rows * terms, {-1, 1}).view({rows, 1, terms}).cuda()),
        weight(random_memory(dtype, columns * terms, {-1, 1}).view({columns, terms}).cuda()),
        bias(random_memory(dtype, columns, {-1, 1}).cuda()),
        other(random_memory(dtype, rows * columns, {-1, 1}).view({rows, 1, columns}).cuda()) {}
  Tensor operator()() const { return linear(x, weight, bias); }
};

TEST_F(GraphMergeTest, WhatFollowsIsDoneByTheProduct) {
  for (const ScalarType dtype : {kBFloat16, kHalf})
    for (const int64_t rows : {1, 3, 16}) {
      SCOPED_TRACE(rows);
      const Product product(rows, dtype);
      const auto expect_one = [&](const char* what, const auto& f) {
        SCOPED_TRACE(what);
        EXPECT_EQ(kernels([&] {
                    const Tensor h = product();
                    return Tensors{f(h), h};
                  }),
                  1);
      };
      expect_one("gelu", [](const Tensor& h) { return gelu(h); });
      expect_one("relu", [](const Tensor& h) { return relu(h); });
      expect_one("silu", [](const Tensor& h) { return silu(h); });
      expect_one("in place", [](const Tensor& h) { return h.relu_(); });
      expect_one("sum", [&](const Tensor& h) { return h + product.other; });
      expect_one("sum", [&](const Tensor& h) { return product.other + h; });
      expect_one("product", [&](const Tensor& h) { return product.other * h; });
    }
}

TEST_F(GraphMergeTest, AddsToWhatItReads) {
  const Product product(2, kBFloat16);
  const Tensor sum = product.other.clone();
  cuda::Graph graph;
  const cuda::StreamGuard guard(cuda::getStreamFromPool());
  graph.capture_begin();
  const int64_t before = cuda::stats().kernel_launches;
  sum.add_(product());
  EXPECT_EQ(cuda::stats().kernel_launches - before, 1);
  graph.capture_end();
  Tensor expected = product.other;
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    expected = expected + product();
    EXPECT_TRUE(sum.equal(expected)) << i;
  }
}

// Keys and values, which a model that generates puts into its cache.
TEST_F(GraphMergeTest, ColumnsArePutIntoACache) {
  for (const int64_t rows : {1, 5}) {
    const Product product(rows, kBFloat16);
    const Tensor place = full({1}, 3, TensorOptions(kLong).device(kCUDA));
    Tensor cache;
    const auto f = [&](int64_t first, int64_t count) {
      cache = zeros({rows, 9, count}, TensorOptions(kBFloat16).device(kCUDA));
      const Tensor h = product();
      cache.index_copy_(1, place, h.narrow(-1, first, count));
      return Tensors{cache, h};
    };
    EXPECT_EQ(kernels([&] { return f(24, 48); }), 2) << "with that of zeros";
    EXPECT_EQ(kernels([&] { return f(0, 72); }), 2);
    EXPECT_EQ(kernels([&] { return f(5, 7); }), 2);
  }
}

TEST_F(GraphMergeTest, APlaceOutOfRangeIsAnError) {
  const Product product(1, kBFloat16);
  const Tensor place = full({1}, 9, TensorOptions(kLong).device(kCUDA));
  const Tensor cache = zeros({1, 9, 72}, TensorOptions(kBFloat16).device(kCUDA));
  const cuda::StreamGuard guard(cuda::getStreamFromPool());
  cuda::Graph graph;
  graph.capture_begin();
  cache.index_copy_(1, place, product());
  graph.capture_end();
  graph.replay();
  expect_error<IndexError>([] { cuda::synchronize(); }, "index_copy: index 9 is out of bounds");
  EXPECT_EQ(cache.abs().sum().item<double>(), 0);
}

TEST_F(GraphMergeTest, ALayerNormIsDoneByTheProductBehindIt) {
  const NoGradGuard guard;
  for (const ScalarType dtype : {kBFloat16, kHalf})
    for (const int64_t terms : {256, 264, 768, 2048}) {
      SCOPED_TRACE(terms);
      const Product product(1, dtype, terms, 520);  // too long for the memory of a mean
      const Tensor weight = random_memory(dtype, terms, {-1, 1}).cuda();
      const Tensor bias = random_memory(dtype, terms, {-1, 1}).cuda();
      const auto steps = [&](const Tensor& w, const Tensor& b) {
        const Tensor x = layer_norm(product.x, {terms}, w, b);
        const Tensor h = linear(x, product.weight, product.bias);
        return Tensors{x, h, gelu(h)};
      };
      EXPECT_EQ(kernels([&] { return steps(weight, bias); }), 1);
      EXPECT_EQ(kernels([&] { return steps({}, {}); }), 1);
    }
}

TEST_F(GraphMergeTest, OtherLayerNormsKeepTheirKernel) {
  const NoGradGuard guard;
  const auto expect = [](int64_t count, const char* what, int64_t rows, int64_t terms,
                         int64_t columns, const auto& f) {
    SCOPED_TRACE(what);
    const Product product(rows, kBFloat16, terms, columns);
    EXPECT_EQ(kernels([&] {
                const Tensor x = layer_norm(product.x, {terms});
                return Tensors{f(product, x), x};
              }),
              count);
  };
  const auto multiplied = [](const Product& product, const Tensor& x) {
    return linear(x, product.weight, product.bias);
  };
  expect(2, "two rows", 2, 256, 72, multiplied);
  expect(2, "a short row", 1, 128, 72, multiplied);
  expect(2, "many columns", 1, 256, 8 * 512 + 8, multiplied);
  expect(2, "of something else", 1, 256, 72, [](const Product& product, const Tensor&) {
    return linear(product.x, product.weight, product.bias);
  });
  expect(3, "work between", 1, 256, 72, [](const Product& product, const Tensor& x) {
    const Tensor between = x.relu();
    return linear(x, product.weight, product.bias);
  });
}

// The last product of a model that generates, in the memory of what was normalised.
TEST_F(GraphMergeTest, MemoryOfANormalizedRowIsNotWritten) {
  const NoGradGuard guard;
  const Product product(1, kBFloat16, 256, 256);
  bool reused = false;
  const int64_t launched = kernels([&] {
    Tensor x = product.x * 2;
    const void* const memory = x.data_ptr();
    const Tensor row = layer_norm(x, {256});
    x = Tensor();
    const Tensor y = linear(row, product.weight);
    reused = y.data_ptr() == memory;
    return Tensors{y, row};
  });
  EXPECT_TRUE(reused);
  EXPECT_EQ(launched, 3);
}

TEST_F(GraphMergeTest, OtherWorkKeepsItsKernel) {
  const Product product(4, kBFloat16);
  const auto expect_two = [&](const char* what, const auto& f) {
    SCOPED_TRACE(what);
    EXPECT_EQ(kernels([&] {
                const Tensor h = product();
                return Tensors{f(h), h};
              }),
              2);
  };
  expect_two("of itself", [](const Tensor& h) { return h * h; });
  expect_two("of a part", [](const Tensor& h) { return relu(h.narrow(-1, 0, 40)); });
  expect_two("of another order", [](const Tensor& h) { return relu(h.transpose(0, 2)); });
  expect_two("broadcast", [&](const Tensor& h) { return h + product.bias; });
  expect_two("another dtype", [&](const Tensor& h) { return h.to(kFloat); });
  expect_two("another function", [&](const Tensor& h) { return h.tanh(); });
  expect_two("of something else", [&](const Tensor&) { return relu(product.other); });
  EXPECT_EQ(kernels([&] {
              const Tensor h = product(), first = h.relu();
              return Tensors{gelu(h), first, h};
            }),
            2)
      << "a second function";
  EXPECT_EQ(kernels([&] {
              const Tensor h = product(), between = product.other.relu();
              return Tensors{h.relu(), between};
            }),
            3)
      << "work between";
}

// A product reads all of its operands while it writes, so their memory cannot take the result of
// what follows.
TEST_F(GraphMergeTest, MemoryOfAnOperandIsNotWritten) {
  const Product product(4, kBFloat16, 72, 72);
  bool reused = false;
  const int64_t launched = kernels([&] {
    Tensor x = product.x * 2;
    const void* const memory = x.data_ptr();
    const Tensor h = linear(x, product.weight);
    x = Tensor();
    const Tensor y = relu(h);
    reused = y.data_ptr() == memory;
    return Tensors{y};
  });
  EXPECT_TRUE(reused);
  EXPECT_EQ(launched, 3);
}

TEST_F(GraphMergeTest, GradientsAreThoseOfTwoKernels) {
  const Product product(3, kBFloat16);
  const Tensor weight = product.weight.clone().set_requires_grad(true);
  kernels([&] {
    const Tensor y = gelu(linear(product.x, weight, product.bias));
    return Tensors{y.detach(), autograd::grad({(y * product.other).sum()}, {weight})[0]};
  });
}

}  // namespace
}  // namespace gradus
