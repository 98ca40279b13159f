// stft by its definition, istft as its inverse, and their errors.
#include "gradus/autograd/fft.h"
#include "tests/support.h"

namespace gradus {
namespace {

Tensor window() { return hann_window(6, kDouble); }

TEST(Stft, TransformsEachFrame) {
  manual_seed(1);
  const Tensor x = randn({2, 30}, kDouble);
  const Tensor got = x.stft(8, 3, 6, window(), /*center=*/false, "reflect", false, true, true);
  const Tensor weights = constant_pad_nd(window(), {1, 1});
  ASSERT_EQ(got.sizes(), IntArrayRef({2, 5, 8}));
  for (int64_t f = 0; f < 8; ++f) {
    const Tensor frame = fft::rfft(x.narrow(1, 3 * f, 8) * weights);
    EXPECT_TRUE(got.select(2, f).allclose(frame, 1e-12, 1e-12)) << f;
  }
  // Without padding, by the other overload; and with normalisation.
  EXPECT_TRUE(x.stft(8, 3, 6, window(), true, true, true).allclose(got / std::sqrt(8.)));
  EXPECT_TRUE(
      x.stft(8, 3, 6, window(), false, "reflect", false, true, false).equal(view_as_real(got)));
  const Tensor whole = x[0].stft(8, 3, 6, window(), false, "reflect", false, false, true);
  EXPECT_TRUE(whole.narrow(0, 0, 5).allclose(got[0]));
  EXPECT_EQ(whole.size(0), 8);
  const Tensor centered = x.stft(8, 3, 6, window(), true, "constant", false, true, true);
  EXPECT_TRUE(centered.allclose(
      constant_pad_nd(x, {4, 4}).stft(8, 3, 6, window(), false, "reflect", false, true, true)));
}

TEST(Stft, IsInvertedByIstft) {
  manual_seed(2);
  for (const Device& device : cpu_and_cuda())
    for (const bool normalized : {false, true}) {
      const Tensor x = randn({2, 40}, kDouble).to(device), w = window().to(device);
      const Tensor y = x.stft(8, 2, 6, w, true, "reflect", normalized, true, true);
      EXPECT_TRUE(y.istft(8, 2, 6, w, true, normalized).allclose(x));
      EXPECT_TRUE(
          y[0].istft(8, 2, 6, w, true, normalized, true, 33).allclose(x[0].narrow(0, 0, 33)));
      const Tensor z = randn({40}, kComplexDouble).to(device);
      EXPECT_TRUE(z.stft(8).istft(8, 2, 8, std::nullopt, true, false, false, 40, true).allclose(z));
    }
}

TEST(Stft, SaysWhatIsWrong) {
  const Tensor x = ones({10}), z = ones({5, 3}, kComplexFloat);
  expect_error<ValueError>([&] { x.stft(4); }, "requires the return_complex parameter");
  expect_error<ValueError>(
      [&] { x.stft(12, 3, 12, std::nullopt, false, "reflect", false, true, true); },
      "expected 0 < n_fft <= 10");
  expect_error<ValueError>(
      [&] { x.stft(4, 0, 4, std::nullopt, true, "reflect", false, true, true); },
      "expected hop_length > 0");
  expect_error<ValueError>(
      [&] { x.stft(4, 1, 5, std::nullopt, true, "reflect", false, true, true); },
      "expected 0 < win_length <= n_fft");
  expect_error<ValueError>([&] { x.stft(4, 1, 4, ones({3}), true, "reflect", false, true, true); },
                           "expected a 1D window tensor of size equal to win_length=4");
  expect_error<TypeError>([&] { ones({10}, kLong).stft(4); }, "floating point or complex");
  expect_error<TypeError>([&] { x.istft(4); }, "requires a complex-valued input tensor");
  expect_error<ValueError>([&] { z.istft(6); }, "expected the frequency dimension (5)");
  expect_error<ValueError>([&] { z.istft(8, 2, 8, zeros({8})); }, "window overlap add min");
}

}  // namespace
}  // namespace gradus
