// softmax on the CPU against plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/softmax_loops.h"
#include "tests/random.h"

namespace gradus::test {
namespace {
constexpr double kInfinity = INFINITY;

// Calls f(the row-major indices of a line's elements) for every line along dim.
template <class F>
void for_lines(const Tensor& x, int64_t dim, F f) {
  int64_t inner = 1;
  for (int64_t d = x.dim(); --d > dim;) inner *= x.sizes()[d];
  const int64_t n = x.sizes()[dim];
  std::vector<int64_t> at(static_cast<size_t>(n));
  for (int64_t line = 0; line < x.numel() / n; ++line) {
    for (size_t i = 0; i < at.size(); ++i)
      at[i] = line / inner * inner * n + static_cast<int64_t>(i) * inner + line % inner;
    f(at);
  }
}

double unit_of(ScalarType dtype) { return dtype == kFloat ? 0x1p-24 : 0x1p-53; }

void expect_within(double got, double want, double tolerance, const std::string& what) {
  if (std::isnan(want) || std::isinf(want))
    ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << what << got << " " << want;
  else
    ASSERT_NEAR(got, want, tolerance) << what;
}

std::string describe(const char* what, bool log, const Tensor& x, int64_t dim) {
  std::string out = what;
  append(out, x.sizes());
  append(out, x.strides());
  return out + (log ? " log" : "") + " along " + std::to_string(dim) + ": ";
}

void expect_softmax(bool log, const Tensor& x, int64_t dim, const Tensor& out) {
  std::vector<double> in(static_cast<size_t>(x.numel()));
  for (int64_t i = 0; i < x.numel(); ++i) in[static_cast<size_t>(i)] = get(x, i);
  cpu_backend().softmax(log, x, dim, out);
  const double unit = unit_of(x.dtype());
  for_lines(x, dim, [&](const std::vector<int64_t>& line) {
    long double top = -kInfinity, sum = 0;
    for (const int64_t i : line) top = std::max<long double>(top, in[static_cast<size_t>(i)]);
    for (const int64_t i : line) sum += std::exp(in[static_cast<size_t>(i)] - top);
    for (const int64_t i : line) {
      const long double centred = in[static_cast<size_t>(i)] - top;
      const auto want =
          static_cast<double>(log ? centred - std::log(sum) : std::exp(centred) / sum);
      // A rounded difference is that much in its power, a logarithm has the roundings of its terms,
      // and a sum rounds for each of up to 64 in a lane and some times later.
      const auto far = static_cast<double>(std::abs(centred));
      const double terms = 8 + std::min(static_cast<double>(line.size()), 64.0);
      const double size = log ? far + std::abs(want) + terms : want > 0 ? want * (far + terms) : 0;
      expect_within(get(out, i), want, 2 * unit * size + 1e-45,
                    describe("softmax of ", log, x, dim) + std::to_string(i));
    }
  });
}

void expect_gradient(bool log, const Tensor& grad, const Tensor& y, int64_t dim,
                     const Tensor& out) {
  std::vector<double> g(static_cast<size_t>(y.numel())), r(g.size());
  for (size_t i = 0; i < g.size(); ++i)
    g[i] = get(grad, static_cast<int64_t>(i)), r[i] = get(y, static_cast<int64_t>(i));
  cpu_backend().softmax_grad(log, grad, y, dim, out);
  const double unit = unit_of(y.dtype());
  for_lines(y, dim, [&](const std::vector<int64_t>& line) {
    long double sum = 0;
    double size = 0;
    for (const int64_t at : line) {
      const size_t i = static_cast<size_t>(at);
      sum += log ? g[i] : static_cast<long double>(g[i]) * r[i];
      size += std::abs(log ? g[i] : g[i] * r[i]);
    }
    for (const int64_t at : line) {
      const size_t i = static_cast<size_t>(at);
      const double factor = log ? std::exp(r[i]) : r[i];
      const auto want = static_cast<double>(log ? g[i] - factor * sum : factor * (g[i] - sum));
      expect_within(get(out, at), want, 2 * unit * (std::abs(g[i]) + factor * 72 * (size + 1)),
                    describe("gradient of ", log, y, dim) + std::to_string(at));
    }
  });
}

TEST(CpuSoftmax, RandomShapesDimsAndLayouts) {
  for (int round = 0; round < 300; ++round) {
    Dims sizes = random_sizes(4, pick(0, 3) ? 7 : 40);
    if (sizes.empty()) sizes.push_back(pick(1, 2000));
    const ScalarType dtype = pick(0, 1) ? kFloat : kDouble;
    const bool log = pick(0, 1);
    const int64_t dim = pick(0, std::ssize(sizes) - 1);
    const Tensor x = random_tensor(sizes, dtype, -9, 9), y = random_tensor(sizes, dtype, 0, 1);
    expect_softmax(log, x, dim, random_layout(sizes, dtype));
    expect_gradient(log, x, y, dim, random_layout(sizes, dtype));
  }
}

// Lengths and widths around those at which the loops change their method.
TEST(CpuSoftmax, LinesAndColumnsOfEveryLength) {
  for (const int64_t n : {1, 2, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 130, 1025})
    for (const int64_t m : {int64_t{1}, int64_t{5}, int64_t{19}, pick(60, 70)})
      for (const ScalarType dtype : {kFloat, kDouble})
        for (const bool log : {false, true})
          for (const int64_t dim : {0, 1}) {
            const Dims sizes = dim == 0 ? Dims{n, m} : Dims{m, n};
            const Tensor x = random_tensor(sizes, dtype, -9, 9);
            expect_softmax(log, x, dim, test::empty(sizes, dtype));
            expect_gradient(log, x, random_tensor(sizes, dtype, 0, 1), dim,
                            test::empty(sizes, dtype));
          }
  expect_softmax(false, random_tensor({40, 700}, kFloat), 0, test::empty({40, 700}));  // two panels
  expect_softmax(true, random_tensor({3000, 150}, kFloat), 0, test::empty({3000, 150}));
}

TEST(CpuSoftmax, InPlace) {
  for (const int64_t dim : {0, 1, 2})
    for (const bool log : {false, true}) {
      const Dims sizes = {pick(1, 20), pick(1, 70), pick(1, 20)};
      const Tensor x = random_layout(sizes, kFloat);
      for (int64_t i = 0; i < x.numel(); ++i) set(x, i, real(-4, 4));
      expect_softmax(log, x, dim, x);
      const Tensor y = random_tensor(sizes, kFloat, 0, 1);
      expect_gradient(log, x, y, dim, x);
    }
}

TEST(CpuSoftmax, InfinitiesAndNan) {
  const double nan = std::nan("");
  const std::vector<std::vector<double>> lines = {{-kInfinity, 0, 1},
                                                  {-kInfinity, -kInfinity, -kInfinity},
                                                  {kInfinity, 0, -kInfinity},
                                                  {kInfinity, kInfinity, 0},
                                                  {nan, 0, 1},
                                                  {0, 1, nan},
                                                  {nan, kInfinity, 1},
                                                  {1e30, -1e30, 0},
                                                  {1000, 1001, -1000}};
  for (const std::vector<double>& few : lines)
    for (const int64_t n : {3, 40, 700})
      for (const bool log : {false, true}) {
        std::vector<double> values(static_cast<size_t>(n), few[2]);
        const int64_t at = pick(0, n - 2);
        values[static_cast<size_t>(at)] = few[0], values[static_cast<size_t>(at) + 1] = few[1];
        const Tensor x = tensor({n}, values);
        const Tensor column = raw::expand(raw::unsqueeze(x, 1), {n, 20});
        expect_softmax(log, x, 0, test::empty({n}));
        expect_softmax(log, raw::clone(column), 0, test::empty({n, 20}));
        expect_softmax(log, column, 0, test::empty({n, 20}));
      }
}

TEST(CpuSoftmax, SumsOfAMillionStayAccurate) {
  const int64_t n = 1'000'000;
  for (const Dims& sizes : {Dims{n, 1}, Dims{n, 3}, Dims{3, n}}) {
    const Tensor x = test::empty(sizes), y = test::empty(sizes);
    cpu_backend().random(Distribution::uniform, 0, 1, {7, 0}, x);
    const int64_t dim = sizes[0] == n ? 0 : 1;
    cpu_backend().softmax(true, x, dim, y);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += std::exp(static_cast<double>(x.data_ptr<float>()[i * x.strides()[dim]]));
    for (const int64_t i : {int64_t{0}, n - 1}) {
      const int64_t at = i * x.strides()[dim];
      EXPECT_NEAR(y.data_ptr<float>()[at],
                  static_cast<double>(x.data_ptr<float>()[at]) - std::log(sum), 1.5e-6);
    }
  }
}

TEST(CpuSoftmax, IsTheSameOnAnyNumberOfThreads) {
  for (const Dims& sizes : {Dims{200'001}, Dims{3001, 70}, Dims{70, 3001}, Dims{9000, 7, 3}}) {
    const Tensor x = test::empty(sizes);
    cpu_backend().random(Distribution::normal, 0, 1, {5, 0}, x);
    for (int64_t d = 0; d < x.dim(); ++d)
      for (const bool log : {false, true}) {
        const Tensor many = test::empty(sizes), one = test::empty(sizes);
        const auto expect_same = [&](const auto& f) {
          f(many);
          cpu::parallel_for(0, 2, 1, [&](int64_t i, int64_t) {  // one thread inside of a loop
            if (i == 0) f(one);
          });
          EXPECT_EQ(std::memcmp(many.data_ptr(), one.data_ptr(), one.nbytes()), 0)
              << describe("", log, x, d);
        };
        expect_same([&](const Tensor& out) { cpu_backend().softmax(log, x, d, out); });
        expect_same([&](const Tensor& out) { cpu_backend().softmax_grad(log, x, x, d, out); });
      }
  }
}

// The results of a set's loop for some lines, in rows and then in columns.
template <class T>
std::vector<T> results(const cpu::SoftmaxLoop<T>& loop, const std::vector<T>& x,
                       const std::vector<T>& y, int64_t n, int64_t count) {
  std::vector<T> out(2 * x.size());
  const T* const in[] = {x.data(), y.data()};
  const int64_t rows[] = {n, n, n}, columns[] = {count, count, count};
  loop.lines(n, count, rows, out.data(), in);
  loop.columns(n, count, columns, out.data() + x.size(), in);
  return out;
}

template <class T>
void check_sets() {
  for (const int64_t n : {5, 16, 100, 1500}) {
    constexpr int64_t kCount = 21;
    std::vector<T> x(static_cast<size_t>(n * kCount)), y(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<T>(real(-5, 5)), y[i] = static_cast<T>(real(0, 1));
    for (const auto loop :
         {&cpu::SoftmaxLoops<T>::softmax, &cpu::SoftmaxLoops<T>::log_softmax,
          &cpu::SoftmaxLoops<T>::softmax_grad, &cpu::SoftmaxLoops<T>::log_softmax_grad}) {
      std::vector<T> of_avx2;
      const std::vector<T> baseline = results(
          cpu::table_of<cpu::SoftmaxLoops<T>>(cpu::instruction_sets()[0]).*loop, x, y, n, kCount);
      for (const cpu::InstructionSet set : cpu::instruction_sets()) {
        const std::vector<T> out =
            results(cpu::table_of<cpu::SoftmaxLoops<T>>(set).*loop, x, y, n, kCount);
        // Sums of terms up to 5, which a set without fused products rounds otherwise.
        const double unit = unit_of(dtype_of<T>) * 40 * static_cast<double>(n);
        for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], baseline[i], unit);
        if (set == cpu::InstructionSet::avx2) of_avx2 = out;
        const bool by_table =
            std::is_same_v<T, float> &&  // in AVX-512 alone
            (loop == &cpu::SoftmaxLoops<T>::softmax || loop == &cpu::SoftmaxLoops<T>::log_softmax);
        if (set == cpu::InstructionSet::avx512 && !by_table && !of_avx2.empty()) {
          EXPECT_EQ(std::memcmp(out.data(), of_avx2.data(), out.size() * sizeof(T)), 0) << n;
        }
      }
    }
  }
}
TEST(CpuSoftmax, SetsAgreeFloat) { check_sets<float>(); }
TEST(CpuSoftmax, SetsAgreeDouble) { check_sets<double>(); }

TEST(RawSoftmax, RefusesWhatItCannotDo) {
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([] { raw::softmax(false, test::empty({2}, kLong), 0); }),
            "softmax: not implemented for 'Long', which is not a floating point type; convert with "
            ".to(kFloat), or pass dtype");
  EXPECT_THROW(raw::softmax(true, test::empty({2, 3}), 2), IndexError);
  EXPECT_NE(message([] {
              raw::softmax(true, test::empty({2, 3}), 2);
            }).find("log_softmax"),
            std::string::npos);
}

TEST(RawSoftmax, NumbersOfSixteenBitsAndOfNoDimension) {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Tensor x = tensor({3}, {1, 2, 3}, dtype), y = raw::softmax(false, x, 0);
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_NEAR(get(y, 2), std::exp(3) / (std::exp(1) + std::exp(2) + std::exp(3)), 4e-3);
    EXPECT_EQ(raw::softmax_grad(false, x, y, 0).dtype(), dtype);
  }
  EXPECT_EQ(get(raw::softmax(false, tensor({}, {5}), -1), 0), 1);
  EXPECT_EQ(get(raw::softmax(true, tensor({}, {5}), 0), 0), 0);
  EXPECT_EQ(raw::softmax(false, test::empty({0, 3}), 0).numel(), 0);
  EXPECT_EQ(raw::softmax(false, test::empty({3, 0}), 1).numel(), 0);
}

}  // namespace
}  // namespace gradus::test
