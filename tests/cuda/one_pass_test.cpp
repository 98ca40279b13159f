// Operations that have a kernel of their own on a GPU and are made of others on the CPU: one
// against the other.
#include <limits>

#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

class CudaOnePass : public GpuTest {};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Few different values, NaN and both zeros among those of floating point.
Pair tied(ScalarType dtype, const MemoryLayout& layout, int64_t values = 3) {
  const Tensor memory = random_memory(dtype, layout.memory() + 3, {-3, 3});
  for (int64_t i = 0; i < memory.numel(); ++i)
    if (isFloatingType(dtype))
      test::set(memory, i,
                pick(0, 9) == 0 ? (pick(0, 1) ? kNan : -0.0)
                                : static_cast<double>(pick(-values, values)));
  return pair_of(memory, layout);
}

void expect_equal(const Tensor& gpu, const Tensor& cpu, const std::string& what) {
  ASSERT_EQ(gpu.dtype(), cpu.dtype()) << what;
  expect_close(gpu, cpu, 0, what);
}
void expect_equal(const TensorPair& gpu, const TensorPair& cpu, const std::string& what) {
  expect_equal(std::get<0>(gpu), std::get<0>(cpu), what + ": values");
  expect_equal(std::get<1>(gpu), std::get<1>(cpu), what + ": indices");
}

TEST_F(CudaOnePass, AnyAndAllOfEveryDtypeAndLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype :
         {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble})
      for (const int share : {0, 1, 1000}) {  // of 1000 elements that are true
        const Tensor memory = random_memory(dtype, layout.memory() + 3, {1, 1});
        for (int64_t i = 0; i < memory.numel(); ++i)
          test::set(memory, i, pick(0, 999) < share ? 1 : 0);
        const Pair x = pair_of(memory, layout);
        const std::string what = describe("any", dtype, layout.name);
        expect_equal(x.gpu.any(), x.cpu.any(), what);
        expect_equal(x.gpu.all(), x.cpu.all(), what);
        for (int64_t d = 0; d < x.cpu.dim(); ++d) {
          expect_equal(x.gpu.any(d), x.cpu.any(d), what);
          expect_equal(x.gpu.all(d, true), x.cpu.all(d, true), what);
        }
      }
  const Tensor zeros = tensor({-0.0, 0.0}), nan = tensor({0.0, kNan});
  EXPECT_FALSE(zeros.to(kCUDA).any().item<bool>());
  EXPECT_TRUE(nan.to(kCUDA).any().item<bool>());
}

TEST_F(CudaOnePass, AminmaxOfEveryDtypeAndLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kBool, kByte, kInt, kLong, kHalf, kFloat, kDouble}) {
      const Pair x = random_pair(dtype, layout, {0, 3});
      if (x.cpu.numel() == 0) continue;
      for (const bool keepdim : {false, true})
        expect_equal(x.gpu.aminmax(std::nullopt, keepdim), x.cpu.aminmax(std::nullopt, keepdim),
                     describe("aminmax", dtype, layout.name));
    }
  const Tensor long_one = randn({100'003}), nan = tensor({1.0, kNan, 2.0});
  expect_equal(long_one.to(kCUDA).aminmax(), long_one.aminmax(), "long");
  EXPECT_TRUE(std::isnan(std::get<0>(nan.to(kCUDA).aminmax()).item<double>()));
  EXPECT_TRUE(std::isnan(std::get<1>(nan.to(kCUDA).aminmax()).item<double>()));
}

TEST_F(CudaOnePass, HistogramsOfAnyRange) {
  for (const int64_t n : {int64_t{1}, int64_t{1000}, int64_t{30'001}})
    for (const int64_t bins : {1, 7, 100, 5000})
      for (const ScalarType dtype : {kFloat, kDouble}) {
        const Tensor x = rand({n}, dtype) * 10 - 3;
        const std::string what = describe("histc", dtype, std::to_string(bins));
        expect_equal(x.to(kCUDA).histc(bins), x.histc(bins), what);
        expect_equal(x.to(kCUDA).histc(bins, 0, 5), x.histc(bins, 0, 5), what);
      }
  const Tensor x = tensor({0.0, 1.0, 2.0, 3.0, kNan});
  expect_equal(x.to(kCUDA).histc(3, 0, 3), x.histc(3, 0, 3), "the last end, and NaN");
  expect_equal(x.to(kCUDA).narrow(0, 1, 1).histc(4), x.narrow(0, 1, 1).histc(4), "one element");
  EXPECT_CONTAINS(message_of<ValueError>([&] { x.to(kCUDA).histc(3); }), "is not finite");
}

TEST_F(CudaOnePass, NormsOfAnyOrder) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kFloat, kDouble, kHalf})
      for (const double p : {3.0, 0.5, 2.5}) {
        const Pair x = random_pair(dtype, layout, {-2, 2});
        const std::string what = describe("norm", dtype, layout.name);
        const double near = dtype == kDouble ? 1e-12 : dtype == kFloat ? 1e-4 : 2e-2;
        const auto compare = [&](const Tensor& gpu, const Tensor& cpu) {
          EXPECT_TRUE(gpu.cpu().allclose(cpu, near, near)) << what << " " << p;
        };
        compare(x.gpu.norm(p), x.cpu.norm(p));
        for (int64_t d = 0; d < x.cpu.dim(); ++d) compare(x.gpu.norm(p, d), x.cpu.norm(p, d));
      }
}

TEST_F(CudaOnePass, EvenlySpacedNumbersOfEveryDtype) {
  for (const ScalarType dtype :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble})
    for (const int64_t n : {0, 1, 2, 3, 10, 1001}) {
      const std::string what = describe("linspace", dtype, std::to_string(n));
      const TensorOptions on = TensorOptions(dtype).device(kCUDA);
      expect_equal(linspace(1, 100, n, on), linspace(1, 100, n, dtype), what);
      expect_equal(linspace(7, 0, n, on), linspace(7, 0, n, dtype), what);
      const Tensor gpu = logspace(0, 2, n, 10, on), cpu = logspace(0, 2, n, 10, dtype);
      EXPECT_TRUE(!isFloatingType(dtype) || gpu.cpu().allclose(cpu)) << what;
    }
  EXPECT_EQ(linspace(0.1, 0.7, 4, TensorOptions(kDouble).device(kCUDA))[3].item<double>(), 0.7);
}

