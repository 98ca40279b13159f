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

TEST(Vectorize, OneGenericFunctionTakesSeveralDtypes) {
  const auto f = vectorize<float, double, int64_t>(
      GRADUS_SCALAR((auto x, auto y) { return x > y ? x * y : x - y; }));
  const auto cube =
      vectorize(GRADUS_SCALAR((auto x) {
        return x * x * x;
      })).with_gradient(GRADUS_SCALAR((auto x, auto grad) { return 3 * x * x * grad; }));
  for (const Device device : cpu_and_cuda()) {
    for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
      if (!device.is_cpu() && dtype == kFloat) continue;  // each is a kernel to compile
      const Tensor x = (4 * randn({3, 1}, device)).to(dtype), y = arange(4, device).to(dtype);
      const Tensor z = f(x, y);
      EXPECT_EQ(z.scalar_type(), dtype);
      EXPECT_TRUE(z.allclose(where(x > y, x * y, x - y))) << device << dtype;
      if (device.is_cpu()) {
        EXPECT_TRUE(f(x, 1).allclose(where(x > 1, x, x - 1)));
      }
    }
    for (const ScalarType dtype : {kFloat, kDouble}) {
      if (!device.is_cpu() && dtype == kFloat) continue;
      const Tensor x = randn({5}, TensorOptions(dtype).device(device)).requires_grad_();
      cube(x).sum().backward();
      EXPECT_TRUE(x.grad().allclose(3 * x.detach().square())) << device << dtype;
    }
  }
  EXPECT_EQ(f(3, 2).item<float>(), 6);
  EXPECT_EQ(f(3, 2).scalar_type(), kFloat);
  const Tensor x = randn({3});
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(x, x.to(kDouble)); }),
                  "argument 2 is a tensor of float64; expected float32");
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(x.to(kHalf), x); }),
                  "argument 1 is a tensor of float16; expected one of float32, float64, int64");
}

TEST(Vectorize, WritesIntoTheTensorBehindTheArguments) {
  const auto f = vectorize(GRADUS_SCALAR((float x, float y) { return x - 2 * y; }));
  for (const Device device : cpu_and_cuda()) {
    const Tensor x = randn({4, 5}, device), y = randn({5}, device), expected = x - 2 * y;
    const Tensor out = zeros({5, 4}, device).t();
    const auto before = out._version();
    EXPECT_TRUE(f(x, y, out).is_same(out));
    EXPECT_TRUE(out.allclose(expected)) << device;
    EXPECT_EQ(out._version(), before + 1);
    const Tensor own = x.clone();
    f(own, y, own);
    EXPECT_TRUE(own.equal(out)) << device;
    const Tensor square = randn({4, 4}, device), want = square.t() - 2 * square;
    f(square.t(), square, square);  // reads what it has written unless it takes a copy
    EXPECT_TRUE(square.allclose(want)) << device;
    EXPECT_CONTAINS(message_of<ValueError>([&] {
                      f(x, y, zeros({4, 4}, device));
                    }),
                    "the result that is given has shape [4, 4]; expected [4, 5]");
    EXPECT_CONTAINS(message_of<TypeError>([&] {
                      f(x, y, zeros({4, 5}, device).to(kDouble));
                    }),
                    "the result that is given is of float64; expected float32");
    EXPECT_CONTAINS(message_of<ValueError>([&] {
                      f(x, y, zeros({4, 1}, device).expand({4, 5}));
                    }),
                    "several elements in one place");
    EXPECT_CONTAINS(message_of<Error>([&] { f(x.detach().requires_grad_(), y, out); }),
                    "does not support automatic differentiation");
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
