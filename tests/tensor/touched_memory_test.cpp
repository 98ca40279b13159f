// In-place operations that touch a few elements of a large tensor: the memory that they take does
// not grow with the tensor, whatever its dtype, and the elements are those of the dense way.
#include <atomic>

#include "gradus/cpu/blocks.h"
#include "tests/support.h"

namespace gradus {
namespace touched_memory {

constexpr int64_t kElements = int64_t{1} << 18;

std::atomic<size_t> taken;

// The bytes that f asks the device for, on the CPU in all, on a GPU at once.
template <class F>
size_t bytes_of(Device device, const F& f) {
  if (device.is_cuda()) {
    cuda::reset_peak_memory_stats();
    const int64_t before = cuda::memory_stats().allocated;
    f();
    return static_cast<size_t>(cuda::memory_stats().peak_allocated - before);
  }
  taken = 0;
  cpu::on_block = [](size_t nbytes) { taken += nbytes; };
  f();
  cpu::on_block = nullptr;
  return taken;
}

struct Update {
  const char* name;
  std::function<void(const Tensor& x, const Tensor& index, const Tensor& values)> run;
};
const std::vector<Update>& updates() {
  static const std::vector<Update> all = [] {
    std::vector<Update> out = {
        {"index_put_",
         [](const Tensor& x, const Tensor& i, const Tensor& v) { x.index_put_({i}, v, false); }},
        {"index_put_ that adds",
         [](const Tensor& x, const Tensor& i, const Tensor& v) { x.index_put_({i}, v, true); }},
        {"index_put_ that adds to columns",
         [](const Tensor& x, const Tensor& i, const Tensor& v) {
           x.view({16, -1}).index_put_({indexing::Slice(), i}, v, true);
         }},
        {"index_put_ that adds at pairs",
         [](const Tensor& x, const Tensor& i, const Tensor& v) {
           x.view({-1, 1024}).index_put_({i % 5, i}, v, true);
         }},
        {"index_add_",
         [](const Tensor& x, const Tensor& i, const Tensor& v) { x.index_add_(0, i, v); }},
        {"index_add_ of rows",
         [](const Tensor& x, const Tensor& i, const Tensor& v) {
           x.view({-1, 8}).index_add_(0, i, v.unsqueeze(1).expand({i.numel(), 8}));
         }},
        {"put_", [](const Tensor& x, const Tensor& i, const Tensor& v) { x.put_(i, v, true); }},
        {"scatter_add_",
         [](const Tensor& x, const Tensor& i, const Tensor& v) { x.scatter_add_(0, i, v); }},
        {"scatter_add_ along rows",
         [](const Tensor& x, const Tensor& i, const Tensor& v) {
           const Tensor two = stack({i, i + 7}), values = stack({v, v});
           x.view({4, -1}).scatter_add_(1, two, values);
         }},
        {"scatter_ that multiplies", [](const Tensor& x, const Tensor& i,
                                        const Tensor& v) { x.scatter_(0, i, v, "multiply"); }},
        {"index_copy_",
         [](const Tensor& x, const Tensor& i, const Tensor& v) { x.index_copy_(0, i, v); }},
        {"index_fill_",
         [](const Tensor& x, const Tensor& i, const Tensor&) { x.index_fill_(0, i, 3); }}};
    for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"})
      for (const bool include_self : {true, false})
        out.push_back({reduce, [=](const Tensor& x, const Tensor& i, const Tensor& v) {
                         x.scatter_reduce_(0, i, v, reduce, include_self);
                         if (reduce == std::string("sum")) return;
                         x.view({-1, 8}).index_reduce_(0, i, v.unsqueeze(1).expand({i.numel(), 8}),
                                                       reduce, include_self);
                       }});
    return out;
  }();
  return all;
}

void expect_little_memory(Device device, const std::vector<ScalarType>& dtypes, int64_t elements,
                          size_t limit) {
  const Tensor index = tensor(std::vector<int64_t>{5, 900, 5, 0, 17, 5, 900}).to(device);
  for (const ScalarType dtype : dtypes) {
    const Tensor start = (arange(elements, kLong) % 5).to(dtype);
    const Tensor values = tensor(std::vector<int64_t>{1, 2, 3, 1, 2, 3, 1}).to(device, dtype);
    for (const Update& update : updates()) {
      SCOPED_TRACE(std::string(update.name) + " of " + toString(dtype));
      const Tensor x = start.to(device).clone();
      EXPECT_LT(bytes_of(device, [&] { update.run(x, index, values); }), limit);
      // In the type of numbers all of it is done directly.
      const Tensor wide = start.to(isFloatingType(dtype) ? kDouble : kLong).to(device);
      update.run(wide, index, values.to(wide.dtype()));
      EXPECT_TRUE(equal(x, wide.to(dtype)));
    }
  }
}

TEST(TouchedMemory, IsLittleOnTheCpu) {
  expect_little_memory(kCPU, {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble},
                       kElements, 1 << 16);
}
TEST(TouchedMemory, IsLittleOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  expect_little_memory(Device(kCUDA, 0), {kChar, kHalf}, 1 << 14, 1 << 15);
}

TEST(TouchedMemory, AnIndexOutOfRangeChangesNothing) {
  const Tensor x = zeros({kElements}, kChar), values = ones({2}, kChar);
  for (const int64_t wrong : {kElements, -kElements - 1}) {
    const Tensor index = tensor(std::vector<int64_t>{1, wrong});
    for (const Update& update : updates()) {
      SCOPED_TRACE(update.name);
      EXPECT_THROW(update.run(x, index, values), IndexError);
      EXPECT_EQ(x.count_nonzero().item<int64_t>(), 0);
    }
  }
}

}  // namespace touched_memory
}  // namespace gradus
