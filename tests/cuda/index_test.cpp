// gather and scatter_add.
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

constexpr int64_t kSize = 11;  // of the indexed dimension

// Indices of [0, kSize) in the given layout.
Pair random_index(const Layout& layout) {
  return random_pair(kLong, layout, {0, static_cast<double>(kSize - 1)});
}
// A tensor that an index of these sizes selects from along dim.
Pair selected_from(ScalarType dtype, Dims sizes, int64_t dim) {
  sizes[dim] = kSize;
  return random_pair(dtype, contiguous_layout("", sizes, pick(0, 2)));
}

class CudaIndex : public GpuTest {};

TEST_F(CudaIndex, GatherAlongEveryDimension) {
  for (const Layout& layout : all_layouts())
    for (int64_t d = 0; d < static_cast<int64_t>(layout.sizes.size()); ++d)
      for (const ScalarType dtype : {kBool, kByte, kShort, kHalf, kLong, kFloat, kDouble}) {
        const Pair index = random_index(layout), x = selected_from(dtype, layout.sizes, d);
        expect_close(raw::gather(x.gpu, d, index.gpu), raw::gather(x.cpu, d, index.cpu), 0,
                     describe("gather", dtype, layout.name));
      }
}

// The CPU adds in the same order, so that even float sums are equal bit for bit.
TEST_F(CudaIndex, ScatterAddAlongEveryDimension) {
  for (const Layout& layout : all_layouts())
    for (int64_t d = 0; d < static_cast<int64_t>(layout.sizes.size()); ++d)
      for (const ScalarType dtype : {kLong, kFloat, kDouble}) {
        const Pair index = random_index(layout), src = random_pair(dtype, layout);
        const Pair x = selected_from(dtype, layout.sizes, d);
        expect_close(raw::scatter_add(x.gpu, d, index.gpu, src.gpu),
                     raw::scatter_add(x.cpu, d, index.cpu, src.cpu), 0,
                     describe("scatter_add", dtype, layout.name));
      }
}

TEST_F(CudaIndex, AnIndexOutOfRangeIsAnError) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {500, kSize}));
  for (const int64_t wrong : {kSize, int64_t{-1}, int64_t{1} << 40}) {
    const Tensor memory = random_memory(kLong, 500 * 3, {0, kSize - 1.0});
    memory.data_ptr<int64_t>()[pick(0, 1499)] = wrong;
    const Pair index = pair_of(memory, contiguous_layout("", {500, 3}));
    const std::string gather = message_of<IndexError>([&] {
      raw::gather(x.gpu, 1, index.gpu);
      cuda::synchronize();
    });
    EXPECT_CONTAINS(gather, "gather");
    EXPECT_CONTAINS(gather, std::to_string(wrong));
    EXPECT_CONTAINS(gather, std::to_string(kSize));
    const std::string scatter = message_of<IndexError>([&] {
      raw::scatter_add(x.gpu, 1, index.gpu, raw::narrow(x.gpu, 1, 0, 3));
      cuda::synchronize();
    });
    EXPECT_CONTAINS(scatter, "scatter_add");
    EXPECT_CONTAINS(scatter, std::to_string(wrong));
  }
  // The record is clear again, and the device works on.
  expect_close(raw::map(UnaryOp::neg, x.gpu), raw::map(UnaryOp::neg, x.cpu), 0, "afterwards");
}

}  // namespace
}  // namespace gradus
