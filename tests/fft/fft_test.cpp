// Values of the Fourier transforms against their definition, properties, arguments and errors.
#include "gradus/autograd/fft.h"

#include <functional>
#include <thread>

#include "gradus/autograd/tools/functional.h"
#include "tests/support.h"

namespace gradus {
namespace {

using C = std::complex<double>;

// The matrix of the transform by its definition: e^(-2 pi i j k / n), with j k modulo n.
Tensor definition(int64_t n) {
  const Tensor j = arange(n, kLong), products = (j.unsqueeze(1) * j).remainder(n).to(kDouble);
  return polar(ones({n, n}, kDouble), products * (-2 * M_PI / static_cast<double>(n)));
}
// Along dim, of complex128 numbers.
Tensor by_definition(const Tensor& x, int64_t dim = -1) {
  return x.movedim(dim, -1).matmul(definition(x.size(dim))).movedim(-1, dim);
}

// The largest difference, by the root mean square of what is expected.
double difference(const Tensor& got, const Tensor& expected) {
  const Tensor wide = expected.to(kComplexDouble);
  const double size = std::sqrt((wide.abs() * wide.abs()).mean().item<double>());
  return (got.cpu().to(kComplexDouble) - wide).abs().max().item<double>() / (size > 0 ? size : 1);
}

std::vector<int64_t> lengths() {
  std::vector<int64_t> out;
  for (int64_t n = 1; n <= 64; ++n) out.push_back(n);
  for (int64_t n : {67, 77, 97, 127, 128, 211, 243, 251, 360, 499, 509, 625, 720, 997, 1001, 1009})
    out.push_back(n);
  return out;
}

// Every kind of transform, in both precisions, of several lines: each precision by its own digits.
TEST(Fft, IsItsDefinitionForEveryLength) {
  manual_seed(1);
  for (const Device& device : cpu_and_cuda())
    for (int64_t n : lengths()) {
      SCOPED_TRACE(n);
      const Tensor z = randn({3, n}, kComplexDouble), x = randn({3, n}, kDouble);
      const Tensor of_z = by_definition(z), of_x = by_definition(x.to(kComplexDouble));
      const Tensor half = of_x.narrow(1, 0, n / 2 + 1);
      for (const bool wide : {true, false}) {
        const double most =
            (wide ? 4e-14 : 2e-6) * std::sqrt(1 + std::log2(static_cast<double>(n)));
        const Tensor zd = z.to(wide ? kComplexDouble : kComplexFloat).to(device);
        const Tensor xd = x.to(wide ? kDouble : kFloat).to(device);
        EXPECT_LE(difference(fft::fft(zd), of_z), most);
        EXPECT_LE(difference(fft::ifft(fft::fft(zd)), z), most);
        EXPECT_LE(difference(fft::fft(xd), of_x), most);
        EXPECT_LE(difference(fft::rfft(xd), half), most);
        EXPECT_LE(difference(fft::ihfft(xd), half.conj() / n), most);
        const Tensor h = half.to(zd.dtype()).to(device);
        EXPECT_LE(difference(fft::irfft(h, n), x), most);
        EXPECT_LE(difference(fft::hfft(h.conj() / n, n), x), most);
        EXPECT_EQ(fft::rfft(xd).dtype(), zd.dtype());
        EXPECT_EQ(fft::irfft(h, n).dtype(), xd.dtype());
      }
    }
}

// A tensor of x's numbers with other strides: of x.t(), of every second column, of a wider tensor.
std::vector<Tensor> layouts(const Tensor& x) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const Tensor wide = zeros({rows, 2 * columns + 1}, x.dtype());
  const Tensor spread = wide.slice(1, 0, 2 * columns, 2), part = wide.narrow(1, columns, columns);
  std::vector<Tensor> out = {x, x.t().contiguous().t()};
  for (const Tensor& view : {spread, part}) {
    out.push_back(
        empty_strided({rows, columns}, {view.stride(0), view.stride(1)}, TensorOptions(x.dtype())));
    out.back().copy_(x);
  }
  return out;
}

// Lines fill vectors side by side, and some are left over; so are elements of a line.
TEST(Fft, IsItsDefinitionForManyLinesInAnyLayout) {
  manual_seed(5);
  for (const int64_t lines : {5, 16, 33})
    for (int64_t n : lengths()) {
      if (n > 251 || (n > 64 && lines < 33)) continue;
      SCOPED_TRACE(n);
      const Tensor z = randn({lines, n}, kComplexDouble), x = randn({lines, n}, kDouble);
      const Tensor of_z = by_definition(z), of_x = by_definition(x.to(kComplexDouble));
      const Tensor half = of_x.narrow(1, 0, n / 2 + 1);
      for (const bool wide : {true, false}) {
        const double most =
            (wide ? 4e-14 : 2e-6) * std::sqrt(1 + std::log2(static_cast<double>(n)));
        const auto complexes = wide ? kComplexDouble : kComplexFloat;
        for (const Tensor& in : layouts(z.to(complexes))) {
          EXPECT_LE(difference(fft::fft(in), of_z), most);
          EXPECT_LE(difference(fft::ifft(in.conj()), of_z.conj() / n), most);
        }
        for (const Tensor& in : layouts(x.to(wide ? kDouble : kFloat)))
          EXPECT_LE(difference(fft::rfft(in), half), most);
        for (const Tensor& in : layouts(half.to(complexes)))
          EXPECT_LE(difference(fft::irfft(in, n), x), most);
        // Along the first dimension of what is stored by rows.
        EXPECT_LE(difference(fft::fft(z.t().contiguous().to(complexes), {}, 0).t(), of_z), most);
        EXPECT_LE(
            difference(fft::rfft(x.t().contiguous().to(wide ? kDouble : kFloat), {}, 0).t(), half),
            most);
        EXPECT_LE(difference(fft::irfft(half.t().contiguous().to(complexes), n, 0).t(), x), most);
      }
    }
}

// Long lines: with factors of all kinds, and a prime. Some elements by the definition, all by a
// round trip.
TEST(Fft, TransformsLongLines) {
  manual_seed(2);
  for (int64_t n : {2049, 4096, 5005, 6561, 10007, 12000, 16384, 65536, 100000})
    for (const int64_t lines : {1, 3}) {
      SCOPED_TRACE(n);
      const Tensor z = randn({lines, n}, kComplexDouble);
      const Tensor got = fft::fft(z);
      const Tensor k = tensor({int64_t{1}, n / 2, n - 1}, kLong);
      const Tensor products = (arange(n, kLong).unsqueeze(1) * k).remainder(n).to(kDouble);
      const Tensor roots =
          polar(ones({n, 3}, kDouble), products * (-2 * M_PI / static_cast<double>(n)));
      EXPECT_LE(difference(got.index_select(1, k), z.matmul(roots)), 1e-12);
      EXPECT_LE(difference(fft::ifft(got), z), 1e-13);
      EXPECT_LE(difference(fft::ifft(fft::fft(z.to(kComplexFloat))), z), 5e-6);
      const Tensor x = randn({lines, n}, kDouble), half = fft::rfft(x);
      EXPECT_LE(difference(half, fft::fft(x).narrow(1, 0, n / 2 + 1)), 1e-13);
      EXPECT_LE(difference(fft::irfft(half, n), x), 1e-13);
      EXPECT_LE(difference(fft::ihfft(x, n, -1, "forward"), half.conj()), 1e-13);
      EXPECT_LE(difference(fft::hfft(half.conj(), n, -1, "forward"), x), 1e-13);
      EXPECT_NEAR((got.abs() * got.abs()).sum().item<double>() / static_cast<double>(n) /
                      (z.abs() * z.abs()).sum().item<double>(),
                  1, 1e-13);  // Parseval
    }
}

// Views of every kind: a dimension in the middle, reversed order, gaps, repeated elements.
TEST(Fft, ReadsAnyStrides) {
  manual_seed(3);
  for (const Device& device : cpu_and_cuda()) {
    const Tensor all = randn({6, 5, 8}, kComplexDouble);
    const Tensor views[] = {all,
                            all.permute({2, 0, 1}),
                            all.slice(0, 1, 6, 2),
                            all.slice(2, 0, 8, 3),
                            all.select(1, 2),
                            all.narrow(0, 0, 1).expand({4, 5, 8}),
                            all.select(0, 0).select(0, 0)};
    for (const Tensor& view : views)
      for (int64_t dim = 0; dim < view.dim(); ++dim) {
        const Tensor x =
            all.to(device).as_strided(view.sizes(), view.strides(), view.storage_offset());
        EXPECT_LE(difference(fft::fft(x, std::nullopt, dim), by_definition(view, dim)), 1e-13);
        EXPECT_LE(difference(fft::rfft(x.real(), std::nullopt, dim),
                             by_definition(view.real().to(kComplexDouble), dim)
                                 .narrow(dim, 0, view.size(dim) / 2 + 1)),
                  1e-13);
      }
  }
}

// On the CPU, and on two streams of each device, which share plans of cuFFT; by another thread,
// too.
void for_each_stream(const std::function<void(Device)>& run) {
  run(kCPU);
  for (int index = 0; index < static_cast<int>(cuda::device_count()); ++index) {
    const Device device(kCUDA, static_cast<DeviceIndex>(index));
    run(device);
    const cuda::StreamGuard guard(cuda::getStreamFromPool(false, device.index()));
    run(device);
  }
  if (cuda::is_available()) std::thread([&] { run(Device(kCUDA, 0)); }).join();
}

// Small shapes, as views that begin at each place of memory: cuFFT takes what begins at a multiple
// of the size of a complex number alone. More shapes than plans are kept.
TEST(Fft, TakesViewsThatBeginAnywhere) {
  manual_seed(9);
  const Tensor memory = randn({64}, kDouble), complexes = randn({64}, kComplexDouble);
  for_each_stream([&](Device device) {
    for (const bool wide : {true, false})
      for (int64_t rows = 1; rows <= 3; ++rows)
        for (int64_t n = 1; n <= 9; ++n)
          for (int64_t begin = 0; begin < 4; ++begin) {
            SCOPED_TRACE(device.str() + ": " + std::to_string(rows) + " x " + std::to_string(n) +
                         (wide ? " of double from " : " of float from ") + std::to_string(begin));
            const int64_t count = n / 2 + 1;
            const auto view_of = [&](const Tensor& all, int64_t columns) {
              return all.narrow(0, begin, rows * columns).view({rows, columns});
            };
            const auto there = [&](const Tensor& all) {
              return all.to(device, all.is_complex() ? wide ? kComplexDouble : kComplexFloat
                                    : wide           ? kDouble
                                                     : kFloat);
            };
            const Tensor x = view_of(there(memory), n), z = view_of(there(complexes), n);
            const Tensor h = view_of(there(complexes), count);
            const Tensor of_x = by_definition(view_of(memory, n).to(kComplexDouble));
            const Tensor of_z = by_definition(view_of(complexes, n));
            const Tensor half = of_x.narrow(1, 0, count);
            const double most = wide ? 1e-13 : 1e-5;
            EXPECT_LE(difference(fft::fft(z), of_z), most);
            EXPECT_LE(difference(fft::ifft(z.conj()), of_z.conj() / n), most);
            EXPECT_LE(difference(fft::fft(x), of_x), most);
            EXPECT_LE(difference(fft::rfft(x), half), most);
            EXPECT_LE(difference(fft::ihfft(x), half.conj() / n), most);
            EXPECT_LE(difference(fft::rfft2(x), by_definition(of_x, 0).narrow(1, 0, count)), most);
            EXPECT_LE(difference(fft::fft(x, {}, 0), by_definition(view_of(memory, n).to(of_x), 0)),
                      most);
            EXPECT_LE(difference(fft::fft(x.t(), {}, 0), of_x.t()), most);
            EXPECT_LE(difference(fft::irfft(h, n), fft::irfft(view_of(complexes, count), n)), most);
            EXPECT_LE(difference(fft::irfft2(h, IntArrayRef({rows, n})),
                                 fft::irfft2(view_of(complexes, count), IntArrayRef({rows, n}))),
                      most);
            EXPECT_LE(difference(fft::irfft(fft::rfft(x), n), view_of(memory, n)), most);
          }
  });
}

TEST(Fft, TransformsSeveralDimensions) {
  manual_seed(4);
  for (const Device& device : cpu_and_cuda()) {
    const Tensor x = randn({3, 4, 5, 6}, kDouble).to(device), z = x.to(kComplexDouble);
    const auto steps = [](Tensor y, IntArrayRef dims) {
      for (int64_t d : dims) y = by_definition(y, d);
      return y;
    };
    const Tensor here = z.cpu();
    EXPECT_LE(difference(fft::fftn(z), steps(here, {0, 1, 2, 3})), 1e-13);
    EXPECT_LE(difference(fft::fft2(z), steps(here, {2, 3})), 1e-13);
    EXPECT_LE(difference(fft::fftn(z, std::nullopt, IntArrayRef({2, 0})), steps(here, {0, 2})),
              1e-13);
    EXPECT_LE(difference(fft::rfftn(x), steps(here, {0, 1, 2, 3}).narrow(3, 0, 4)), 1e-13);
    EXPECT_LE(difference(fft::rfftn(x, std::nullopt, IntArrayRef({3, 1})),
                         steps(here, {1, 3}).narrow(1, 0, 3)),
              1e-13);
    EXPECT_LE(difference(fft::ifftn(fft::fftn(z)), here), 1e-13);
    EXPECT_LE(difference(fft::ifft2(fft::fft2(z)), here), 1e-13);
    EXPECT_LE(difference(fft::irfftn(fft::rfftn(x)), here), 1e-13);
    EXPECT_LE(difference(fft::irfft2(fft::rfft2(x)), here), 1e-13);
    EXPECT_LE(difference(fft::hfftn(fft::ihfftn(x)), here), 1e-13);
    EXPECT_LE(difference(fft::hfft2(fft::ihfft2(x)), here), 1e-13);
    EXPECT_LE(difference(fft::ihfftn(x), fft::ifftn(z).narrow(3, 0, 4).cpu()), 1e-13);
    EXPECT_LE(difference(fft::fftn(z, std::nullopt, IntArrayRef()), here), 0);
  }
}

TEST(Fft, CutsAndPads) {
  manual_seed(5);
  const Tensor z = randn({4, 7}, kComplexDouble);
  EXPECT_LE(difference(fft::fft(z, 5), by_definition(z.narrow(1, 0, 5))), 1e-14);
  EXPECT_LE(difference(fft::fft(z, 9, 0), by_definition(constant_pad_nd(z, {0, 0, 0, 5}), 0)),
            1e-14);
  EXPECT_EQ(fft::irfft(z).sizes(), IntArrayRef({4, 12}));
  EXPECT_EQ(fft::irfft(z, 5).sizes(), IntArrayRef({4, 5}));
  EXPECT_EQ(fft::irfftn(z, IntArrayRef({3, 6})).sizes(), IntArrayRef({3, 6}));
  EXPECT_EQ(fft::fftn(z, IntArrayRef({3})).sizes(), IntArrayRef({4, 3}));
  EXPECT_EQ(fft::fftn(z, IntArrayRef({-1, 3})).sizes(), IntArrayRef({4, 3}));
  EXPECT_EQ(fft::rfft(z.real(), 10).sizes(), IntArrayRef({4, 6}));
  EXPECT_EQ(fft::fft(zeros({0, 4})).sizes(), IntArrayRef({0, 4}));
  EXPECT_EQ(fft::irfft(zeros({0, 4}, kComplexFloat)).sizes(), IntArrayRef({0, 6}));
  EXPECT_EQ(fft::fft(zeros({2, 0}), 3).abs().sum().item<float>(), 0);
}

TEST(Fft, DividesAsNormSays) {
  manual_seed(6);
  const Tensor z = randn({4, 6}, kComplexDouble), x = z.real();
  const auto hold = [](const Tensor& plain, const Tensor& other, double by) {
    EXPECT_LE(difference(other * by, plain), 1e-14);
  };
  const double n = 6, all = 24, root = std::sqrt(6.), root_all = std::sqrt(24.);
  hold(fft::fft(z), fft::fft(z, {}, -1, "backward"), 1);
  hold(fft::fft(z), fft::fft(z, {}, -1, "forward"), n);
  hold(fft::fft(z), fft::fft(z, {}, -1, "ortho"), root);
  hold(fft::ifft(z), fft::ifft(z, {}, -1, "forward"), 1 / n);
  hold(fft::ifft(z), fft::ifft(z, {}, -1, "ortho"), 1 / root);
  hold(fft::fftn(z), fft::fftn(z, {}, {}, "forward"), all);
  hold(fft::rfftn(x), fft::rfftn(x, {}, {}, "ortho"), root_all);
  hold(fft::irfft(z, 6), fft::irfft(z, 6, -1, "forward"), 1 / n);
  hold(fft::hfft(z, 6), fft::hfft(z, 6, -1, "forward"), n);
  hold(fft::ihfft(x), fft::ihfft(x, {}, -1, "ortho"), 1 / root);
}

TEST(Fft, PromotesAsPyTorch) {
  EXPECT_EQ(fft::fft(ones({4}, kLong)).dtype(), kComplexFloat);
  EXPECT_EQ(fft::rfft(ones({4}, kBool)).dtype(), kComplexFloat);
  EXPECT_EQ(fft::fft(ones({4}, kDouble)).dtype(), kComplexDouble);
  EXPECT_EQ(fft::irfft(ones({4}, kDouble)).dtype(), kDouble);
  EXPECT_THROW(fft::fft(ones({4}, kHalf)), TypeError);
  EXPECT_THROW(fft::rfft(ones({4}, kComplexFloat)), TypeError);
  EXPECT_THROW(fft::ihfftn(ones({4}, kComplexFloat)), TypeError);
}

// A shift of the signal turns the phases, and the halves of a spectrum change places.
TEST(Fft, ShiftsAndCountsFrequencies) {
  manual_seed(7);
  const Tensor z = randn({9}, kComplexDouble), k = arange(9, kDouble);
  EXPECT_LE(
      difference(fft::fft(z.roll(2)), fft::fft(z) * polar(ones({9}, kDouble), k * (-4 * M_PI / 9))),
      1e-14);
  expect_values(fft::fftfreq(5), {0, 0.2, 0.4, -0.4, -0.2}, 1e-7);
  expect_values(fft::fftfreq(4, 0.5, kDouble), {0, 0.5, -1, -0.5});
  expect_values(fft::rfftfreq(5), {0, 0.2, 0.4}, 1e-7);
  expect_values(fft::rfftfreq(4, 0.5, kDouble), {0, 0.5, 1});
  expect_values(fft::fftshift(fft::fftfreq(5, 0.2, kDouble)), {-2, -1, 0, 1, 2}, 1e-15);
  expect_values(fft::fftshift(arange(4)), {2, 3, 0, 1});
  expect_values(fft::ifftshift(fft::fftshift(arange(5))), {0, 1, 2, 3, 4});
  expect_values(fft::fftshift(arange(6).view({2, 3}), IntArrayRef({1})), {2, 0, 1, 5, 3, 4});
  EXPECT_THROW(fft::fftfreq(4, kLong), TypeError);
}

TEST(Fft, SaysWhatIsWrong) {
  const Tensor x = ones({2, 3});
  expect_error<ValueError>([&] { fft::fft(x, 0); }, "Invalid number of data points (0) specified");
  expect_error<ValueError>([&] { fft::irfft(ones({1})); },
                           "Invalid number of data points (0) specified");
  expect_error<ValueError>([&] { fft::fft(x, {}, -1, "half"); },
                           "Invalid normalization mode: \"half\"");
  expect_error<ValueError>(
      [&] {
        fft::fftn(x, {}, IntArrayRef({0, -2}));
      },
      "FFT dims must be unique");
  expect_error<ValueError>(
      [&] {
        fft::fftn(x, IntArrayRef({2}), IntArrayRef({0, 1}));
      },
      "When given, dim and shape arguments must have the same length");
  expect_error<ValueError>(
      [&] {
        fft::fftn(x, IntArrayRef({1, 1, 1}));
      },
      "Got shape with 3 values but input tensor only has 2 dimensions");
  expect_error<ValueError>([&] { fft::rfftn(x, {}, IntArrayRef()); },
                           "must transform at least one axis");
  expect_error<IndexError>([&] { fft::fft(ones({})); },
                           "Dimension specified as -1 but tensor has no dimensions");
  expect_error<TypeError>([&] { fft::rfft(ones({2}, kComplexFloat)); },
                          "expects a real input tensor");
  EXPECT_THROW(fft::fft(x, {}, 2), IndexError);
}

TEST(Fft, IsOneCallUnderVmap) {
  manual_seed(8);
  const Tensor z = randn({5, 4, 6}, kComplexDouble);
  const Tensor got = autograd::functional::vmap(
      [](const Tensor& x) { return fft::fft(x, std::nullopt, 0); }, 1)(z);
  EXPECT_LE(difference(got, fft::fft(z, std::nullopt, 0).movedim(1, 0)), 1e-14);
  const Tensor real = autograd::functional::vmap(
      [](const Tensor& x) { return fft::irfft2(fft::rfft2(x)); })(z.real());
  EXPECT_LE(difference(real, z.real()), 1e-14);
}

}  // namespace
}  // namespace gradus
