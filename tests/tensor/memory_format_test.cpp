// Memory formats: strides, what suggests them, and the functions that take one.
#include <gtest/gtest.h>

#include "gradus/gradus.h"
#include "tests/support.h"

namespace gradus {
namespace {

constexpr MemoryFormat kLast = MemoryFormat::ChannelsLast, kRows = MemoryFormat::Contiguous,
                       kLast3d = MemoryFormat::ChannelsLast3d, kKept = MemoryFormat::Preserve;

Tensor strided(IntArrayRef sizes, IntArrayRef strides) { return empty_strided(sizes, strides); }

// As PyTorch's rule reads them.
TEST(MemoryFormats, AreReadFromStrides) {
  const struct {
    std::vector<int64_t> sizes, strides;
    MemoryFormat suggested;
    bool is_last, is_rows;
  } cases[] = {{{2, 3, 4, 5}, {60, 20, 5, 1}, kRows, false, true},
               {{2, 3, 4, 5}, {60, 1, 15, 3}, kLast, true, false},
               {{2, 3, 4, 5}, {120, 1, 30, 6}, kLast, false, false},  // each second channel
               {{2, 1, 4, 5}, {20, 20, 5, 1}, kRows, true, true},
               {{2, 1, 4, 5}, {20, 1, 5, 1}, kLast, true, true},
               {{2, 3, 1, 1}, {3, 1, 1, 1}, kRows, true, true},
               {{2, 3, 1, 1}, {3, 1, 3, 3}, kLast, true, true},
               {{2, 1, 1, 1}, {1, 1, 1, 1}, kRows, true, true},
               {{2, 3, 4, 5}, {60, 0, 15, 3}, kRows, false, false},
               {{2, 3, 4}, {12, 1, 3}, kRows, false, false}};
  for (const auto& [sizes, strides, suggested, is_last, is_rows] : cases) {
    const Tensor x = strided(sizes, strides);
    std::ostringstream at;
    at << IntArrayRef(sizes) << " by " << IntArrayRef(strides);
    SCOPED_TRACE(at.str());
    EXPECT_EQ(x.suggest_memory_format(), suggested);
    EXPECT_EQ(x.is_contiguous(kLast), is_last);
    EXPECT_EQ(x.is_contiguous(), is_rows);
    EXPECT_EQ(x.is_contiguous(kRows), is_rows);
  }
  const Tensor volume = empty({2, 3, 4, 5, 6}, kFloat, kLast3d);
  EXPECT_EQ(volume.strides(), IntArrayRef({360, 1, 90, 18, 3}));
  EXPECT_EQ(volume.suggest_memory_format(), kLast3d);
}

TEST(MemoryFormats, AreMadeByEachFunctionThatTakesOne) {
  const Tensor x = arange(120).to(kFloat).view({2, 3, 4, 5});
  const Tensor last = x.contiguous(kLast);
  EXPECT_EQ(last.strides(), IntArrayRef({60, 1, 15, 3}));
  EXPECT_TRUE(last.equal(x));
  EXPECT_TRUE(last.contiguous(kLast).is_same(last));
  for (const Tensor& y :
       {x.to(kLast), x.clone(kLast), x.to(kDouble, false, false, kLast), last.clone(),
        last.to(kHalf), empty_like(last), empty_like(x, {}, kLast), zeros_like(x, {}, kLast),
        empty({2, 3, 4, 5}, memory_format(kLast)), zeros({2, 3, 4, 5}, memory_format(kLast)),
        last.to(kKept), last.relu(), last + x, last * last, ones_like(last), rand_like(last)})
    EXPECT_EQ(y.strides(), last.strides());
  EXPECT_TRUE(last.contiguous().is_contiguous());
  EXPECT_TRUE(last.clone(kRows).is_contiguous());
  EXPECT_TRUE(x.to(kDouble, false, false, kLast).equal(x.to(kDouble)));
}

TEST(MemoryFormats, AreKeptByTheGradientOfAParameter) {
  const Tensor w = rand({4, 3, 2, 2}).contiguous(kLast).set_requires_grad(true);
  (w * w).sum().backward();
  EXPECT_EQ(w.grad().strides(), w.strides());
  const Tensor x = rand({2, 3, 4, 5}).set_requires_grad(true);
  x.contiguous(kLast).pow(2).sum().backward();
  EXPECT_TRUE(x.grad().equal(2 * x.detach()));
}

TEST(MemoryFormats, AreKeptByAnOptimizer) {
  const Tensor values = rand({4, 3, 2, 2}), grad = rand({4, 3, 2, 2});
  const auto stepped = [&](const Tensor& w) {
    const void* const memory = w.data_ptr();
    optim::AdamW adamw({w}, optim::AdamWOptions(0.1));
    for (int step = 0; step < 3; ++step) {
      w.mutable_grad() = step == 1 ? grad.clone() : grad.contiguous(kLast);
      adamw.step();
    }
    EXPECT_EQ(w.data_ptr(), memory);
    return w.detach();
  };
  const Tensor rows = stepped(values.clone().set_requires_grad(true));
  const Tensor last = stepped(values.clone(kLast).set_requires_grad(true));
  EXPECT_TRUE(last.equal(rows));
  EXPECT_TRUE(last.is_contiguous(kLast));
}

TEST(MemoryFormats, NeedTheirNumberOfDimensions) {
  expect_error<ValueError>([] { ones({1}).contiguous(kLast); },
                           "required rank 4 tensor to use channels_last format, but got shape [1]");
  expect_error<ValueError>(
      [] {
        empty({2, 3, 4, 5}, kFloat, kLast3d);
      },
      "required rank 5 tensor to use channels_last_3d format");
  expect_error<NotImplementedError>(
      [] {
        rand_like(ones({2, 3, 4, 5}), {}, kLast);
      },
      "rand_like: a channels-last memory format was asked for");
}

// Layers give the format of their input, or of their weight, and the values of row-major ones.
TEST(MemoryFormats, AreKeptFromLayerToLayer) {
  manual_seed(3);
  const Tensor x = randn({2, 3, 7, 6}).set_requires_grad(true);
  nn::Conv2d conv(nn::Conv2dOptions(3, 4, 3).padding(1));
  nn::BatchNorm2d norm(4);
  const auto run = [&](const Tensor& input) {
    x.mutable_grad() = Tensor();
    const Tensor y = norm->forward(conv->forward(input));
    const Tensor pooled = max_pool2d(y.relu() + y, 2);
    const Tensor mean = adaptive_avg_pool2d(avg_pool2d(pooled, {2, 1}), 1);
    mean.pow(2).sum().backward();
    return std::vector<Tensor>{y, pooled, mean, x.grad()};
  };
  const std::vector<Tensor> expected = run(x), got = run(x.contiguous(kLast));
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(allclose(got[i], expected[i], 1e-5, 1e-6)) << i;
    EXPECT_EQ(got[i].suggest_memory_format(), i < 3 ? kLast : kRows) << i;
    EXPECT_EQ(expected[i].suggest_memory_format(), kRows) << i;
  }
  conv->weight.set_data(conv->weight.detach().contiguous(kLast));
  EXPECT_EQ(conv->forward(x).suggest_memory_format(), kLast);
  norm->eval();
  EXPECT_EQ(norm->forward(got[0]).suggest_memory_format(), kLast);
}

}  // namespace
}  // namespace gradus
