// ElementwiseKernel: values over random shapes and strides, types, outputs, errors.
#include "gradus/cuda/rtc/elementwise_kernel.h"

#include "tests/cuda/rtc/rtc_test.h"
#include "tests/random.h"

namespace gradus {
namespace {

using cuda::ElementwiseKernel;

const ElementwiseKernel& squared_diff() {
  static const ElementwiseKernel once("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff");
  return once;
}

Tensor expected(const Tensor& x, const Tensor& y) { return (x - y) * (x - y); }

TEST_F(Rtc, ElementwiseOfContiguousTensors) {
  for (const int64_t n : {0, 1, 3, 4, 5, 1023, 1024, 5000}) {
    const Tensor x = randn({n}, kCUDA), y = randn({n}, kCUDA);
    EXPECT_TRUE(squared_diff()(x, y).allclose(expected(x, y))) << n;
    if (n > 1) {  // at addresses that are no multiple of a vector
      const Tensor a = x.slice(0, 1), b = y.slice(0, 1);
      EXPECT_TRUE(squared_diff()(a, b).allclose(expected(a, b))) << n;
    }
  }
}

TEST_F(Rtc, ElementwiseOfAnyStrides) {
  const Tensor x = randn({4, 5, 6}, kCUDA), y = randn({6, 5, 4}, kCUDA).permute({2, 1, 0});
  const Tensor row = randn({6}, kCUDA), column = randn({5, 1}, kCUDA), one = randn({}, kCUDA);
  for (const Tensor& a :
       {x, y, x.slice(1, 0, 5, 2).slice(1, 0, 1), row, column, one, x.select(1, 3).unsqueeze(1)})
    for (const Tensor& b : {x, row, one, y.transpose(0, 1).transpose(0, 1)}) {
      const Tensor z = squared_diff()(a, b);
      EXPECT_TRUE(z.is_contiguous());
      EXPECT_EQ(z.sizes(), expected(a, b).sizes());
      EXPECT_TRUE(z.allclose(expected(a, b))) << a.sizes() << a.strides() << b.sizes();
    }
}

// Vectors of some tensors, and one element of others for each of them; under any names.
TEST_F(Rtc, ElementwiseOfVectorsThatBroadcast) {
  const ElementwiseKernel f("T walk, T size, T first", "T group", "group = walk * size - first",
                            "f");
  const Tensor one = randn({}, kCUDA);
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{1003}, {6, 7}, {2, 6, 64}}) {
    const Tensor x = randn(shape, kCUDA), row = randn({shape.back() + 1}, kCUDA).slice(0, 1);
    const Tensor column = shape.size() > 1 ? randn({shape.end()[-2], 1}, kCUDA) : one;
    for (const Tensor& y : {row, row.clone(), column})
      EXPECT_TRUE(f(x, y, one).allclose(x * y - one)) << IntArrayRef(shape) << y.sizes();
  }
}

TEST_F(Rtc, ElementwiseOfEveryTypeAndOfNumbers) {
  for (const ScalarType type :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble}) {
    const Tensor x = arange(10, kCUDA).to(type), y = arange(10, kCUDA).flip({0}).to(type);
    EXPECT_TRUE(squared_diff()(x, y).equal(expected(x, y))) << type;
    EXPECT_EQ(squared_diff()(x, 3).scalar_type(), type);
    EXPECT_TRUE(squared_diff()(x, 3).equal(expected(x, full_like(x, 3)))) << type;
  }
  EXPECT_EQ(squared_diff()(5, 2).item<int>(), 9);
}

TEST_F(Rtc, ElementwiseHasSeveralOutputsRawInputsAndAPreamble) {
  const ElementwiseKernel kernel("T x, raw T table, int64_t step", "T shifted, bool large",
                                 "shifted = x + at(table, (i + step) % n); large = x > T(2)",
                                 "mixed",
                                 R"(
template <class A> __device__ auto at(const A& table, long long k) { return table[k % table.size()]; })");
  const Tensor x = arange(6, TensorOptions(kCUDA).dtype(kFloat)).reshape({2, 3});
  const Tensor table = arange(12, TensorOptions(kCUDA).dtype(kFloat)).slice(0, 0, 12, 2);
  const auto out = kernel.call({x, table, 1});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_TRUE(out[0].equal(x + table.roll(-1).reshape({2, 3}))) << out[0];
  EXPECT_TRUE(out[1].equal(x.gt(2)));
}

