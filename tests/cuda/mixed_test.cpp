// A tensor of the CPU without dimensions acts as its number beside tensors of a GPU.
#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"
#include "tests/support.h"

namespace gradus {
namespace {

class CudaMixed : public GpuTest {};

TEST_F(CudaMixed, OperandsGiveWhatTheyGiveOnOneDevice) {
  const Tensor x = tensor({{1.0, -2.0}, {3.0, 0.5}}), number = tensor(2.5);
  const Tensor gpu = x.cuda();
  const auto same = [](const Tensor& got, const Tensor& expected) {
    EXPECT_TRUE(got.is_cuda());
    EXPECT_EQ(got.dtype(), expected.dtype());
    EXPECT_EQ(got.sizes(), expected.sizes());
    expect_values(got, to_vector(expected), 0);
  };
  same(gpu - number, x - number);
  same(number - gpu, number - x);
  same(gpu < number, x < number);
  same(number.to(kDouble) * gpu, number.to(kDouble) * x);
  same(number.to(kDouble) + gpu.to(kLong), number.to(kDouble) + x.to(kLong));
  same(number.to(kDouble) + gpu[0][0], number.to(kDouble) + x[0][0]);
  same(tensor(3).maximum(gpu), tensor(3).maximum(x));
}

TEST_F(CudaMixed, ChangesOnTheGpuInPlaceOnly) {
  Tensor x = ones({2}, kCUDA), number = tensor(3.0);
  x.mul_(number);
  expect_values(x, {3, 3});
  expect_error<Error>([&] { number.mul_(x[0]); }, "mul: self is on cpu, other on cuda:0");
  expect_error<Error>([&] { x + ones({1}); }, "add: self is on cuda:0, other on cpu");
  expect_values(number, {3});
}

TEST_F(CudaMixed, GradientsComeBackToEachDevice) {
  const Tensor x = tensor({1.0, 2.0}, dtype(kFloat).device(kCUDA).requires_grad(true));
  const Tensor number = tensor(3.0, requires_grad());
  (x * number / (number + 1)).sum().backward();
  EXPECT_TRUE(number.grad().is_cpu());
  EXPECT_TRUE(x.grad().is_cuda());
  expect_values(number.grad(), {3.0 / 16});
  expect_values(x.grad(), {0.75, 0.75});
}

TEST_F(CudaMixed, DeepBackwardPassesStayOnTheCurrentStream) {
  const cuda::Stream stream = cuda::getStreamFromPool();
  const cuda::StreamGuard guard(stream);
  int seen = 0;
  const std::function<void(int)> nest = [&](int depth) {
    const AutoGradMode mode(true);
    const Tensor leaf = ones({1}, dtype(kFloat).device(kCUDA).requires_grad(true));
    leaf.register_hook([&, depth](const Tensor&) {
      seen += cuda::getCurrentCUDAStream() == stream;
      if (depth > 0) nest(depth - 1);
    });
    (leaf * 2).sum().backward();
  };
  nest(130);
  EXPECT_EQ(seen, 131);
}

}  // namespace
}  // namespace gradus
