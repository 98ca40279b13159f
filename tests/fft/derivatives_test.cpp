// First and second derivatives of every Fourier transform against finite differences, in both parts
// of complex numbers.
#include "gradus/autograd/fft.h"

#include "gradus/autograd/tools/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

using autograd::CheckedFunction;

struct Derived {
  const char* name;
  CheckedFunction f;
  std::vector<int64_t> sizes;
  bool complex;
};

const std::vector<Derived>& derived() {
#define CASE(name, sizes, complex, ...) \
  {                                     \
    name,                               \
        [](const Tensors& leaves) {     \
          const Tensor& x = leaves[0];  \
          return Tensors{__VA_ARGS__};  \
        },                              \
        sizes, complex                  \
  }
  using Sizes = std::vector<int64_t>;
  static const std::vector<Derived> all = {
      CASE("fft", (Sizes{2, 5}), true, fft::fft(x)),
      CASE("fft of real numbers", (Sizes{2, 4}), false, fft::fft(x)),
      CASE("fft of a middle dimension, padded", (Sizes{2, 3, 2}), true, fft::fft(x, 4, 1, "ortho")),
      CASE("ifft", (Sizes{2, 4}), true, fft::ifft(x)),
      CASE("ifft, cut", (Sizes{5}), true, fft::ifft(x, 3)),
      CASE("rfft", (Sizes{2, 5}), false, fft::rfft(x)),
      CASE("rfft of an even length", (Sizes{6}), false, fft::rfft(x, 6, -1, "forward")),
      CASE("rfft, padded", (Sizes{3, 2}), false, fft::rfft(x, 4, 0)),
      CASE("irfft", (Sizes{2, 4}), true, fft::irfft(x)),
      CASE("irfft of an odd length", (Sizes{4}), true, fft::irfft(x, 5)),
      CASE("irfft, cut", (Sizes{5}), true, fft::irfft(x, 4)),
      CASE("irfft of one element", (Sizes{2}), true, fft::irfft(x, 1)),
      CASE("hfft", (Sizes{2, 3}), true, fft::hfft(x)),
      CASE("ihfft", (Sizes{2, 5}), false, fft::ihfft(x)),
      CASE("fft2", (Sizes{2, 3}), true, fft::fft2(x)),
      CASE("ifft2", (Sizes{2, 3}), true, fft::ifft2(x)),
      CASE("rfft2", (Sizes{3, 4}), false, fft::rfft2(x)),
      CASE("irfft2", (Sizes{3, 3}), true, fft::irfft2(x)),
      CASE("hfft2", (Sizes{3, 3}), true, fft::hfft2(x)),
      CASE("ihfft2", (Sizes{3, 4}), false, fft::ihfft2(x)),
      CASE("fftn", (Sizes{2, 2, 3}), true, fft::fftn(x)),
      CASE("ifftn", (Sizes{2, 3}), true, fft::ifftn(x, IntArrayRef({3, 2}))),
      CASE("rfftn", (Sizes{2, 3, 2}), false, fft::rfftn(x, std::nullopt, IntArrayRef({1, 0}))),
      CASE("irfftn", (Sizes{2, 2, 3}), true, fft::irfftn(x, std::nullopt, IntArrayRef({2, 1}))),
      CASE("hfftn", (Sizes{2, 2, 3}), true, fft::hfftn(x)),
      CASE("ihfftn", (Sizes{2, 3}), false, fft::ihfftn(x)),
      CASE("fftshift", (Sizes{2, 3}), true, fft::fftshift(x), fft::ifftshift(x, IntArrayRef({1}))),
      CASE("stft", (Sizes{9}), false,
           x.stft(4, 2, 3, hann_window(3, kDouble), true, "reflect", false, true, true)),
      CASE("stft of complex numbers", (Sizes{2, 6}), true, x.stft(4)),
      CASE("istft", (Sizes{3, 4}), true, x.istft(4, 1)),
      CASE("istft of complex numbers", (Sizes{4, 3}), true,
           x.istft(4, 2, 4, std::nullopt, true, true, false, 4, true)),
  };
#undef CASE
  return all;
}

Tensor leaf(const Derived& one) { return randn(one.sizes, one.complex ? kComplexDouble : kDouble); }

class FftDerivatives : public ::testing::TestWithParam<size_t> {};

TEST_P(FftDerivatives, AreThoseOfFiniteDifferences) {
  const Derived& one = derived()[GetParam()];
  SCOPED_TRACE(one.name);
  manual_seed(5);
  const Tensors leaves = {leaf(one).requires_grad_()};
  EXPECT_TRUE(autograd::gradcheck(one.f, leaves)) << one.name;
  EXPECT_TRUE(autograd::gradgradcheck(one.f, leaves)) << one.name;
}
INSTANTIATE_TEST_SUITE_P(All, FftDerivatives, ::testing::Range<size_t>(0, derived().size()));

// A real tensor gets a real gradient, and those of a device are those of the CPU.
TEST(FftGradients, AreTheSameOnEveryDevice) {
  for (const Derived& one : derived()) {
    SCOPED_TRACE(one.name);
    if (std::string(one.name).find("stft") != std::string::npos) continue;  // windows on the CPU
    manual_seed(5);
    const Tensor x = leaf(one);
    std::vector<double> first;
    for (const Device& device : cpu_and_cuda()) {
      const Tensor y = x.clone().to(device).requires_grad_();
      for (const Tensor& out : one.f({y})) (out.abs() * out.abs()).sum().backward();
      EXPECT_EQ(y.grad().dtype(), y.dtype());
      const Tensor grad = one.complex ? view_as_real(y.grad()) : y.grad();
      if (first.empty()) first = to_vector(grad);
      expect_values(grad, first, 1e-10);
    }
  }
}

}  // namespace
}  // namespace gradus
