// raw::scan, arg_scan, sort and nonzero against obvious references.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/random.h"
#include "tests/support.h"

namespace gradus::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr ScalarType kAll[] = {kBool, kByte, kChar,     kShort, kInt,
                               kLong, kHalf, kBFloat16, kFloat, kDouble};

std::vector<double> values(const Tensor& x) {
  std::vector<double> out(static_cast<size_t>(x.numel()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = get(x, static_cast<int64_t>(i));
  return out;
}

// NaN equals NaN, and -0 differs from 0.
void expect_same(const std::vector<double>& got, const std::vector<double>& want,
                 const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool both_nan = std::isnan(got[i]) && std::isnan(want[i]);
    ASSERT_TRUE(both_nan || (got[i] == want[i] && std::signbit(got[i]) == std::signbit(want[i])))
        << what << ": element " << i << " is " << got[i] << ", expected " << want[i];
  }
}

// Few different values, so that many are equal, with what is special about floating point.
Tensor tied_tensor(IntArrayRef sizes, ScalarType dtype) {
  const Tensor out = random_layout(sizes, dtype);
  const std::vector<double> special = {kNan, -kInf, kInf, -0.0, 0.0};
  for (int64_t i = 0; i < out.numel(); ++i) {
    const bool is_special = isFloatingType(dtype) && pick(0, 3) == 0;
    const double low = dtype == kBool || dtype == kByte ? 0 : -5;
    set(out, i,
        is_special ? special[static_cast<size_t>(pick(0, 4))]
                   : static_cast<double>(pick(static_cast<int64_t>(low), 5)));
  }
  return out;
}

// f(line) for each line along dim, as the row-major indices of its elements.
template <class F>
void for_lines(const Tensor& x, int64_t dim, const F& f) {
  int64_t inner = 1, n = 1;
  for (int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.sizes()[d];
  if (x.dim() > 0) n = x.sizes()[dim];
  if (x.numel() == 0) return;
  for (int64_t line = 0; line < x.numel() / n; ++line) {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < n; ++i)
      places.push_back(line / inner * n * inner + i * inner + line % inner);
    f(places);
  }
}

std::string describe(const char* op, const Tensor& x, int64_t dim) {
  std::string out = std::string(op) + " of " + std::string(short_name(x.dtype())) + " ";
  append(out, x.sizes());
  return out + " along " + std::to_string(dim);
}

void check_sort(const Tensor& x, int64_t dim, bool descending) {
  std::vector<double> in = values(x), want = in, want_index(in.size());
  for_lines(x, dim, [&](const std::vector<int64_t>& line) {
    std::vector<int64_t> order(line.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    const auto at = [&](int64_t i) {
      return in[static_cast<size_t>(line[static_cast<size_t>(i)])];
    };
    const auto less = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return descending ? less(at(b), at(a)) : less(at(a), at(b));
    });
    for (size_t i = 0; i < order.size(); ++i) {
      want[static_cast<size_t>(line[i])] = at(order[i]);
      want_index[static_cast<size_t>(line[i])] = static_cast<double>(order[i]);
    }
  });
  const auto got = raw::sort(x, dim, descending);
  EXPECT_EQ(got.values.dtype(), x.dtype());
  EXPECT_EQ(got.indices.dtype(), kLong);
  EXPECT_EQ(got.values.sizes(), x.sizes());
  const Tensor laid_out = raw::empty_as(x, kFloat);
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (x.sizes()[d] == 1) continue;
    EXPECT_EQ(got.values.strides()[d], laid_out.strides()[d]) << x.sizes() << x.strides();
    EXPECT_EQ(got.indices.strides()[d], laid_out.strides()[d]) << x.sizes() << x.strides();
  }
  expect_same(values(got.indices), want_index, describe("indices of sort", x, dim));
  expect_same(values(got.values), want, describe("sort", x, dim));
}

Dims sizes_with_a_line_of(int64_t n) {
  Dims sizes = random_sizes(2, 4);
  sizes.insert(pick(0, static_cast<int64_t>(sizes.size())), n);
  return sizes;
}

TEST(RawSort, RandomShapesLayoutsAndDtypes) {
  for (int round = 0; round < 300; ++round) {
    const Dims sizes = random_sizes(4, 7);
    const Tensor x = tied_tensor(sizes, kAll[pick(0, 9)]);
    check_sort(x, x.dim() ? pick(0, x.dim() - 1) : 0, pick(0, 1));
  }
}

