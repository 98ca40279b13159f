// Batch norm by running statistics on a GPU: one kernel, and what follows it, against formulas in
// float64 and against the CPU.
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

class CudaBatchNormEval : public GpuTest {};

struct Given {
  Tensor x, weight, bias, mean, variance;

  Given(IntArrayRef sizes, ScalarType dtype, bool affine) {
    const auto list = [&] { return randn({sizes[1]}, kDouble).to(parameter_type(dtype)); };
    x = (randn(sizes, kDouble) * 2 + 1).to(dtype);
    if (affine) weight = list(), bias = list();
    mean = list(), variance = list().abs() + 0.1;
  }
  static ScalarType parameter_type(ScalarType dtype) { return dtype == kDouble ? kDouble : kFloat; }
  Given to(Device device) const {
    Given out = *this;
    for (Tensor* t : {&out.x, &out.weight, &out.bias, &out.mean, &out.variance})
      if (t->defined()) *t = t->to(device);
    return out;
  }
  Tensor operator()() const {
    return batch_norm(x, weight, bias, mean, variance, false, 0.1, 1e-3, true);
  }
  // The formula, in float64.
  Tensor plain() const {
    Dims column = Dims::filled(x.dim(), 1);
    column[1] = x.size(1);
    const auto wide = [&](const Tensor& t) { return t.to(kDouble).view(column); };
    Tensor y = (x.to(kDouble) - wide(mean)) / (wide(variance) + 1e-3).sqrt();
    return weight.defined() ? y * wide(weight) + wide(bias) : y;
  }
};

const std::vector<std::vector<int64_t>> shapes{{5, 6},       {3, 8},       {3, 5, 7},
                                               {2, 8, 4, 4}, {2, 3, 7, 7}, {2, 4, 2, 3, 2}};

MemoryFormat last_of(int64_t dim) {
  return dim == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
}

TEST_F(CudaBatchNormEval, IsOneLaunchAndRoundsOnce) {
  const NoGradGuard guard;
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (const auto& sizes : shapes)
      for (const bool affine : {false, true})
        for (const bool last : {false, true}) {
          if (last && sizes.size() < 4) continue;
          SCOPED_TRACE(testing::Message() << sizes.size() << " dimensions, " << dtype << ", "
                                          << affine << ", " << last);
          const Given on_cpu(sizes, dtype, affine);
          Given given = on_cpu.to(kCUDA);
          const auto format = last ? last_of(given.x.dim()) : MemoryFormat::Contiguous;
          given.x = given.x.contiguous(format);
          const auto before = cuda::stats().kernel_launches;
          const Tensor y = given();
          EXPECT_EQ(cuda::stats().kernel_launches - before, 1);
          EXPECT_EQ(y.dtype(), dtype);
          EXPECT_TRUE(y.is_contiguous(format));
          const double unit = dtype == kHalf ? 0x1p-11 : dtype == kBFloat16 ? 0x1p-8 : 0;
          const Tensor expected = on_cpu.plain(),
                       apart = (y.to(kCPU).to(kDouble) - expected).abs() - expected.abs() * unit;
          EXPECT_LE(apart.max().item<double>(), rounding(Given::parameter_type(dtype)) * 64);
        }
}

// Of a first and of a second order, also where statistics move before the backward pass.
TEST_F(CudaBatchNormEval, HasTheGradientsOfTheCpu) {
  for (const auto& sizes : shapes)
    for (const bool affine : {false, true})
      for (const bool last : {false, true}) {
        if (last && sizes.size() < 4) continue;
        const Given given(sizes, kDouble, affine);
        const Tensor grad = randn(sizes, kDouble);
        const auto all = [&](Device device) {
          Given there = given.to(device);
          if (last) there.x = there.x.contiguous(last_of(there.x.dim()));
          Tensors inputs = {there.x};
          if (affine) inputs.push_back(there.weight), inputs.push_back(there.bias);
          for (const Tensor& each : inputs) each.set_requires_grad(true);
          there.mean = there.mean.clone(), there.variance = there.variance.clone();
          Tensors out = {there()};
          EXPECT_EQ(out[0].grad_fn()->name() == "NativeBatchNormBackward0", device.is_cuda());
          if (device.is_cuda()) there.mean.zero_(), there.variance.fill_(7);
          for (const bool twice : {true, false}) {
            if (!twice && device.is_cuda()) {
              there.mean.copy_(given.mean), there.variance.copy_(given.variance);
            }
            const Tensor y = twice ? out[0] : there();
            const Tensors first = autograd::grad({y}, inputs, {grad.to(device)}, true, twice);
            for (const Tensor& each : first) out.push_back(each);
            if (!twice || !affine) continue;
            const Tensor sum = first[0].square().sum() + first[1].square().sum();
            for (const Tensor& each : autograd::grad({sum}, {there.x, there.weight}))
              out.push_back(each);
          }
          return out;
        };
        const Tensors expected = all(kCPU), got = all(kCUDA);
        ASSERT_EQ(got.size(), expected.size());
        for (size_t i = 0; i < got.size(); ++i)
          EXPECT_TRUE(got[i].cpu().allclose(expected[i], 1e-9, 1e-10)) << i;
      }
}

// A clamp, a sum and both in the same launch after eval(), unless something is recorded.
TEST_F(CudaBatchNormEval, TakesWhatFollows) {
  nn::BatchNorm2d norm(4);
  nn::Sequential clamped(norm, nn::ReLU6());
  clamped->to(kCUDA), clamped->eval();
  {
    const NoGradGuard guard;
    norm->running_mean.copy_(randn({4})), norm->weight.copy_(randn({4}) * 4);
  }
  for (const auto format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast})
    for (const ScalarType dtype : {kFloat, kHalf}) {
      const Tensor x = randn({2, 4, 3, 3}).to(kCUDA).to(dtype).contiguous(format),
                   identity = randn({2, 4, 3, 3}).to(kCUDA).to(dtype).contiguous(format);
      const double unit = dtype == kHalf ? 0x1p-9 : 1e-6;
      const auto compare = [&](const char* name, int64_t launches, const auto& f,
                               const Tensor& expected) {
        SCOPED_TRACE(name);
        const NoGradGuard guard;
        const auto before = cuda::stats().kernel_launches;
        const Tensor y = f();
        if (launches > 0) {
          EXPECT_EQ(cuda::stats().kernel_launches - before, launches);
        }
        EXPECT_TRUE(y.to(kFloat).allclose(expected, unit, unit));
        EXPECT_TRUE(y.is_contiguous(format));
      };
      const Tensor alone = norm->forward(x.to(kFloat)).detach();
      const int64_t one = dtype == kFloat || format == MemoryFormat::ChannelsLast ? 1 : 0;
      compare(
          "relu6", one, [&] { return clamped->forward(x); }, alone.clamp(0, 6));
      compare(
          "add", one, [&] { return nn::detail::norm_add(*norm, x, identity); },
          alone + identity.to(kFloat));
      compare(
          "add and relu", one, [&] { return nn::detail::norm_add_relu(*norm, x, identity); },
          (alone + identity.to(kFloat)).relu());
    }
  const Tensor x = randn({2, 4, 3, 3}).to(kCUDA).set_requires_grad(true);
  EXPECT_EQ(clamped->forward(x).grad_fn()->name(), "HardtanhBackward0");
}

}  // namespace
}  // namespace gradus