TEST_F(CudaOnePass, MediansAndModesOfEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kLong, kFloat, kDouble, kHalf}) {
      if (numel_of(layout.sizes) > 6000) continue;  // other tests have long rows
      const Pair x = tied(dtype, layout);
      for (int64_t d = 0; d < x.cpu.dim(); ++d) {
        if (x.cpu.size(d) == 0) continue;
        const std::string what = describe("median", dtype, layout.name);
        expect_equal(x.gpu.median(d), x.cpu.median(d), what);
        expect_equal(x.gpu.nanmedian(d, true), x.cpu.nanmedian(d, true), what);
        expect_equal(x.gpu.mode(d), x.cpu.mode(d), "mode, " + what);
      }
    }
}

TEST_F(CudaOnePass, MediansAndModesOfRowsOfEveryLength) {
  for (const int64_t n : {1, 2, 3, 31, 64, 257, 1000, 2048, 2049, 9001})
    for (const ScalarType dtype : {kFloat, kLong}) {
      const std::string what = describe("median", dtype, std::to_string(n));
      for (const int64_t values : {int64_t{2}, n}) {
        const Pair x = tied(dtype, contiguous_layout("", {n < 2000 ? 5 : 2, n}), values);
        expect_equal(x.gpu.median(1), x.cpu.median(1), what);
        expect_equal(x.gpu.nanmedian(1), x.cpu.nanmedian(1), what);
        expect_equal(x.gpu.mode(1), x.cpu.mode(1), what);
        expect_equal(x.gpu.kthvalue(n / 2 + 1, 1), x.cpu.kthvalue(n / 2 + 1, 1), what);
      }
    }
  const Tensor nan = full({3, 40}, kNan);
  expect_equal(nan.to(kCUDA).median(1), nan.median(1), "NaN alone");
  expect_equal(nan.to(kCUDA).nanmedian(1), nan.nanmedian(1), "NaN alone");
}

