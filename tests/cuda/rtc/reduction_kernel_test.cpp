// ReductionKernel: values over shapes, strides, dimensions and types; errors.
#include "gradus/cuda/rtc/reduction_kernel.h"

#include "tests/cuda/rtc/rtc_test.h"

namespace gradus {
namespace {

using cuda::ReductionKernel;

const ReductionKernel& l2norm() {
  static const ReductionKernel once("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm");
  return once;
}

Tensor expected(const Tensor& x, OptionalIntArrayRef dim, bool keepdim = false) {
  return (x * x).sum(dim, keepdim).sqrt();
}

TEST_F(Rtc, ReductionsOverAnyDimensions) {
  const Tensor x = randn({3, 40, 5}, kCUDA);
  for (const Tensor& each : {x, x.transpose(0, 2), x.slice(1, 0, 40, 3)}) {
    EXPECT_TRUE(l2norm()(each).allclose(expected(each, std::nullopt)));
    for (const std::vector<int64_t>& dim :
         std::vector<std::vector<int64_t>>{{0}, {1}, {-1}, {0, 2}, {2, 1}})
      for (const bool keepdim : {false, true}) {
        const Tensor y = l2norm()(each, dim, keepdim), want = expected(each, dim, keepdim);
        EXPECT_EQ(y.sizes(), want.sizes());
        EXPECT_TRUE(y.allclose(want)) << each.strides() << IntArrayRef(dim);
      }
  }
}

TEST_F(Rtc, ReductionsOfEverySize) {
  for (const int64_t n : {0, 1, 2, 31, 255, 257, 5000, 40000}) {
    const Tensor x = randn({n}, kCUDA), wide = randn({2, n}, kCUDA);
    EXPECT_TRUE(l2norm()(x).allclose(expected(x, std::nullopt))) << n;
    EXPECT_TRUE(l2norm()(wide, 1).allclose(expected(wide, 1))) << n;
    EXPECT_TRUE(l2norm()(wide, 0).allclose(expected(wide, 0))) << n;
  }
}

TEST_F(Rtc, ReductionsOfTypesSeveralInputsAndOutputs) {
  const ReductionKernel moments("T x, T y, T scale", "T mean, float64 sum", "scale * x * y",
                                "a + b", "mean = a / 6; sum = a", "0", "moments", "double");
  for (const ScalarType type : {kHalf, kFloat, kDouble}) {
    const Tensor x = arange(12, kCUDA).reshape({2, 6}).to(type), y = arange(6, kCUDA).to(type);
    const auto out = moments.call({x, y, 2}, 1);
    const Tensor sum = (2 * x.to(kDouble) * y.to(kDouble)).sum(1);
    EXPECT_EQ(out[0].scalar_type(), type);
    EXPECT_TRUE(out[0].to(kDouble).allclose((sum / 6).to(type).to(kDouble))) << type;
    EXPECT_TRUE(out[1].allclose(sum)) << type;
  }
  const ReductionKernel argmax("float x", "int64_t at", "Best{x, i}", "a.value >= b.value ? a : b",
                               "at = a.at", "Best{-INFINITY, -1}", "argmax", "Best",
                               "struct Best { float value; long long at; };");
  const Tensor x = randperm(600, kCUDA).to(kFloat).reshape({3, 200});
  EXPECT_EQ(argmax(x).item<int64_t>(), x.argmax().item<int64_t>());
  const Tensor rows = arange(3, kCUDA) * 200;
  EXPECT_TRUE((argmax(x, 1) - rows).equal(x.argmax(1)));
}

TEST_F(Rtc, WrongArgumentsOfAReductionAreNamed) {
  const Tensor x = randn({4, 3}, kCUDA);
  EXPECT_CONTAINS(message_of<TypeError>([&] {
                    l2norm()({x, x});
                  }),
                  "l2norm takes 1 inputs, and got 2");
  EXPECT_CONTAINS(message_of<TypeError>([&] { l2norm()({3.0}); }), "nothing to reduce");
  EXPECT_CONTAINS(message_of<IndexError>([&] { l2norm()(x, 2); }), "l2norm");
  EXPECT_CONTAINS(message_of<ValueError>([&] { l2norm()(x.cpu()); }), "is on the CPU");
  const ReductionKernel wrong("T x", "T y", "x", "a + c", "y = a", "0");
  const int line = __LINE__ - 1;
  EXPECT_CONTAINS(message_of<CompileError>([&] { wrong(x); }),
                  "reduction_kernel_test.cpp:" + std::to_string(line) + ":");
  EXPECT_CONTAINS(
      message_of<ValueError>([] { ReductionKernel("T x", "T y", "x", "a", "y = a", ""); }),
      "it has no identity");
}

}  // namespace
}  // namespace gradus
