// Batch norm and the ReLU behind it, in training on a GPU: nobody keeps their result, and gradients
// of first and second order are those of the CPU.
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

class CudaBatchNormClamp : public GpuTest {};

enum class Clamp { relu, relu6, hardtanh };
constexpr Clamp kClamps[] = {Clamp::relu, Clamp::relu6, Clamp::hardtanh};

nn::Sequential network(Clamp clamp) {
  nn::Sequential out(nn::BatchNorm2d(8));
  switch (clamp) {
    case Clamp::relu:
      out->push_back(nn::ReLU());
      break;
    case Clamp::relu6:
      out->push_back(nn::ReLU6());
      break;
    case Clamp::hardtanh:
      out->push_back(nn::Hardtanh());
  }
  return out;
}

TEST_F(CudaBatchNormClamp, NobodyKeepsTheResult) {
  for (const Clamp clamp : kClamps)
    for (const ScalarType dtype : {kFloat, kBFloat16})
      for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
        if (dtype == kBFloat16 && format == MemoryFormat::Contiguous)
          continue;  // a copy in float32
        SCOPED_TRACE(testing::Message() << static_cast<int>(clamp) << " " << dtype);
        const nn::Sequential model = network(clamp);
        model->push_back(nn::MaxPool2d(2));
        model->to(kCUDA);
        const Tensor x = randn({4, 8, 32, 32}, kCUDA).to(dtype).contiguous(format).requires_grad_();
        const auto before = cuda::memory_stats().allocated;
        const Tensor y = model->forward(x);
        EXPECT_LT(cuda::memory_stats().allocated - before, static_cast<int64_t>(x.nbytes()));
        y.to(kFloat).sum().backward();
        EXPECT_GT(x.grad().abs().sum().item<float>(), 0);
      }
}

TEST_F(CudaBatchNormClamp, GradientsOfBothOrdersAreThoseOfTheCpu) {
  for (const Clamp clamp : kClamps)
    for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(clamp));
      const Tensor x = randn({3, 8, 5, 4}, kDouble), grad = randn({3, 8, 5, 4}, kDouble);
      const Tensor weight = randn({8}, kDouble), bias = randn({8}, kDouble);
      const auto all = [&](Device device) {
        const NoGradGuard guard;
        const nn::Sequential model = network(clamp);
        model->to(kDouble);
        const Tensors parameters = model->parameters();
        parameters[0].copy_(weight), parameters[1].copy_(bias);
        model->to(device);
        const AutoGradMode on(true);
        Tensors inputs = model->parameters();
        inputs.push_back(x.to(device).contiguous(format).requires_grad_());
        Tensors out = {model->forward(inputs[2])};
        for (const Tensor& each :
             autograd::grad({out[0]}, inputs, {grad.to(device)}, true, /*create_graph=*/true))
          out.push_back(each);
        const Tensor sum = out[1].square().sum() + out[3].square().sum();
        for (const Tensor& each : autograd::grad({sum}, {inputs[0], inputs[2]}))
          out.push_back(each);
        out.push_back(
            autograd::grad({model->forward(inputs[2])}, {inputs[2]}, {grad.to(device)})[0]);
        return out;
      };
      const Tensors expected = all(kCPU), got = all(kCUDA);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(got[i].cpu().allclose(expected[i], 1e-9, 1e-10)) << i;
    }
}

}  // namespace
}  // namespace gradus
