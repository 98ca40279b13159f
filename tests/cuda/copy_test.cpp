// copy, fill, arange, and cat with channels last: the format of results and gradients, of parts of
// several types.
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

constexpr ScalarType kDtypes[] = {kBool, kByte, kChar,     kShort, kInt,
                                  kLong, kHalf, kBFloat16, kFloat, kDouble};

// Copies into every layout that a result may have, from a tensor of the same sizes.
void compare_copy(const MemoryLayout& from, const MemoryLayout& to, ScalarType source,
                  ScalarType target) {
  const std::string what =
      describe(std::string(short_name(source)).c_str(), target, from.name + " to " + to.name);
  const Pair src = random_pair(source, from), dst = random_pair(target, to);
  if (src.cpu.numel() == 0) return;
  raw::copy_(dst.cpu, src.cpu);
  raw::copy_(dst.gpu, src.gpu);
  expect_close(dst.gpu_all, dst.cpu_all, 0, what);
}

class CudaCopy : public GpuTest {};

TEST_F(CudaCopy, EveryPairOfDtypesInEveryLayout) {
  int64_t turn = 0;
  for (const MemoryLayout& layout : dense_layouts())
    for (const ScalarType source : kDtypes)
      for (const ScalarType target : kDtypes) {
        // Simulated: each dtype in every layout, and each pair in a seventh of them.
        if (kSimulated && source != target && ++turn % 7 != 0) continue;
        compare_copy(contiguous_layout("row-major", layout.sizes), layout, source, target);
        compare_copy(layout, contiguous_layout("row-major", layout.sizes), source, target);
        compare_copy(layout, layout, source, target);
      }
  for (const MemoryLayout& layout : broadcast_layouts())
    for (const ScalarType dtype : kDtypes)
      compare_copy(layout, contiguous_layout("row-major", layout.sizes), dtype, dtype);
}

// Matrices of random sizes, in batches, with gaps on either side.
TEST_F(CudaCopy, Transposed) {
  for (int round = 0; round < (kSimulated ? 4 : 12); ++round)
    for (const ScalarType dtype : kDtypes) {
      const int64_t batch = pick(1, 3), rows = pick(1, 150), columns = pick(1, 150);
      const int64_t gap = pick(0, 2), start = pick(0, 3);
      const Dims sizes = {batch, rows, columns};
      const int64_t high = rows + gap, wide = columns + gap;
      const MemoryLayout turned{"turned", sizes, {columns * high, 1, high}, start};
      const MemoryLayout straight{"straight", sizes, {rows * wide, wide, 1}, start};
      compare_copy(turned, straight, dtype, dtype);
      compare_copy(straight, turned, dtype, dtype);
      const Dims outer = {1, rows * batch, batch};  // the batch is innermost in src
      compare_copy({"turned twice", sizes, outer, start}, straight, dtype, dtype);
    }
}

// Parts of random sizes along each dimension: more than a launch takes, empty ones, some that begin
// at odd places, slices of larger tensors, which are not contiguous, and rows that repeat.
TEST_F(CudaCopy, Concatenations) {
  for (int round = 0; round < 14; ++round)
    for (const ScalarType dtype : kDtypes) {
      const int64_t dim = pick(0, 2), count = round == 0 ? 70 : pick(2, 5);
      const int64_t unit = round % 2 == 0 ? 16 : 1;
      Tensors cpu, gpu;
      for (int64_t k = 0; k < count; ++k) {
        Dims sizes = {3, 2, 2 * unit};
        const int64_t step = dim == 2 ? unit : 1, length = step * pick(0, 4);
        const int64_t skip = round == 6 || round == 7 ? pick(1, 3) : 0;
        const int64_t before = round >= 8 ? step * pick(0, 2) : 0;
        const int64_t repeated = round >= 12 ? (dim + pick(1, 2)) % 3 : -1;
        Dims all = sizes;
        all[dim] = before + length + (round >= 8 ? step * pick(0, 2) : 0);
        if (repeated >= 0) all[repeated] = 1;
        sizes[dim] = length;
        const Tensor memory = random_memory(dtype, numel_of(all) + skip);
        const auto part = [&](const Tensor& t) {
          const Tensor whole = *raw::try_view(raw::narrow(t, 0, skip, numel_of(all)), all);
          return raw::expand(raw::narrow(whole, dim, before, length), sizes);
        };
        cpu.push_back(part(memory)), gpu.push_back(part(raw::to(memory, Device(kCUDA))));
      }
      expect_close(raw::cat(gpu, dim), raw::cat(cpu, dim), 0,
                   describe("cat", dtype, std::to_string(dim)));
    }
}