TEST_F(Rtc, ElementwiseWritesIntoGivenOutputs) {
  const Tensor x = randn({8, 3}, kCUDA), y = randn({8, 3}, kCUDA), old = x.clone();
  const uint32_t version = x._version();
  EXPECT_TRUE(squared_diff()(x, y, x).is_same(x));  // in place
  EXPECT_TRUE(x.allclose(expected(old, y)));
  EXPECT_GT(x._version(), version);
  const Tensor wide = zeros({3, 16}, kCUDA), part = wide.t().slice(0, 0, 16, 2);
  squared_diff()(x, y, part);
  EXPECT_TRUE(part.allclose(expected(x, y)));
  EXPECT_EQ(wide.count_nonzero().item<int64_t>(), 24);

  const ElementwiseKernel add_to("T x", "T z", "z += x", "add_to");
  const Tensor total = ones({1000}, kCUDA);
  add_to(total, total);
  EXPECT_TRUE(total.eq(2).all().item<bool>());

  const ElementwiseKernel histogram("int64_t x", "raw int32 count", "atomicAdd(&count[x], 1)",
                                    "histogram");
  const Tensor count = zeros({3}, TensorOptions(kCUDA).dtype(kInt));
  histogram(tensor({0, 2, 2, 1, 2}).to(kCUDA), count);
  EXPECT_TRUE(count.cpu().equal(tensor({1, 1, 3}, kInt)));
  const ElementwiseKernel iota("", "raw int64 out", "out[i] = n - i", "iota");
  const Tensor out = zeros({4}, TensorOptions(kCUDA).dtype(kLong));
  iota.call({out}, 4);
  EXPECT_TRUE(out.cpu().equal(tensor({4, 3, 2, 1})));
}

TEST_F(Rtc, WrongArgumentsOfAnElementwiseKernelAreNamed) {
  const Tensor x = randn({4, 3}, kCUDA);
  const auto& f = squared_diff();
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(x, x.to(kDouble)); }),
                  "squared_diff: the argument 'y' is a tensor of float64; expected float32, as "
                  "other arguments of type T; convert it with .to(kFloat)");
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(x); }),
                  "squared_diff takes 2 inputs and gives 1 outputs, and got 1 arguments");
  EXPECT_CONTAINS(message_of<ValueError>([&] { f(x, x.cpu()); }), "the argument 'y' is on the CPU");
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(x.to(kLong), 2.5); }),
                  "the argument 'y' is a number of type double; expected an integer");
  EXPECT_CONTAINS(message_of<ValueError>([&] { f(x, randn({5}, kCUDA)); }), "squared_diff");
  EXPECT_CONTAINS(message_of<ValueError>([&] { f(x, x, randn({4}, kCUDA)); }), "the output 'z'");
  EXPECT_CONTAINS(
      message_of<ValueError>([&] { f(x.slice(0, 0, 3), x.slice(0, 0, 3), x.slice(0, 1)); }),
      "the output 'z' overlaps 'x' otherwise than element on element");
  EXPECT_CONTAINS(message_of<ValueError>([&] {
                    f(x, x, zeros({1}, kCUDA).expand({4, 3}));
                  }),
                  "several elements in one place");
  const Tensor w = randn({3}, kCUDA).requires_grad_();
  EXPECT_CONTAINS(message_of<Error>([&] { f(x, w); }), "'y' requires grad");
  EXPECT_CONTAINS(message_of<TypeError>([] { ElementwiseKernel("S3 x", "T y", "y = x"); }),
                  "the type 'S3' of 'x' is not known");
  EXPECT_CONTAINS(message_of<ValueError>([] { ElementwiseKernel("T", "T y", "y = x"); }),
                  "'T' is not a type and a name");
  EXPECT_CONTAINS(message_of<TypeError>([] { ElementwiseKernel("float x", "T y", "y = x")(1); }),
                  "no argument tells the type T of 'y'");
  const ElementwiseKernel wrong("T x", "T y", "y = x +* 2");
  const int line = __LINE__ - 1;
  EXPECT_CONTAINS(message_of<CompileError>([&] { wrong(x); }),
                  "elementwise_kernel_test.cpp:" + std::to_string(line) + ":");
}

}  // namespace
}  // namespace gradus
