// vectorize: one function of numbers on the CPU and on CUDA devices, and its gradient.
#include "gradus/autograd/tools/vectorize.h"

#include <cstdlib>

#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"
#include "tests/support.h"

namespace gradus {
namespace {

// Nothing is left in the user's folders.
[[maybe_unused]] const int kNoCache = setenv("GRADUS_KERNEL_CACHE", "", 1);

int expected_of_host() { return 3; }

const Vectorized& huber() {
  static const Vectorized once =
      vectorize(GRADUS_SCALAR((float x, float delta)->float {
        const float size = fabs(x);
        return size < delta ? x * x / 2 : delta * (size - delta / 2);  // a comment
      }))
          .with_gradient(GRADUS_SCALAR((float x, float delta, float grad)->float {
                           return fabs(x) < delta ? x * grad : x < 0 ? -delta * grad : delta * grad;
                         }),
                         GRADUS_SCALAR((float x, float delta, float grad)->float {
                           return fabs(x) < delta ? 0.0f : grad * (fabs(x) - delta);
                         }));
  return once;
}

TEST(Vectorize, IsTheFunctionOfEachElement) {
  const auto f = vectorize(GRADUS_SCALAR((float x, int64_t n)->double {
    double out = 1;
    for (int64_t i = 0; i < n; ++i) out *= double(x);
    return out;
  }));
  for (const Device device : cpu_and_cuda()) {
    const Tensor x = randn({3, 1, 5}, device), n = arange(4, device).reshape({4, 1});
    const Tensor y = f(x, n);
    EXPECT_EQ(y.scalar_type(), kDouble);
    EXPECT_EQ(y.device().type(), device.type());
    EXPECT_TRUE(y.allclose(x.to(kDouble).pow(n))) << device;
    EXPECT_TRUE(f(x.transpose(0, 2), 2).allclose(x.transpose(0, 2).to(kDouble).square()));
    EXPECT_EQ(f(zeros({0, 5}, device), 2).sizes(), IntArrayRef({0, 5}));
  }
  EXPECT_EQ(f(3, 2).item<double>(), 9);
}

TEST(Vectorize, RunsOverLargeTensorsOnSeveralThreads) {
  const auto f = vectorize(GRADUS_SCALAR((int64_t x) { return 2 * x + 1; }));
  const Tensor x = arange(200000).reshape({400, 500});
  EXPECT_TRUE(f(x).equal(2 * x + 1));
  EXPECT_TRUE(f(x.t()).equal(2 * x.t() + 1));
}

TEST(Vectorize, HasTheGradientThatIsGiven) {
  for (const Device device : cpu_and_cuda()) {
    const Tensor x = (2 * randn({6, 5}, device)).detach().requires_grad_();
    const Tensor y = huber()(x, 1.0);
    const Tensor expected = nn::functional::huber_loss(
        x, zeros_like(x), nn::functional::HuberLossFuncOptions().reduction(kNone).delta(1.0));
    EXPECT_TRUE(y.allclose(expected)) << device;
    const Tensor weight = randn({6, 5}, device);
    const Tensor got = autograd::grad({(y * weight).sum()}, {x})[0];
    EXPECT_TRUE(got.allclose(autograd::grad({(expected * weight).sum()}, {x})[0])) << device;

    const Tensor delta = tensor({0.5f, 1.0f, 1.5f, 2.0f, 0.1f}).to(device).requires_grad_();
    const Tensor of_delta = autograd::grad({huber()(x, delta).sum()}, {delta})[0];
    const Tensor outside = x.detach().abs() - delta.detach();
    EXPECT_TRUE(of_delta.allclose(outside.clamp_min(0).sum(0))) << device;
  }
}

TEST(Vectorize, WrongArgumentsAreNamed) {
  const auto f = vectorize(GRADUS_SCALAR((float x, int64_t n) { return x * float(n); }));
  const Tensor x = randn({3});
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(x); }), "takes 2 arguments, and got 1");
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(x, x); }),
                  "argument 2 is a tensor of float32; expected int64; convert it with .to(kLong)");
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(x, 2.5); }),
                  "argument 2 is a number of type double");
  EXPECT_CONTAINS(message_of<ValueError>([&] { f(x, arange(4)); }), "vectorize");
  EXPECT_CONTAINS(message_of<Error>([&] { f(randn({3}).requires_grad_(), 2); }),
                  "the function has no gradient");
  EXPECT_CONTAINS(message_of<TypeError>([&] { f.with_gradient(); }), "got 0 functions for 2");
  if (!cuda::is_available()) return;
  EXPECT_CONTAINS(message_of<ValueError>([&] { f(x, arange(3, kCUDA)); }),
                  "a tensor is on cuda:0, and the first one on cpu");
  const auto of_host =
      vectorize(GRADUS_SCALAR((float v) { return v + float(expected_of_host()); }));
  const int line = __LINE__ - 1;
  EXPECT_EQ(of_host(x).sizes(), x.sizes());
  EXPECT_CONTAINS(message_of<CompileError>([&] { of_host(x.to(kCUDA)); }),
                  "vectorize_test.cpp:" + std::to_string(line));
}

}  // namespace
}  // namespace gradus
