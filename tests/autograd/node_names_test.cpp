// grad_fn()->name() is PyTorch's name, so that programs that inspect graphs find the same names.
#include "gradus/autograd/engine/node.h"
#include "tests/support.h"

namespace gradus {
namespace {

TEST(NodeNames, ArePyTorchs) {
  const Tensor x = rand({2, 3}, requires_grad()), v = rand({3}, requires_grad());
  const Tensor w = rand({3, 4}, requires_grad()), b = rand({4}),
               batch = rand({2, 3, 4}, requires_grad());
  const Tensor index = zeros({1, 3}, kLong);
  const auto expect = [](const Tensor& y, const char* name) {
    ASSERT_TRUE(y.grad_fn()) << name;
    EXPECT_EQ(y.grad_fn()->name(), name);
  };
  expect(x + 1, "AddBackward0");
  expect(x + x, "AddBackward0");
  expect(x - 1, "SubBackward0");
  expect(1 - x, "RsubBackward1");
  expect(x * 2, "MulBackward0");
  expect(x / x, "DivBackward0");
  expect(x.pow(2), "PowBackward0");
  expect(x.pow(x), "PowBackward1");
  expect(pow(2, x), "PowBackward1");
  expect(xlogy(x, x), "XlogyBackward0");
  expect(xlogy(2, x), "XlogyBackward1");
  expect(xlogy(x, 2), "XlogyBackward2");
  expect(x.square(), "PowBackward0");
  expect(x.atan2(x), "Atan2Backward0");
  expect(x.maximum(x), "MaximumBackward0");
  expect(x.log_sigmoid(), "LogSigmoidBackward0");
  expect(x.log1p(), "Log1PBackward0");
  expect(x.log10(), "Log10Backward0");
  expect(x.deg2rad(), "Deg2RadBackward0");
  expect(x.relu6(), "HardtanhBackward0");
  expect(x.hardsigmoid(), "HardsigmoidBackward0");
  expect(x.clone(), "CloneBackward0");
  expect(x.to(kDouble), "ToCopyBackward0");
  expect(x.view({6}), "ViewBackward0");
  expect(x.t().reshape({6}), "UnsafeViewBackward0");
  expect(x.permute({1, 0}), "PermuteBackward0");
  expect(x.transpose(0, 1), "TransposeBackward0");
  expect(x.t(), "TBackward0");
  expect(v.t(), "TBackward0");
  expect(x.unsqueeze(0), "UnsqueezeBackward0");
  expect(x.squeeze(), "SqueezeBackward0");
  expect(x.squeeze(0), "SqueezeBackward1");
  expect(x.expand({4, 2, 3}), "ExpandBackward0");
  expect(x[0], "SelectBackward0");
  EXPECT_EQ(x[0].grad_fn()->next_edge(0).function->name(), "torch::autograd::AccumulateGrad");
  expect(x.narrow(0, 0, 1), "SliceBackward0");
  expect(x.as_strided({2}, {1}), "AsStridedBackward0");
  expect(x.sum(), "SumBackward0");
  expect(x.sum(0), "SumBackward1");
  expect(x.mean(), "MeanBackward0");
  expect(x.mean(0), "MeanBackward1");
  expect(x.amax(0), "AmaxBackward0");
  expect(x.max(), "MaxBackward1");
  expect(std::get<0>(x.max(0)), "MaxBackward0");
  expect(x.sum_to_size({1, 3}), "SumBackward1");
  expect(x.softmax(1), "SoftmaxBackward0");
  expect(x.log_softmax(1), "LogSoftmaxBackward0");
  expect(x.matmul(w), "MmBackward0");
  expect(x.matmul(v), "MvBackward0");
  expect(v.dot(v), "DotBackward0");
  expect(batch.bmm(batch.transpose(1, 2)), "BmmBackward0");
  expect(linear(x, w.t(), b), "AddmmBackward0");
  expect(linear(x, w.t()), "MmBackward0");
  expect(x.gather(0, index), "GatherBackward0");
  expect(x.scatter_add(0, index, x), "ScatterAddBackward0");
  expect((x * 1).mul_(2), "MulBackward0");
}

}  // namespace
}  // namespace gradus
