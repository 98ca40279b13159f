// Convolutions by cuDNN, chosen by name, against those of Gradus over random shapes.
#include "gradus/cuda/ops/convolution.h"

#include "gradus/gradus.h"
#include "tests/cuda/compare.h"
#include "tests/windows.h"

namespace gradus {
namespace {

using namespace test;

class ConvolutionKernels : public GpuTest {
 protected:
  void TearDown() override {
    if (cuda::is_available()) cuda::set_convolution_kernel("automatic");
  }
};

TEST_F(ConvolutionKernels, AreChosenByName) {
  EXPECT_EQ(cuda::convolution_kernels().vec(),
            (std::vector<std::string_view>{"automatic", "cudnn", "wgmma", "large_tiles",
                                           "narrow_tiles", "small_tiles"}));
  EXPECT_EQ(cuda::convolution_kernel(), "automatic");
  EXPECT_EQ(message_of<ValueError>([] { cuda::set_convolution_kernel("fastest"); }),
            "set_convolution_kernel: no convolution kernel is named 'fastest'; expected one of "
            "automatic, cudnn, wgmma, large_tiles, narrow_tiles, small_tiles");
  if (kSimulated) {
    EXPECT_EQ(message_of<Error>([] { cuda::set_convolution_kernel("cudnn"); }),
              "convolution: simulated devices have no cuDNN; use "
              "set_convolution_kernel(\"automatic\")");
  }
  EXPECT_EQ(cuda::convolution_kernel(), "automatic") << "after an error";
}

TEST_F(ConvolutionKernels, OfCudnnGiveTheSame) {
  if (kSimulated) GTEST_SKIP() << "simulated devices have no cuDNN";
  try {
    cuda::set_convolution_kernel("cudnn");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  for (int i = 0; i < 60; ++i) {
    const Convolution s = random_convolution(i % 4 == 0 ? 20 : 4, 9);
    const ScalarType dtype = i % 3 == 0 ? kDouble : kFloat;
    SCOPED_TRACE(test::describe(s));
    for (const ConvolutionPass part : kParts) {
      const auto random_of = [&](const Dims& sizes) {
        return rand(sizes, TensorOptions(kCUDA).dtype(dtype)) * 2 - 1;
      };
      const Tensor a = random_of(sizes_of(first_operand(part), s));
      const Tensor b = random_of(sizes_of(second_operand(part), s));
      const Tensor bias = part == ConvolutionPass::fprop ? random_of({s.filters}) : Tensor();
      const auto by = [&](const char* kernel) {
        cuda::set_convolution_kernel(kernel);
        return raw::convolution("conv", part, s, a, b, bias);
      };
      const Tensor own = by("automatic"), peer = by("cudnn");
      expect_close(peer, own, 2 * rounding(dtype) * (8 + terms_of(part, s)),
                   "part " + std::to_string(static_cast<int>(part)));
      EXPECT_TRUE(by("cudnn").equal(peer)) << "the same bits again";
    }
  }
  nn::Conv2d layer(2, 3, 3);
  layer->to(kCUDA);
  const Tensor image = ones({1, 2, 8, 8}, kCUDA);
  cuda::Graph graph;
  const cuda::StreamGuard guard(cuda::getStreamFromPool());
  graph.capture_begin();
  EXPECT_CONTAINS(message_of<Error>([&] { layer(image); }),
                  "convolution: one by cuDNN cannot be captured for a graph");
}

}  // namespace
}  // namespace gradus