TEST(RawSort, LengthsAroundWhatIsSortedDifferently) {
  for (const int64_t n : {1, 2, 31, 33, 63, 64, 65, 128, 255, 256, 257, 1025, 5000})
    for (const ScalarType dtype : {kByte, kLong, kFloat, kDouble}) {
      const Tensor x = tied_tensor(sizes_with_a_line_of(n), dtype);
      for (int64_t d = 0; d < x.dim(); ++d) check_sort(x, d, pick(0, 1));
    }
}

TEST(RawSort, LongRows) {
  for (const ScalarType dtype : {kLong, kFloat}) {
    check_sort(random_tensor({140'003}, dtype, -1e9, 1e9), 0, pick(0, 1));
    check_sort(tied_tensor({2, 66'001}, dtype), 1, true);
    check_sort(tied_tensor({66'001, 2}, dtype), 0, false);
  }
}

TEST(RawSort, ExtremeNumbers) {
  using Limits = std::numeric_limits<int64_t>;
  const Tensor longs = empty({4}, kLong);
  const int64_t in[] = {0, Limits::max(), Limits::min(), -1};
  std::copy(in, in + 4, longs.data_ptr<int64_t>());
  const auto sorted = raw::sort(longs, 0, false);
  EXPECT_EQ(sorted.values.data_ptr<int64_t>()[0], Limits::min());
  EXPECT_EQ(sorted.values.data_ptr<int64_t>()[3], Limits::max());
  expect_values(sorted.indices, {2, 3, 0, 1});
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const double least = dtype == kFloat ? 0x1p-149 : 0x1p-1074;
    const double most = dtype == kFloat ? 0x1.fffffep127 : std::numeric_limits<double>::max();
    const Tensor x = tensor({8}, {kInf, least, -most, -kNan, most, -least, -kInf, kNan}, dtype);
    check_sort(x, 0, false);
    check_sort(x, 0, true);
  }
}

// torch.sort of the same values.
TEST(RawSort, KnownValues) {
  const Tensor x = tensor({8}, {kNan, 1, -kInf, kInf, kNan, -0.0, 0, -0.0});
  expect_values(raw::sort(x, 0, false).indices, {2, 5, 6, 7, 1, 3, 0, 4});
  expect_values(raw::sort(x, -1, true).indices, {0, 4, 3, 1, 5, 6, 7, 2});
  const auto scalar = raw::sort(tensor({}, {3}), -1, false);
  EXPECT_EQ(scalar.values.dim(), 0);
  expect_values(scalar.values, {3});
  expect_values(scalar.indices, {0});
  const auto nothing = raw::sort(empty({0, 3}), 0, false);
  EXPECT_EQ(nothing.values.sizes(), (Dims{0, 3}));
  EXPECT_EQ(nothing.indices.sizes(), (Dims{0, 3}));
}

// --- Scans

long double fold(ScanOp op, long double a, long double b) {
  if (op == ScanOp::cumsum) return a + b;
  if (op == ScanOp::cumprod) return a * b;
  if (a == -kInf) return b;
  return a == b ? a + std::log(2.0L) : std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

constexpr ScanOp kScans[] = {ScanOp::cumsum, ScanOp::cumprod, ScanOp::logcumsumexp};

void check_scan(ScanOp op, const Tensor& x, int64_t dim) {
  const std::vector<double> in = values(x);
  std::vector<double> want(in.size()), lost(in.size());
  for_lines(x, dim, [&](const std::vector<int64_t>& line) {
    long double state = op == ScanOp::cumsum ? 0 : op == ScanOp::cumprod ? 1 : -kInf;
    double most = 0, additions = 0;
    for (const int64_t i : line) {
      const auto at = static_cast<size_t>(i);
      want[at] = static_cast<double>(state = fold(op, state, in[at]));
      // An addition to a sum in double loses half a bit of that, however small the sum becomes.
      most = std::max(most, std::abs(want[at]));
      if (op == ScanOp::cumsum) lost[at] = ++additions * 0x1p-53 * most;
    }
  });
  const Tensor got = raw::scan(op, x, dim);
  EXPECT_EQ(got.dtype(), isFloatingType(x.dtype()) ? x.scalar_type() : kLong);
  EXPECT_TRUE(got.is_contiguous());
  EXPECT_EQ(got.sizes(), x.sizes());
  // Folded in double and rounded at the end; 16-bit types by way of float.
  const double unit = x.dtype() == kBFloat16 ? 0x1p-8
                      : x.dtype() == kHalf   ? 0x1p-11
                      : x.dtype() == kFloat  ? 0x1p-24
                                             : 1e-13;
  for (size_t i = 0; i < want.size(); ++i) {
    const double value = get(got, static_cast<int64_t>(i));
    ASSERT_NEAR(value, want[i], unit * 1.01 * std::max(1.0, std::abs(want[i])) + lost[i])
        << describe(name_of(op), x, dim) << " at " << i;
  }
}

TEST(RawScan, RandomShapesLayoutsAndDtypes) {
  for (int round = 0; round < 300; ++round) {
    const ScalarType dtype = kAll[pick(0, 9)];
    const ScanOp op = kScans[pick(0, isFloatingType(dtype) ? 2 : 1)];
    const double low = dtype == kBool || dtype == kByte ? 0 : -2;
    const Tensor x = random_tensor(random_sizes(4, 7), dtype, low, 2);
    check_scan(op, x, x.dim() ? pick(0, x.dim() - 1) : 0);
  }
}

TEST(RawScan, LinesOfEveryLength) {
  for (const int64_t n : {1, 2, 31, 255, 257, 1025, 5000})
    for (const ScalarType dtype : {kLong, kFloat, kDouble}) {
      const Tensor x = random_tensor(sizes_with_a_line_of(n), dtype, -1, 1);
      for (int64_t d = 0; d < x.dim(); ++d)
        for (const ScanOp op : kScans)
          if (op != ScanOp::logcumsumexp || dtype != kLong) check_scan(op, x, d);
    }
}

// Different factors about 1: products neither overflow nor vanish.
Tensor factors(IntArrayRef sizes, ScalarType dtype) {
  const Tensor out = random_layout(sizes, dtype);
  for (int64_t i = 0; i < out.numel(); ++i)
    set(out, i, dtype != kLong ? real(0.95, 1.05) : pick(0, 1) ? 1 : -1);
  return out;
}

TEST(RawScan, LongLines) {
  for (const ScalarType dtype : {kLong, kFloat})
    for (const ScanOp op : {ScanOp::cumsum, ScanOp::cumprod}) {
      check_scan(op, factors({100'003}, dtype), 0);
      check_scan(op, factors({40'000, 3}, dtype), 0);
      check_scan(op, factors({2, 40'000, 2}, dtype), 1);
    }
}

TEST(RawScan, IntegersWrapAround) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Tensor x = empty({3}, kLong);
  raw::fill_(x, kMost);
  const auto scan = [&](ScanOp op) {
    const Tensor out = raw::scan(op, x, 0);
    return std::vector<int64_t>(out.data_ptr<int64_t>(), out.data_ptr<int64_t>() + 3);
  };
  EXPECT_EQ(scan(ScanOp::cumsum), (std::vector<int64_t>{kMost, -2, kMost - 2}));
  EXPECT_EQ(scan(ScanOp::cumprod), (std::vector<int64_t>{kMost, 1, kMost}));
}

TEST(RawScan, DtypeIsConvertedToFirst) {
  const Tensor x = tensor({3}, {1.5, 1.5, 1.5});
  const Tensor sums = raw::scan(ScanOp::cumsum, x, 0, kLong);
  EXPECT_EQ(sums.dtype(), kLong);
  expect_values(sums, {1, 2, 3});
  const Tensor bytes = raw::scan(ScanOp::cumprod, tensor({3}, {20, 20, 1}, kInt), 0, kByte);
  EXPECT_EQ(bytes.dtype(), kByte);
  expect_values(bytes, {20, 400 - 256, 400 - 256});
  expect_values(raw::scan(ScanOp::cumsum, tensor({2}, {1, 1}, kBool), 0, kHalf), {1, 2});
}

// torch.cumsum, cumprod and logcumsumexp of the same values.
TEST(RawScan, KnownValues) {
  const auto scan = [](ScanOp op, const std::vector<double>& x) {
    return raw::scan(op, tensor({static_cast<int64_t>(x.size())}, x), 0);
  };
  expect_values(scan(ScanOp::cumprod, {2, 0, kInf, 1}), {2, 0, kNan, kNan});
  expect_values(scan(ScanOp::logcumsumexp, {-kInf, -kInf, 1, kInf, kNan, 2, kInf}),
                {-kInf, -kInf, 1, kInf, kNan, kNan, kNan});
  expect_values(scan(ScanOp::logcumsumexp, {kInf, -kInf, kInf}), {kInf, kInf, kInf});
  expect_values(scan(ScanOp::cumsum, {1, kInf, 1, -kInf, 1}), {1, kInf, kInf, kNan, kNan});
  const Tensor scalar = raw::scan(ScanOp::cumsum, tensor({}, {2.5}), -1);
  EXPECT_EQ(scalar.dim(), 0);
  expect_values(scalar, {2.5});
  EXPECT_EQ(raw::scan(ScanOp::cumsum, empty({2, 0}), 1).sizes(), (Dims{2, 0}));
}

TEST(RawScan, Errors) {
  const Tensor x = empty({2, 3}, kInt);
  expect_error<IndexError>([&] { raw::scan(ScanOp::cumsum, x, 2); }, "cumsum");
  expect_error<IndexError>([&] { raw::scan(ScanOp::cumprod, empty({}), 1); }, "cumprod");
  expect_error<IndexError>([&] { raw::arg_scan(false, x, -3); }, "cummin");
  expect_error<IndexError>([&] { raw::sort(x, 2, false); }, "sort");
  expect_error<TypeError>([&] { raw::scan(ScanOp::logcumsumexp, x, 0); },
                          "logcumsumexp: dtype int32 is not a floating point type");
  expect_error<TypeError>([&] { raw::scan(ScanOp::cumsum, x, 0, kBool); },
                          "cumsum: dtype bool cannot hold the result");
}

void check_arg_scan(bool largest, const Tensor& x, int64_t dim) {
  const std::vector<double> in = values(x);
  std::vector<double> want(in.size()), want_index(in.size());
  for_lines(x, dim, [&](const std::vector<int64_t>& line) {
    size_t best = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      const double value = in[static_cast<size_t>(line[i])];
      const double extreme = in[static_cast<size_t>(line[best])];
      if (std::isnan(value) || (largest ? value >= extreme : value <= extreme)) best = i;
      want[static_cast<size_t>(line[i])] = in[static_cast<size_t>(line[best])];
      want_index[static_cast<size_t>(line[i])] = static_cast<double>(best);
    }
  });
  const auto got = raw::arg_scan(largest, x, dim);
  EXPECT_EQ(got.values.dtype(), x.dtype());
  EXPECT_EQ(got.indices.dtype(), kLong);
  expect_same(values(got.values), want, describe(largest ? "cummax" : "cummin", x, dim));
  expect_same(values(got.indices), want_index, describe("its indices", x, dim));
}

TEST(RawArgScan, RandomShapesLayoutsAndDtypes) {
  for (int round = 0; round < 300; ++round) {
    const Tensor x = tied_tensor(random_sizes(4, 7), kAll[pick(0, 9)]);
    check_arg_scan(pick(0, 1), x, x.dim() ? pick(0, x.dim() - 1) : 0);
  }
}

TEST(RawArgScan, LinesOfEveryLength) {
  for (const int64_t n : {1, 255, 257, 1025, 40'000})
    for (const ScalarType dtype : {kLong, kFloat, kDouble}) {
      const Tensor x = random_tensor(sizes_with_a_line_of(n), dtype, -100, 100);
      for (int64_t d = 0; d < x.dim(); ++d) check_arg_scan(pick(0, 1), x, d);
    }
}

// torch.cummax and cummin of the same values.
TEST(RawArgScan, KnownValues) {
  const Tensor x = tensor({5}, {1, kNan, 2, kNan, 3});
  for (const bool largest : {false, true}) {
    const auto got = raw::arg_scan(largest, x, 0);
    expect_values(got.values, {1, kNan, kNan, kNan, kNan});
    expect_values(got.indices, {0, 1, 1, 3, 3});
  }
  expect_values(raw::arg_scan(true, tensor({6}, {1, 1, 0, 1, 2, 2}), 0).indices,
                {0, 1, 1, 3, 4, 5});
  expect_values(raw::arg_scan(false, tensor({5}, {1, 1, 0, 0, 1}), 0).indices, {0, 1, 2, 3, 3});
  expect_values(raw::arg_scan(true, tensor({2}, {-kInf, -kInf}), 0).indices, {0, 1});
  expect_values(raw::arg_scan(true, tensor({}, {3}), 0).indices, {0});
  EXPECT_EQ(raw::arg_scan(true, empty({0, 3}), 1).indices.sizes(), (Dims{0, 3}));
}

// --- Elements that are not 0

void check_nonzero(const Tensor& x) {
  std::vector<double> flat, coordinates;
  for (int64_t i = 0; i < x.numel(); ++i) {
    if (get(x, i) == 0) continue;
    flat.push_back(static_cast<double>(i));
    const size_t begin = coordinates.size();
    int64_t rest = i;
    for (int64_t d = x.dim(); d-- > 0; rest /= x.sizes()[d])
      coordinates.insert(coordinates.begin() + static_cast<int64_t>(begin),
                         static_cast<double>(rest % x.sizes()[d]));
  }
  const Tensor got = raw::nonzero(x), got_flat = raw::flat_nonzero(x);
  EXPECT_EQ(got.sizes(), (Dims{static_cast<int64_t>(flat.size()), x.dim()}));
  EXPECT_EQ(got_flat.sizes(), (Dims{static_cast<int64_t>(flat.size())}));
  EXPECT_EQ(got.dtype(), kLong);
  EXPECT_FALSE(got.is_view() || got_flat.is_view());
  expect_same(values(got), coordinates, describe("nonzero", x, -1));
  expect_same(values(got_flat), flat, describe("flat nonzero", x, -1));
}

TEST(RawNonzero, RandomShapesLayoutsAndDtypes) {
  for (int round = 0; round < 300; ++round)
    check_nonzero(tied_tensor(random_sizes(4, 7), kAll[pick(0, 9)]));
  for (const ScalarType dtype : kAll) {
    check_nonzero(raw::expand(tied_tensor({1, 4}, dtype), {3, 4}));
    check_nonzero(raw::transpose(tied_tensor({50, 60}, dtype), 0, 1));
  }
}

TEST(RawNonzero, SeveralChunks) {
  for (const int64_t n : {32767, 32768, 32769, 100'003}) check_nonzero(tied_tensor({n}, kFloat));
  check_nonzero(tied_tensor({300, 2, 201}, kBool));
  const Tensor zeros = empty({70'000}, kLong);
  raw::fill_(zeros, 0);
  check_nonzero(zeros);
}

TEST(RawNonzero, ScalarsAndNothing) {
  for (const double value : {0.0, 3.0}) check_nonzero(tensor({}, {value}));
  for (const Dims& sizes : {Dims{0}, Dims{0, 3}, Dims{3, 0, 2}}) check_nonzero(test::empty(sizes));
  check_nonzero(tensor({5}, {kNan, 0, -0.0, 1, kInf}));
}

// Complex numbers have no order: what needs one names itself in the error.
TEST(RawOrder, RefusesComplexNumbers) {
  const Tensor z = raw::to(tensor({3}, {2, 1, 3}), kComplexFloat);
  const auto refused = [](const char* op, const auto& call) {
    SCOPED_TRACE(op);
    expect_error<TypeError>(call, std::string(op) +
                                      ": not implemented for 'ComplexFloat', which has no order; "
                                      "compute with real() and imag()");
  };
  refused("sort", [&] { raw::sort(z, 0, false); });
  refused("topk", [&] { raw::select("topk", z, 0, true, 0, 1); });
  refused("median", [&] { raw::median("median", z, 0, false); });
  refused("mode", [&] { raw::mode(z, 0); });
  refused("cummax", [&] { raw::arg_scan(true, z, 0); });
  refused("argmax", [&] { raw::arg_reduce("argmax", true, z, 0); });
  refused("aminmax", [&] { raw::aminmax(z); });
  refused("searchsorted", [&] { raw::searchsorted(z, z, false); });
}

}  // namespace
}  // namespace gradus::test