TEST_F(CudaOnePass, TheFirstOfFewLongRows) {
  for (const ScalarType dtype : {kFloat, kLong})
    for (const int64_t values : {int64_t{3}, int64_t{1'000'000}}) {
      const Pair x = tied(dtype, contiguous_layout("", {2, 20'001}), values);
      const std::string what = describe("topk", dtype, std::to_string(values));
      for (const int64_t k : {1, 10, 200})
        for (const bool largest : {false, true})
          expect_equal(x.gpu.topk(k, 1, largest), x.cpu.topk(k, 1, largest), what);
      expect_equal(x.gpu.kthvalue(17, 1), x.cpu.kthvalue(17, 1), what);
    }
  const Tensor long_row = randn({132'003});
  expect_equal(long_row.to(kCUDA).topk(5), long_row.topk(5), "one row");
  expect_equal(long_row.to(kCUDA).kthvalue(60'000), long_row.kthvalue(60'000), "sorted");
}

TEST_F(CudaOnePass, BytesOneAfterTheOther) {
  for (const int64_t n : {int64_t{1}, int64_t{16}, int64_t{8192}, int64_t{20'005}})
    for (const int64_t offset : {0, 16, 3}) {
      const MemoryLayout layout = contiguous_layout("bytes", {n}, offset);
      const Pair b = random_pair(kBool, layout), c = random_pair(kBool, layout);
      const Pair u = random_pair(kByte, layout, {0, 255}), v = random_pair(kByte, layout, {0, 255});
      const std::string what = std::to_string(n) + " from " + std::to_string(offset);
      expect_equal(b.gpu & c.gpu, b.cpu & c.cpu, what);
      expect_equal(b.gpu | c.gpu, b.cpu | c.cpu, what);
      expect_equal(b.gpu ^ c.gpu, b.cpu ^ c.cpu, what);
      expect_equal(u.gpu + v.gpu, u.cpu + v.cpu, what);
      expect_equal(u.gpu * v.gpu, u.cpu * v.cpu, what);
      expect_equal(u.gpu & v.gpu, u.cpu & v.cpu, what);
      expect_equal(u.gpu.maximum(v.gpu), u.cpu.maximum(v.cpu), what);
      expect_equal(u.gpu.minimum(v.gpu), u.cpu.minimum(v.cpu), what);
      expect_equal(~b.gpu, ~b.cpu, what);
      expect_equal(u.gpu - 3, u.cpu - 3, what);
      expect_equal(3 - u.gpu, 3 - u.cpu, what);
      expect_equal(u.gpu & 300, u.cpu & 300, what);
    }
}

TEST_F(CudaOnePass, QuotientsOfIntegers) {
  for (const MemoryLayout& layout : all_layouts()) {
    const Pair x = random_pair(kLong, layout, {-1000, 1000}),
               y = random_pair(kLong, layout, {1, 99});
    expect_equal(x.gpu / y.gpu, x.cpu / y.cpu, layout.name);
    const Tensor one = tensor({7}, kLong);
    expect_equal(x.gpu / one.to(kCUDA), x.cpu / one, layout.name);
  }
  const Tensor large = tensor({(int64_t{1} << 53) + 1, int64_t{1} << 40}, kLong);
  expect_equal(large.to(kCUDA) / large.to(kCUDA).flip(0), large / large.flip(0), "large");
}

TEST_F(CudaOnePass, SumsOf16Bits) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kHalf, kBFloat16}) {
      const Pair x = random_pair(dtype, layout, {-2, 2});
      const auto compare = [&](const Tensor& gpu, const Tensor& cpu) {
        EXPECT_TRUE(gpu.cpu().allclose(cpu, 1e-2, 1e-2)) << describe("sum", dtype, layout.name);
      };
      compare(x.gpu.sum(), x.cpu.sum());
      for (int64_t d = 0; d < x.cpu.dim(); ++d) compare(x.gpu.sum(d), x.cpu.sum(d));
      compare(x.gpu.sum(kFloat), x.cpu.sum(kFloat));
    }
}

TEST_F(CudaOnePass, MultinomialDrawsTheCpusIndices) {
  const Tensor weights = tensor({{0.0, 1.0, 3.0, 0.0}, {5.0, 0.0, 0.0, 5.0}}, kDouble);
  const Tensor many = rand({3000}) * (rand({3000}) < 0.5);
  for (const Tensor& w : {weights, many, weights[0].to(kFloat), many.to(kHalf)}) {
    Generator here = make_generator<CPUGeneratorImpl>(5),
              there = cuda::detail::createCUDAGenerator();
    there.set_current_seed(5);
    expect_equal(multinomial(w.to(kCUDA), 500, true, there), multinomial(w, 500, true, here), "");
  }
  const auto message = [](const Tensor& w) {
    return message_of<ValueError>([&] { multinomial(w.to(kCUDA), 2, true); });
  };
  EXPECT_CONTAINS(message(tensor({1.0, -1.0})), "element 1 of a row is -1");
  EXPECT_CONTAINS(message(tensor({1.0, kNan})), "either `inf`, `nan` or element < 0");
  EXPECT_CONTAINS(message(tensor({1.0, std::numeric_limits<double>::infinity()})), "is inf");
  EXPECT_CONTAINS(message(tensor({{1.0}, {0.0}})), "sum of probabilities <= 0");
}

TEST_F(CudaOnePass, NothingWaits) {
  const Tensor index = tensor({2, 0, 1}, kLong), wide = tensor({{0, 9}, {2, 9}}, kLong);
  expect_equal(one_hot(index.to(kCUDA), 4), one_hot(index, 4), "one_hot");
  expect_equal(one_hot(wide.to(kCUDA), 10), one_hot(wide, 10), "one_hot");
  EXPECT_CONTAINS(message_of<IndexError>([&] { one_hot(index.to(kCUDA), 2).cpu(); }), "2");
  EXPECT_CONTAINS(message_of<ValueError>([&] {
                    poisson(tensor({-1.0, 2.0}).to(kCUDA)).cpu();
                  }),
                  "invalid Poisson rate, expected rate to be non-negative");
  // An index of any stride.
  const Tensor x = zeros({4, 3}), column = wide.select(1, 0);
  expect_equal(x.to(kCUDA).index_fill_(0, column.to(kCUDA), 1.5),
               x.clone().index_fill_(0, column, 1.5), "index_fill");
  expect_equal(x.to(kCUDA).index({wide.to(kCUDA).select(1, 0)}), x.index({column}), "index");
}

TEST_F(CudaOnePass, TheSameTensorIsEqual) {
  const Tensor x = arange(10, kCUDA), nan = full({3}, kNan, kCUDA);
  EXPECT_TRUE(x.equal(x));
  EXPECT_TRUE(x.equal(x.view({10})));
  EXPECT_FALSE(x.narrow(0, 0, 5).equal(x.narrow(0, 5, 5)));
  EXPECT_FALSE(nan.equal(nan));
}

}  // namespace
}  // namespace gradus