// Whatever the strides of a part without elements.
TEST_F(CudaCopy, APartWithoutElementsCostsNoLaunch) {
  const Tensor x = raw::to(random_memory(kFloat, 4 * 64), Device(kCUDA));
  const Tensor matrix = *raw::try_view(x, Dims{4, 64});
  const Tensor none = raw::narrow(raw::as_strided(x, {4, 2}, {1, 4}, 0), 1, 0, 0);
  const int64_t before = cuda::stats().kernel_launches;
  const Tensor out = raw::cat({matrix, none, matrix}, 1);
  EXPECT_EQ(cuda::stats().kernel_launches - before, 1);
  expect_close(raw::narrow(out, 1, 64, 64), matrix, 0, "beside nothing");
}

// Every order of three dimensions, whose sizes are those of squares and of wide elements; or
// almost.
TEST_F(CudaCopy, Permuted) {
  for (int round = kSimulated ? 2 : 0; round < 4; ++round)
    for (const ScalarType dtype : kDtypes)
      for (const auto& order :
           {Dims{0, 2, 1}, Dims{1, 0, 2}, Dims{1, 2, 0}, Dims{2, 0, 1}, Dims{2, 1, 0}}) {
        const int64_t unit = round == 3 ? 2 : 16, start = unit * pick(0, 1);
        const Dims memory = {unit * pick(1, 3), unit * pick(1, 5), unit * pick(1, 5)};
        const Dims apart = contiguous_strides(memory);
        Dims sizes, strides;
        for (const int64_t d : order) sizes.push_back(memory[d]), strides.push_back(apart[d]);
        const MemoryLayout permuted{"permuted", sizes, strides, start};
        compare_copy(permuted, contiguous_layout("row-major", sizes, start), dtype, dtype);
        compare_copy(contiguous_layout("row-major", sizes, start), permuted, dtype, dtype);
      }
}

// Rows so short that a thread has several of them, which overlap in src.
TEST_F(CudaCopy, Windows) {
  for (const ScalarType dtype : {kByte, kHalf, kFloat, kDouble})
    for (const int64_t width : {2, 3, 5, 7, 8, 9, 200})
      for (const int64_t count : {1, 70, 1500}) {
        const Dims sizes = {2, count, width};
        const int64_t step = pick(1, 2), row = (count + width) * step + pick(0, 2);
        const MemoryLayout windows{"windows", sizes, {row, 1, step}, pick(0, 3)};
        const int64_t start = pick(0, 1);  // 0: aligned to accesses
        compare_copy(windows, contiguous_layout("row-major", sizes, start), dtype, dtype);
      }
}

// Rows so far apart that 32 bits cannot count the elements between the first and the last.
TEST_F(CudaCopy, BeyondThirtyTwoBits) {
  const int64_t rows = 9, columns = 100, apart = int64_t{1} << 29;
  Tensor memory;
  try {
    memory = raw::empty({(rows - 1) * apart + columns}, kBool, cuda_backend().resolve(kCUDA));
  } catch (const OutOfMemoryError& error) {
    GTEST_SKIP() << error.what();
  }
  const Tensor x = raw::as_strided(memory, {rows, columns}, {apart, 1}, 0);
  const bool values[rows] = {true, false, true, true, false, false, true, false, true};
  const auto expect_rows = [&](const Tensor& got, const std::string& what) {
    const std::vector<double> all = doubles(got);
    for (int64_t i = 0; i < rows * columns; ++i)
      ASSERT_EQ(all[i], values[i / columns]) << what << ": element " << i;
  };
  for (int64_t r = 0; r < rows; ++r) raw::fill_(raw::narrow(x, 0, r, 1), values[r]);
  expect_rows(raw::clone(x), "read");

  const Tensor source = raw::clone(x);
  raw::fill_(x, false);
  raw::copy_(x, source);
  for (int64_t r = 0; r < rows; ++r)
    for (const double value : doubles(raw::narrow(x, 0, r, 1)))
      ASSERT_EQ(value, values[r]) << "written: row " << r;
}

TEST_F(CudaCopy, AnythingButZeroIsTrue) {
  const Tensor x = raw::empty({4}, kFloat, kCPU);
  const float values[] = {0, -0.0f, 0.25f, std::nanf("")};
  std::copy_n(values, 4, x.data_ptr<float>());
  EXPECT_EQ(doubles(raw::to(raw::to(x, Device(kCUDA)), kBool)), (std::vector<double>{0, 0, 1, 1}));
}

class CudaFill : public GpuTest {};

TEST_F(CudaFill, WritesTheViewAndNothingElse) {
  for (const MemoryLayout& layout : dense_layouts())
    for (const ScalarType dtype : kDtypes) {
      const Pair x = random_pair(dtype, layout);
      raw::fill_(x.cpu, 3);
      raw::fill_(x.gpu, 3);
      expect_close(x.gpu_all, x.cpu_all, 0, describe("fill", dtype, layout.name));
    }
}

