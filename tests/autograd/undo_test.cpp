// Nothing is left of a call that failed, and was then made another way: of vmap, which then calls
// its function for each sample, and of fuse, which traces it.
#include "gradus/autograd/engine/autocast.h"
#include "gradus/autograd/tools/functional.h"
#include "tests/support.h"

namespace gradus {
namespace {

using autograd::functional::vmap;

// All that a function may change around it, twice for each sample if a failed call left anything.
struct World {
  Tensor batch = arange(1, 7, kDouble).view({2, 3}), count = zeros({3}, kDouble);
  Tensor weight = ones({3}, kDouble).requires_grad_(), sum = zeros({3}, kDouble);
  Tensor turned = arange(6, kDouble).view({2, 3}), moved = zeros({2}, kDouble);
  nn::BatchNorm1d norm{nn::BatchNorm1dOptions(3).affine(false)};
  Tensor drawn;

  Tensor call(const Tensor& given, Tensor (*reads)(const Tensor&)) {
    const Tensor x = given;
    x.mul_(2);
    count.add_(1);
    count.view({3, 1})[0].mul_(2);
    sum.add_(weight * 2);
    turned.t_();
    moved.set_data(moved + 1);
    norm(turned.contiguous().view({2, 3}).to(kFloat));
    (weight * 3).sum().backward();
    drawn = rand({3}, kDouble);
    return reads(x);
  }
  // Numbers of what has changed.
  std::vector<double> numbers() {
    std::vector<double> out;
    sum.sum().backward();
    for (const Tensor& x : {batch, count, sum, turned.contiguous(), moved, weight.grad(),
                            norm->running_mean, norm->running_var, drawn})
      for (const double value : to_vector(x)) out.push_back(value);
    out.push_back(static_cast<double>(turned.size(0)));
    out.push_back(batch._version()), out.push_back(count._version());
    return out;
  }
};

TEST(Undo, OfACallOfVmap) {
  using Reads = Tensor (*)(const Tensor&);
  const std::pair<const char*, Reads> reasons[] = {
      {"item", [](const Tensor& x) { return x * x.sum().item<double>(); }},
      {"data_ptr", [](const Tensor& x) { return x * *x.data_ptr<double>(); }},
      {"masked_select", [](const Tensor& x) { return x.masked_select(x > 0); }},
      {"masked_scatter",
       [](const Tensor& x) { return x.masked_scatter(x > 0, zeros({3}, kDouble)); }},
      {"nonzero", [](const Tensor& x) { return x.nonzero(); }},
      {"unique", [](const Tensor& x) { return std::get<0>(gradus::_unique(x)); }},
      {"a vmap within", [](const Tensor& x) {
         return vmap([](const Tensor& y) { return y * y.item<double>(); })(x);
       }}};
  for (const auto& [name, reads] : reasons) {
    SCOPED_TRACE(name);
    World loop, mapped;
    manual_seed(3);
    Tensors rows;
    for (int64_t i = 0; i < 2; ++i) rows.push_back(loop.call(loop.batch[i], reads));
    manual_seed(3);
    const auto f = [&, reads = reads](const Tensor& x) { return mapped.call(x, reads); };
    expect_values(vmap(f, 0, 0, "different")(mapped.batch), to_vector(stack(rows)));
    EXPECT_EQ(mapped.numbers(), loop.numbers());
  }
}

// A trace runs the function, and the function is run again where it cannot be fused.
TEST(Undo, OfATraceOfFuse) {
  for (const bool fusable : {true, false}) {
    SCOPED_TRACE(fusable);
    const Tensor count = zeros({2}), x = rand({2, 3}, kDouble);
    Tensor turned = ones({2, 3});
    auto f = fuse([&](const Tensor& y) {
      count.add_(1);
      count.view({2, 1})[0].add_(10);
      turned.t_();
      return fusable ? y.exp() * 2 : std::get<0>(y.sort());
    });
    f(x), f(x), f(x);
    expect_values(count, {33, 3});
    EXPECT_EQ(turned.sizes(), IntArrayRef({3, 2}));
    EXPECT_NE(f.why_not(), "");
  }
  // What the function makes for itself may change.
  auto f = fuse([](const Tensor& y) { return y * tensor(1.0F).mul_(2); });
  expect_values(f(ones({2})), {2, 2});
  EXPECT_EQ(f.why_not(), "");
}

// A function of numbers writes the result that it is given by a loop of its own.
TEST(Undo, OfAResultThatVectorizeIsGiven) {
  const auto add = vectorize(GRADUS_SCALAR((float x, float y) { return x + y; }));
  for (const Device device : cpu_and_cuda()) {
    SCOPED_TRACE(device.str());
    const Tensor count = zeros({3}, device), batch = ones({2, 3}, device);
    const auto counts = [&](const Tensor& x) {
      add(count, 1, count);
      add(count.slice(0, 0, 1), 10, count.slice(0, 0, 1));
      return x * x.sum().item<float>();
    };
    vmap(counts)(batch);
    expect_values(count, {22, 2, 2});
    count.zero_();
    auto f = fuse(counts);
    f(batch), f(batch), f(batch);
    expect_values(count, {33, 3, 3});
  }
}

// A weight that autocast has converted within a call that failed is converted again.
TEST(Undo, OfWhatAutocastConverts) {
  const auto results = [](bool maps) {
    const Tensor weight = (arange(6, kFloat) / 4).view({2, 3}).requires_grad_();
    const Tensor batch = (arange(12, kFloat) / 8).view({2, 2, 3});
    const amp::autocast guard(kCPU);
    const auto f = [&](const Tensor& x) {
      {
        const NoGradGuard no_grad;
        weight.mul_(2);
      }
      const Tensor y = linear(x, weight);
      return y.to(kFloat) * y.sum().item<float>();
    };
    const Tensor y = maps ? vmap(f)(batch) : stack({f(batch[0]), f(batch[1])});
    y.sum().backward();
    return std::pair(to_vector(y), to_vector(weight.grad()));
  };
  EXPECT_EQ(results(true), results(false));
}

}  // namespace
}  // namespace gradus
