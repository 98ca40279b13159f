// sum_parts: the sums of parts, with vectors and without.
#include "gradus/cuda/ops/matmul/sum_parts.h"

#include <array>

#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"

namespace gradus::cuda {
namespace {

using SumPartsTest = GpuTest;

// Outputs at multiples of 16 bytes are summed as vectors, others one by one.
TEST_F(SumPartsTest, GivesTheSameBitsAtAnyPlace) {
  constexpr int64_t kColumns = 260;
  // Enough for vectors: few parts have one thread for an output, 8 have eight, 70 have 32.
  for (const std::array<int64_t, 2>& of : {std::array<int64_t, 2>{2, 512}, {8, 64}, {70, 32}}) {
    const int64_t parts = of[0], rows = of[1], all = rows * kColumns;
    SCOPED_TRACE(parts);
    const Tensor partial = randn({parts, all + rows}), bias = randn({kColumns}),
                 on_gpu = partial.cuda(), bias_on_gpu = bias.cuda();
    const auto sums_at = [&](int64_t place) {
      const Tensor out = zeros({all + 4}).cuda(), sums = zeros({rows + 4}).cuda();
      MatmulArgs<float> args{};
      args.m = rows, args.n = kColumns;
      args.bias = bias_on_gpu.data_ptr<float>(), args.bias_stride = 1;
      args.out = out.data_ptr<float>() + place, args.row_sums = sums.data_ptr<float>() + place;
      sum_parts<float>(on_gpu.data_ptr<float>(), parts, args);
      return cat({out.narrow(0, place, all), sums.narrow(0, place, rows)}).cpu();
    };
    const Tensor vectors = sums_at(0), single = sums_at(1);
    EXPECT_TRUE(vectors.equal(single));
    const Tensor wide = partial.to(kDouble).sum(0);
    const Tensor expected =
        cat({(wide.narrow(0, 0, all).view({rows, kColumns}) + bias.to(kDouble)).flatten(),
             wide.narrow(0, all, rows)});
    EXPECT_LE((vectors.to(kDouble) - expected).abs().max().item<double>(), 2e-5);
  }
}

}  // namespace
}  // namespace gradus::cuda
