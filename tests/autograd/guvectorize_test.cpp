// guvectorize: one function of vectors and matrices on the CPU and on CUDA devices, and its
// gradient.
#include "gradus/autograd/tools/guvectorize.h"

#include <cstdlib>

#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"
#include "tests/support.h"

namespace gradus {
namespace {

// Nothing is left in the user's folders.
[[maybe_unused]] const int kNoCache = setenv("GRADUS_KERNEL_CACHE", "", 1);

int expected_of_host() { return 3; }

// Four functions of the type T: the text that a GPU compiles names the type itself.
#define DOT(T)                                                                        \
  guvectorize("(n),(n)->()", GRADUS_CORE((Core<const T> x, Core<const T> y, T& out) { \
                out = 0;                                                              \
                for (int64_t i = 0; i < x.size(); ++i) out += x[i] * y[i];            \
              }))
#define MATRIX_VECTOR(T)                                                                         \
  guvectorize("(m,n),(n)->(m)", GRADUS_CORE((Core<const T, 2> a, Core<const T> x, Core<T> out) { \
                for (int64_t i = 0; i < a.size(0); ++i) {                                        \
                  T sum = 0;                                                                     \
                  for (int64_t j = 0; j < a.size(1); ++j) sum += a(i, j) * x[j];                 \
                  out[i] = sum;                                                                  \
                }                                                                                \
              }))
#define RUNNING_SUM(T)                                                             \
  guvectorize("(n),()->(n)", GRADUS_CORE((Core<const T> x, T first, Core<T> out) { \
                T sum = first;                                                     \
                for (int64_t i = 0; i < x.size(); ++i) out[i] = sum += x[i];       \
              }))
#define EXTREMES(T)                                                                \
  guvectorize("(n)->(),()", GRADUS_CORE((Core<const T> x, T& least, T& greatest) { \
                least = greatest = x[0];                                           \
                for (int64_t i = 1; i < x.size(); ++i) {                           \
                  if (x[i] < least) least = x[i];                                  \
                  if (x[i] > greatest) greatest = x[i];                            \
                }                                                                  \
              }))

// Each function beside the operations on tensors, over loops that broadcast and strided operands.
void compare(const GUVectorized& dot, const GUVectorized& matrix_vector, const GUVectorized& sums,
             const GUVectorized& extremes, ScalarType dtype) {
  for (const Device device : cpu_and_cuda()) {
    const auto numbers = [&](IntArrayRef shape) { return (10 * randn(shape)).to(device, dtype); };
    const Tensor x = numbers({5, 1, 7}), y = numbers({4, 7}), column = numbers({7, 4}).t();
    const Tensor got = dot(x, y);
    EXPECT_EQ(got.sizes(), IntArrayRef({5, 4}));
    EXPECT_EQ(got.scalar_type(), dtype);
    EXPECT_EQ(got.device().type(), device.type());
    EXPECT_TRUE(got.allclose((x * y).sum(-1), 1e-4, 1e-3)) << device;
    EXPECT_TRUE(dot(x, column).allclose((x * column).sum(-1), 1e-4, 1e-3)) << device;
    EXPECT_TRUE(dot(y[0], y[1]).allclose((y[0] * y[1]).sum(), 1e-4, 1e-3)) << device;
    EXPECT_TRUE(
        dot(numbers({3, 0}), numbers({0})).equal(zeros({3}, TensorOptions(dtype).device(device))));
    EXPECT_EQ(dot(numbers({0, 7}), y[0]).sizes(), IntArrayRef({0}));

    const Tensor a = numbers({2, 6, 3}).transpose(1, 2);  // (2, 3, 6)
    const Tensor v = numbers({5, 1, 12}).slice(-1, 0, 12, 2);
    EXPECT_TRUE(matrix_vector(a, v).allclose((a * v.unsqueeze(-2)).sum(-1), 1e-4, 1e-3)) << device;

    const Tensor first = numbers({3, 1, 1});
    EXPECT_TRUE(sums(y, first).allclose(y.cumsum(-1) + first.unsqueeze(-1), 1e-4, 1e-3)) << device;
    EXPECT_TRUE(sums(column, 2).allclose(column.cumsum(-1) + 2, 1e-4, 1e-3)) << device;

    const Tensors both = extremes.call({a});
    ASSERT_EQ(both.size(), 2u);
    EXPECT_TRUE(both[0].equal(a.amin(-1))) << device;
    EXPECT_TRUE(both[1].equal(a.amax(-1))) << device;
  }
}

TEST(GUVectorize, IsTheFunctionOfEachItem) {
  compare(DOT(float), MATRIX_VECTOR(float), RUNNING_SUM(float), EXTREMES(float), kFloat);
  compare(DOT(double), MATRIX_VECTOR(double), RUNNING_SUM(double), EXTREMES(double), kDouble);
  compare(DOT(int64_t), MATRIX_VECTOR(int64_t), RUNNING_SUM(int64_t), EXTREMES(int64_t), kLong);
}

TEST(GUVectorize, TakesRandomLoops) {
  const auto dot = DOT(double);
  manual_seed(11);
  for (int round = 0; round < 20; ++round) {
    const int64_t dims = randint(4, {}).item<int64_t>(), core = randint(1, 6, {}).item<int64_t>();
    Dims of_x, of_y;
    for (int64_t d = 0; d < dims; ++d) {
      const int64_t size = randint(1, 5, {}).item<int64_t>(), kind = randint(3, {}).item<int64_t>();
      of_x.push_back(kind == 1 ? 1 : size);
      if (d > 0 || kind != 2) of_y.push_back(kind == 2 ? 1 : size);
    }
    of_x.push_back(core), of_y.push_back(core);
    const Tensor x = randn(of_x, kDouble), y = randn(of_y, kDouble);
    for (const Device device : cpu_and_cuda())
      EXPECT_TRUE(dot(x.to(device), y.to(device)).cpu().allclose((x * y).sum(-1)))
          << x.sizes() << " and " << y.sizes() << " on " << device;
  }
}

TEST(GUVectorize, RunsOverLargeTensorsOnSeveralThreads) {
  const auto dot = DOT(int64_t);
  const Tensor x = arange(300000).reshape({300, 250, 4});
  EXPECT_TRUE(dot(x, x).equal((x * x).sum(-1)));
}

TEST(GUVectorize, HasTheGradientThatIsGiven) {
  const auto dot = DOT(double).with_gradient(
      GRADUS_CORE((Core<const double>, Core<const double> b, double grad, Core<double> out) {
        for (int64_t i = 0; i < b.size(); ++i) out[i] = grad * b[i];
      }),
      GRADUS_CORE((Core<const double> a, Core<const double>, double grad, Core<double> out) {
        for (int64_t i = 0; i < a.size(); ++i) out[i] = grad * a[i];
      }));
  // Of two outputs one may get no gradient.
  const auto ends =
      guvectorize("(n)->(),()", GRADUS_CORE((Core<const double> x, double& first, double& last) {
                    first = x[0], last = x[x.size() - 1];
                  }))
          .with_gradient(
              GRADUS_CORE((Core<const double> x, double first, double last, Core<double> out) {
                for (int64_t i = 0; i < x.size(); ++i) out[i] = 0;
                out[0] += first, out[x.size() - 1] += last;
              }));
  for (const Device device : cpu_and_cuda()) {
    const TensorOptions on = TensorOptions(kDouble).device(device);
    const Tensor x = randn({3, 1, 5}, on).requires_grad_(), y = randn({2, 5}, on).requires_grad_();
    const Tensor weight = randn({3, 2}, on);
    const Tensors got = autograd::grad({(dot(x, y) * weight).sum()}, {x, y});
    const Tensors expected = autograd::grad({((x * y).sum(-1) * weight).sum()}, {x, y});
    EXPECT_TRUE(got[0].allclose(expected[0])) << device;
    EXPECT_TRUE(got[1].allclose(expected[1])) << device;
    EXPECT_TRUE(
        autograd::gradcheck([&](const Tensors& in) { return Tensors{dot(in[0], in[1])}; }, {x, y}));
    const Tensor of_last = autograd::grad({ends.call({y})[1].sum()}, {y})[0];
    EXPECT_TRUE(of_last.equal(tensor({0., 0., 0., 0., 1.}).to(on).expand({2, 5}))) << device;
  }
}

TEST(GUVectorize, WrongSignaturesAreNamed) {
  const auto message = [](const std::string& signature) {
    return message_of<ValueError>(
        [&] { guvectorize(signature, GRADUS_CORE((float x, Core<float> out) { out[0] = x; })); });
  };
  EXPECT_CONTAINS(message("()->(n)"),
                  "the signature '()->(n)' has the dimension 'n' in an output and in no input");
  EXPECT_CONTAINS(message("(n),(n)"), "has no '->'");
  EXPECT_CONTAINS(message("(n,(n)->()"), "'(n'");
  EXPECT_CONTAINS(message("(n)(n)->()"), "cannot be read at '(n)'");
  EXPECT_CONTAINS(message("(n),->()"), "cannot be read at ','");
  EXPECT_CONTAINS(message("(n)->"), "has no output");
  EXPECT_CONTAINS(message("->(n)"), "has no input");
  EXPECT_CONTAINS(message("(3)->()"), "has '3' for a dimension; expected a name");
  EXPECT_CONTAINS(message_of<TypeError>([&] {
                    guvectorize("(n)->()", GRADUS_CORE((float x, float& out) { out = x; }));
                  }),
                  "parameter 1 of the function is not what '(n)->()' says; expected Core<const T>");
  EXPECT_CONTAINS(message_of<TypeError>([&] {
                    guvectorize("(m,n)->(n)",
                                GRADUS_CORE((Core<const float, 2>, Core<const float>){}));
                  }),
                  "parameter 2 of the function is not what '(m,n)->(n)' says; expected Core<T>");
  EXPECT_CONTAINS(message_of<TypeError>([&] {
                    guvectorize("(),()->()", GRADUS_CORE((float x, float& out) { out = x; }));
                  }),
                  "has 3 inputs and outputs, and the function 2 parameters");
}

TEST(GUVectorize, WrongArgumentsAreNamed) {
  const auto f = MATRIX_VECTOR(float), dot = DOT(float);
  const Tensor a = randn({2, 3, 4}), x = randn({4});
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(a); }), "takes 2 arguments, and got 1");
  EXPECT_CONTAINS(
      message_of<TypeError>([&] { f(a, x.to(kDouble)); }),
      "argument 2 is a tensor of float64; expected float32; convert it with .to(kFloat)");
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(a, 2); }),
                  "argument 2 is a number; '(m,n),(n)->(m)' expects a tensor");
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(a, Tensor()); }),
                  "argument 2 is an undefined tensor");
  EXPECT_CONTAINS(message_of<ValueError>([&] { f(x, x); }),
                  "argument 1 has shape [4]; '(m,n),(n)->(m)' expects at least 2 dimensions");
  EXPECT_CONTAINS(message_of<ValueError>([&] {
                    f(a, randn({3, 1}));
                  }),
                  "argument 2 has shape [3, 1], which gives 'n' of '(m,n),(n)->(m)' the size 1; "
                  "expected 4, as argument 1 has");
  EXPECT_CONTAINS(message_of<ValueError>([&] { f(a, randn({3, 4})); }), "guvectorize");
  EXPECT_CONTAINS(message_of<Error>([&] { f(a.requires_grad_(), x); }),
                  "the function has no gradient");
  EXPECT_CONTAINS(message_of<TypeError>([&] { f.with_gradient(); }), "got 0 functions for 2");
  EXPECT_CONTAINS(message_of<TypeError>([&] {
                    dot.with_gradient(
                        GRADUS_CORE((float grad, Core<float> out) { out[0] = grad; }),
                        GRADUS_CORE((float grad, Core<float> out) { out[0] = grad; }));
                  }),
                  "function 1 has other parameters than expected");
  if (!cuda::is_available()) return;
  EXPECT_CONTAINS(message_of<ValueError>([&] { f(a.detach(), x.to(kCUDA)); }),
                  "a tensor is on cuda:0, and the first one on cpu");
  const int line = __LINE__ + 1;
  const auto of_host = guvectorize("(n)->()", GRADUS_CORE((Core<const float> v, float& out) {
                                     out = v[0] + float(expected_of_host());
                                   }));
  EXPECT_EQ(of_host(x).dim(), 0);
  EXPECT_CONTAINS(message_of<CompileError>([&] { of_host(x.to(kCUDA)); }),
                  "guvectorize_test.cpp:" + std::to_string(line));
}

}  // namespace
}  // namespace gradus