TEST_F(CudaFill, Arange) {
  for (const int64_t n : {int64_t{1}, int64_t{256}, pick(300, 9000)})
    for (const ScalarType dtype : {kLong, kFloat, kDouble}) {
      const Scalar start = dtype == kLong ? Scalar(-7) : Scalar(-7.25);
      const Scalar step = dtype == kLong ? Scalar(3) : Scalar(0.1);
      const Tensor cpu = raw::empty({n}, dtype, kCPU);
      const Tensor gpu = raw::empty({n}, dtype, cuda_backend().resolve(kCUDA));
      cpu_backend().arange(cpu, start, step);
      cuda_backend().arange(gpu, start, step);
      expect_close(gpu, cpu, rounding(dtype) / 4, describe("arange", dtype, std::to_string(n)));
    }
}

class JoinTest : public GpuTest {};

constexpr MemoryFormat kJoined = MemoryFormat::ChannelsLast;

TEST_F(JoinTest, KeepsChannelsLast) {
  for (const ScalarType dtype : {kFloat, kBFloat16, kHalf, kDouble})
    for (const ScalarType other : {kFloat, dtype})
      for (const int64_t channels : {16, 5}) {
        SCOPED_TRACE(describe("cat", dtype, std::to_string(channels)));
        const Tensor x = randn({2, channels, 3, 4}).to(dtype), y = randn({2, 8, 3, 4}).to(other);
        const auto there = [](const Tensor& t) { return t.cuda().contiguous(kJoined); };
        const Tensor got = cat({there(x), there(y)}, 1), expected = cat({x, y}, 1);
        EXPECT_TRUE(got.is_contiguous(kJoined));
        EXPECT_EQ(got.dtype(), expected.dtype());
        EXPECT_TRUE(got.cpu().equal(expected));
        EXPECT_FALSE(cat({there(x), y.cuda()}, 1).is_contiguous(kJoined));
      }
}

TEST_F(JoinTest, ConvertsSomeChannels) {
  const Tensor x = randn({2, 24, 5, 3}).cuda().contiguous(kJoined);
  for (const ScalarType half : {kBFloat16, kHalf})
    for (const auto& [from, count] : {std::pair(8, 8), std::pair(3, 8), std::pair(0, 5)}) {
      const Tensor some = x.narrow(1, from, count), low = some.to(half);
      EXPECT_TRUE(low.cpu().equal(some.cpu().to(half)));
      const Tensor wide = x.to(half).narrow(1, from, count).to(kFloat);
      EXPECT_TRUE(wide.cpu().equal(low.cpu().to(kFloat)));
    }
}

// As in a U-Net: parts of float32 and bfloat16, whose gradients come as a convolution makes them.
TEST_F(JoinTest, GradientsUnderAutocast) {
  nn::Conv2d conv(nn::Conv2dOptions(16, 8, 3)), exact(nn::Conv2dOptions(16, 8, 3));
  nn::ConvTranspose2d up(nn::ConvTranspose2dOptions(8, 8, 2).stride(2)),
      exact_up(nn::ConvTranspose2dOptions(8, 8, 2).stride(2));
  {
    const NoGradGuard guard;
    exact->to(kDouble), exact_up->to(kDouble);
    for (size_t i = 0; i < 2; ++i) {
      exact->parameters()[i].copy_(conv->parameters()[i]);
      exact_up->parameters()[i].copy_(up->parameters()[i]);
    }
  }
  conv->to(kCUDA), up->to(kCUDA);
  const Tensor x = randn({2, 8, 6, 6}), y = randn({2, 8, 3, 3});
  const auto leaf = [](const Tensor& t) { return t.detach().set_requires_grad(true); };
  const Tensor x_here = leaf(x.to(kDouble)), y_here = leaf(y.to(kDouble)),
               x_there = leaf(x.cuda().contiguous(kJoined)),
               y_there = leaf(y.cuda().contiguous(kJoined));
  const Tensor expected =
      exact->forward(cat({max_pool2d(x_here, 1), exact_up->forward(y_here)}, 1));
  Tensor got;
  {
    const amp::autocast autocast(kCUDA, kBFloat16);
    got = conv->forward(cat({max_pool2d(x_there, 1), up->forward(y_there)}, 1));
  }
  EXPECT_EQ(got.dtype(), kBFloat16);
  const Tensor grad = randn(expected.sizes());
  expected.backward(grad.to(kDouble)), got.backward(grad.to(kBFloat16).cuda());
  const auto expect_near = [](const Tensor& a, const Tensor& b) {
    EXPECT_LE((a.cpu().to(kDouble) - b).abs().max().item<double>(),
              0.02 * b.abs().max().item<double>() + 0.02);
  };
  EXPECT_EQ(x_there.grad().dtype(), kFloat);
  expect_near(got.detach(), expected.detach());
  expect_near(x_there.grad(), x_here.grad());
  expect_near(y_there.grad(), y_here.grad());
  for (size_t i = 0; i < 2; ++i) {
    expect_near(conv->parameters()[i].grad(), exact->parameters()[i].grad());
    expect_near(up->parameters()[i].grad(), exact_up->parameters()[i].grad());
  }
}

}  // namespace
}  // namespace gradus
