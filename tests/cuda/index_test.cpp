// gather, scatter, where, and indexing by lists of tensors.
#include "tests/cuda/compare.h"
#include "tests/support.h"

namespace gradus {
namespace {

constexpr int64_t kSize = 11;  // of the indexed dimension

// Indices of [0, kSize) in the given layout.
Pair random_index(const MemoryLayout& layout) {
  return random_pair(kLong, layout, {0, static_cast<double>(kSize - 1)});
}
// A tensor that an index of these sizes selects from along dim.
Pair selected_from(ScalarType dtype, Dims sizes, int64_t dim) {
  sizes[dim] = kSize;
  return random_pair(dtype, contiguous_layout("", sizes, pick(0, 2)));
}

class CudaIndex : public GpuTest {};

TEST_F(CudaIndex, GatherAlongEveryDimension) {
  for (const MemoryLayout& layout : all_layouts())
    for (int64_t d = 0; d < static_cast<int64_t>(layout.sizes.size()); ++d)
      for (const ScalarType dtype : {kBool, kByte, kShort, kHalf, kLong, kFloat, kDouble}) {
        const Pair index = random_index(layout), x = selected_from(dtype, layout.sizes, d);
        expect_close(raw::gather(x.gpu, d, index.gpu), raw::gather(x.cpu, d, index.cpu), 0,
                     describe("gather", dtype, layout.name));
      }
}

// Some of these are copied by 16 bytes at a time; others cannot be.
TEST_F(CudaIndex, RowsOfEveryLength) {
  for (const int64_t width : {1, 3, 4, 8, 16, 33, 64})
    for (const int64_t offset : {0, 1, 16})
      for (const ScalarType dtype : {kByte, kHalf, kFloat, kDouble}) {
        const Pair x = random_pair(dtype, contiguous_layout("", {3, kSize, width}, offset));
        const Pair index = random_index(contiguous_layout("", {7}));
        expect_close(x.gpu.index_select(1, index.gpu), x.cpu.index_select(1, index.cpu), 0,
                     describe("index_select", dtype, std::to_string(width)));
      }
}

Tensor scattered(ScatterOp op, const Tensor& x, int64_t dim, const Tensor& index,
                 const Tensor& src) {
  Tensor out = raw::clone(x);
  raw::scatter_("scatter", op, out, dim, index, src);
  return out;
}

// The CPU puts in the same order, so that even float sums are equal bit for bit.
TEST_F(CudaIndex, ScatterAlongEveryDimension) {
  for (const MemoryLayout& layout : all_layouts())
    for (int64_t d = 0; d < static_cast<int64_t>(layout.sizes.size()); ++d) {
      const Pair index = random_index(layout);
      const auto compare = [&](ScatterOp op, ScalarType dtype) {
        const Pair src = random_pair(dtype, layout), x = selected_from(dtype, layout.sizes, d);
        expect_close(scattered(op, x.gpu, d, index.gpu, src.gpu),
                     scattered(op, x.cpu, d, index.cpu, src.cpu), 0,
                     describe("scatter", dtype, layout.name));
      };
      compare(ScatterOp::sum, kFloat);
      compare(ScatterOp::set, kShort);
      if (numel_of(layout.sizes) > 2000) continue;  // takes simulated devices seconds
      for (const ScalarType dtype : {kLong, kDouble}) compare(ScatterOp::sum, dtype);
      for (const ScalarType dtype : {kBool, kFloat, kDouble}) compare(ScatterOp::set, dtype);
      for (const ScatterOp op : {ScatterOp::prod, ScatterOp::amax, ScatterOp::amin})
        compare(op, kFloat);
    }
}

// Lines that a block takes, lines that are sorted, and single lines; many of one place, too.
TEST_F(CudaIndex, ScatterAlongLongLines) {
  struct Case {
    Dims sizes;
    int64_t dim, size;
    double places;  // that occur
  };
  const Case cases[] = {{{2, 1100}, 1, 300, 299}, {{2, 1100}, 1, 300, 0}, {{3, 700}, 1, 2800, 5},
                        {{600}, 0, 100, 99},      {{700, 2}, 0, 9, 8},    {{400}, 0, 1601, 1600},
                        {{80, 3}, 0, 9, 8},       {{80, 3}, 0, 400, 399}, {{3, 40}, 1, 9, 8},
                        {{150, 21}, 0, 60, 59},   {{25, 40}, 0, 25, 24},  {{2, 90, 9}, 1, 70, 69},
                        {{90, 12}, 0, 3000, 2},   {{90, 12}, 0, 90, 0}};
  for (const auto& [sizes, dim, size, places] : cases)
    for (const ScatterOp op : {ScatterOp::sum, ScatterOp::set, ScatterOp::amax, ScatterOp::prod})
      for (const ScalarType dtype : {kFloat, kLong}) {
        if (dtype == kLong && op != ScatterOp::set) continue;
        Dims out_sizes = sizes;
        out_sizes[dim] = size;
        const Pair index = random_pair(kLong, contiguous_layout("", sizes), {0, places});
        const Pair src = random_pair(dtype, contiguous_layout("", sizes), {-2, 2});
        const Pair x = random_pair(dtype, contiguous_layout("", out_sizes), {-2, 2});
        expect_close(scattered(op, x.gpu, dim, index.gpu, src.gpu),
                     scattered(op, x.cpu, dim, index.cpu, src.cpu), 0,
                     describe("scatter", dtype, std::to_string(size)));
      }
}

// A number instead of a tensor, by each of the kernels above.
TEST_F(CudaIndex, ScatterOfANumber) {
  for (const auto& [sizes, dim, size] : {std::tuple<Dims, int64_t, int64_t>{{2, 1100}, 1, 300},
                                         {{600}, 0, 100},
                                         {{80, 3}, 0, 9},
                                         {{3, 40}, 1, 9},
                                         {{90, 12}, 0, 3000},
                                         {{150, 21}, 0, 60},
                                         {{7, 5}, 1, 3}})
    for (const ScalarType dtype : {kBool, kHalf, kFloat, kLong}) {
      Dims out_sizes = sizes;
      out_sizes[dim] = size;
      const auto most = static_cast<double>(size - 1);
      const Pair index = random_pair(kLong, contiguous_layout("", sizes), {0, most});
      const Pair list = random_pair(kLong, contiguous_layout("", {sizes[dim]}), {0, most});
      const Pair x = random_pair(dtype, contiguous_layout("", out_sizes), {-2, 2});
      const std::string what = describe("scatter", dtype, std::to_string(size));
      const Tensor got = raw::clone(x.gpu), want = raw::clone(x.cpu);
      raw::scatter_("scatter", ScatterOp::set, got, dim, index.gpu, Scalar(1));
      raw::scatter_("scatter", ScatterOp::set, want, dim, index.cpu, Scalar(1));
      expect_close(got, want, 0, what);
      expect_close(x.gpu.index_fill(dim, list.gpu, 0.5), x.cpu.index_fill(dim, list.cpu, 0.5), 0,
                   what + ": index_fill");
    }
}

// As many rows as one block takes, and more, and more numbers than a list has.
// With the static memory of the kernel they need more than a kernel has unasked.
TEST_F(CudaIndex, ScatterIntoRowsThatFillSharedMemory) {
  const Pair out = random_pair(kDouble, contiguous_layout("", {64, 4096}));
  const Pair src = random_pair(kDouble, contiguous_layout("", {64, 4096}));
  const Pair index = random_pair(kLong, contiguous_layout("", {64, 4096}), {0, 4095});
  expect_close(out.gpu.scatter_add(1, index.gpu, src.gpu),
               out.cpu.scatter_add(1, index.cpu, src.cpu), 0, "rows of 4096 doubles");
}

TEST_F(CudaIndex, ScatterOfLongRowsAndLists) {
  for (const auto& [length, columns] :
       {std::pair<int64_t, int64_t>{5, 9001}, {1024, 16}, {4097, 2}, {4097, 70}})
    for (const ScatterOp op : {ScatterOp::sum, ScatterOp::set, ScatterOp::amin}) {
      const int64_t rows = length < 10 ? 40 : 901;
      const Pair index = random_pair(kLong, contiguous_layout("", {length, 1}),
                                     {0, static_cast<double>(rows - 1)});
      const Pair src = random_pair(kFloat, contiguous_layout("", {length, columns}), {-2, 2});
      const Pair x = random_pair(kFloat, contiguous_layout("", {rows, columns}), {-2, 2});
      const auto shared = [&](const Tensor& t) { return raw::expand(t, src.cpu.sizes()); };
      expect_close(scattered(op, x.gpu, 0, shared(index.gpu), src.gpu),
                   scattered(op, x.cpu, 0, shared(index.cpu), src.cpu), 0,
                   describe("scatter", kFloat, std::to_string(length)));
    }
}

// Rows with the same index: the last one that is set remains.
TEST_F(CudaIndex, ScatterOfRows) {
  for (const int64_t length : {31, 64, 80, 300})
    for (const int64_t size : {int64_t{7}, 5 * length, 100 * length})
      for (const ScatterOp op : {ScatterOp::sum, ScatterOp::set}) {
        const Pair index = random_pair(kLong, contiguous_layout("", {length, 1, 1}), {0, 6});
        const Pair src = random_pair(kFloat, contiguous_layout("", {length, 3, 5}), {-2, 2});
        const Pair x = random_pair(kFloat, contiguous_layout("", {size, 3, 5}), {-2, 2});
        const auto shared = [&](const Tensor& t) { return raw::expand(t, src.cpu.sizes()); };
        expect_close(scattered(op, x.gpu, 0, shared(index.gpu), src.gpu),
                     scattered(op, x.cpu, 0, shared(index.cpu), src.cpu), 0,
                     describe("scatter", kFloat, std::to_string(length)));
      }
}

// Single lines, whose sums meet in shared memory where the places are few: of numbers that fill 64
// bits, positive and negative, and of ones.
TEST_F(CudaIndex, SumsOfIntegersAtFewPlaces) {
  struct Case {
    int64_t count, size, step;
  };
  for (const auto& [count, size, step] :
       {Case{1, 1, 1}, Case{40, 10, 1}, Case{40, 11, 1}, Case{30000, 7, 2}, Case{30000, 7000, 1},
        Case{60000, 14000, 1}, Case{5000, 1, 3}})
    for (const double most : {1.0, 4e9, 9.2e18}) {
      const MemoryLayout line{"", {count}, {step}, 0};
      const Pair index = random_pair(kLong, line, {0, static_cast<double>(size - 1)});
      const Pair src = random_pair(kLong, line, {most == 1 ? 1 : -most, most});
      const Pair x = random_pair(kLong, {"", {size}, {step}, 1}, {-most, most});
      const Tensor got = raw::to(scattered(ScatterOp::sum, x.gpu, 0, index.gpu, src.gpu), kCPU);
      const Tensor rest =
          raw::zip(BinaryOp::sub, got, scattered(ScatterOp::sum, x.cpu, 0, index.cpu, src.cpu));
      for (const double none : doubles(rest))
        ASSERT_EQ(none, 0) << count << " numbers to " << size << " places, up to " << most;
    }
}

TEST_F(CudaIndex, MaskedSelectInEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kByte, kHalf, kFloat, kDouble}) {
      const Pair x = random_pair(dtype, layout);
      const Pair mask =
          random_pair(kBool, pick(0, 1) ? layout : contiguous_layout("", layout.sizes));
      expect_close(raw::masked_select("masked_select", x.gpu, mask.gpu),
                   raw::masked_select("masked_select", x.cpu, mask.cpu), 0,
                   describe("masked_select", dtype, layout.name));
      if (layout.sizes.size() < 2) continue;
      const Tensor rows = raw::narrow(mask.cpu, 1, 0, std::min<int64_t>(1, layout.sizes[1]));
      if (rows.numel() == 0 || rows.dim() != 2) continue;
      const Tensor row_mask = *raw::try_view(raw::contiguous(rows), {layout.sizes[0]});
      expect_close(raw::masked_select("index", x.gpu, raw::to(row_mask, x.gpu.device())),
                   raw::masked_select("index", x.cpu, row_mask), 0, "rows");
    }
}

TEST_F(CudaIndex, WhereInEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kBool, kShort, kFloat, kDouble}) {
      const Pair condition = random_pair(kBool, layout);
      const Pair x = random_pair(dtype, layout);
      const Pair y = random_pair(dtype, contiguous_layout("", layout.sizes, pick(0, 2)));
      expect_close(raw::where(condition.gpu, x.gpu, y.gpu), raw::where(condition.cpu, x.cpu, y.cpu),
                   0, describe("where", dtype, layout.name));
      const Tensor number = raw::empty({}, dtype, kCPU);
      raw::fill_(number, 1);
      const auto compare = [&](const Operand& gpu, const Operand& cpu, const Operand& other_gpu,
                               const Operand& other_cpu) {
        expect_close(raw::where(condition.gpu, gpu, other_gpu),
                     raw::where(condition.cpu, cpu, other_cpu), 0,
                     describe("where with a number", dtype, layout.name));
      };
      compare(x.gpu, x.cpu, Scalar(1), Scalar(1));
      compare(Scalar(1), Scalar(1), y.gpu, y.cpu);
      compare(Scalar(0), Scalar(0), Scalar(1), Scalar(1));
      compare(x.gpu, x.cpu, number, number);  // of the CPU
    }
}

// In every layout, with a number of the CPU too, which takes no launch of its own.
TEST_F(CudaIndex, MaskedFillAndScatter) {
  for (const MemoryLayout& layout : dense_layouts())
    for (const ScalarType dtype : {kBool, kHalf, kFloat, kDouble}) {
      const Pair mask =
          random_pair(kBool, pick(0, 1) ? layout : contiguous_layout("", layout.sizes));
      const Pair number = random_pair(dtype, contiguous_layout("", {}));
      const std::string what = describe("masked", dtype, layout.name);
      for (const Tensor& value : {number.gpu, number.cpu}) {
        const Pair x = random_pair(dtype, layout);
        raw::masked_fill_(x.gpu, mask.gpu, value);
        raw::masked_fill_(x.cpu, mask.cpu, number.cpu);
        expect_close(x.gpu_all, x.cpu_all, 0, what);
      }
      // A source of another shape, with as many elements as are wanted or more.
      const Pair x = random_pair(dtype, layout);
      const int64_t wanted = raw::item(raw::count_nonzero(mask.cpu)).toLong();
      const int64_t length = pick(0, 1) ? wanted : wanted + pick(0, numel_of(layout.sizes));
      const Pair source = random_pair(dtype, {"every second", {length}, {2}, 1});
      raw::masked_scatter_(x.gpu, mask.gpu, source.gpu);
      raw::masked_scatter_(x.cpu, mask.cpu, source.cpu);
      expect_close(x.gpu_all, x.cpu_all, 0, what + ": scatter");
    }
  const Pair x = random_pair(kFloat, contiguous_layout("", {5000}));
  EXPECT_CONTAINS(message_of<ValueError>([&] {
                    raw::masked_scatter_(x.gpu, raw::zip(BinaryOp::eq, x.gpu, x.gpu),
                                         raw::narrow(x.gpu, 0, 0, 4999));
                  }),
                  "masked_scatter: source has 4999 elements, and mask chooses 5000");
}

TEST_F(CudaIndex, ListsOfTensors) {
  const MemoryLayout layout{"gaps", {kSize, 3, kSize, 4}, {700, 200, 17, 2}, 7};
  const Pair x = random_pair(kFloat, layout);
  const Range range{-static_cast<double>(kSize), kSize - 1.0};
  const Pair first = random_pair(kLong, contiguous_layout("", {300, 1}), range);
  const Pair second = random_pair(kLong, contiguous_layout("", {9}), range);
  const auto compare = [&](std::vector<Pair> given) {
    std::vector<Tensor> gpu, cpu;
    for (const Pair& each : given) gpu.push_back(each.gpu), cpu.push_back(each.cpu);
    const Tensors there = raw::index_list("index", x.gpu, gpu);
    const Tensors here = raw::index_list("index", x.cpu, cpu);
    const Tensor y = raw::index("index", x.cpu, here);
    expect_close(raw::index("index", x.gpu, there), y, 0, "index");
    const Pair values = random_pair(kFloat, contiguous_layout("", y.impl().sizes));
    for (const bool accumulate : {false, true}) {
      const Pair into = pair_of(x.cpu_all, layout);
      const Tensor before = raw::clone(x.cpu_all);
      raw::index_put_("index_put", into.gpu, there, values.gpu, accumulate);
      raw::index_put_("index_put", into.cpu, here, values.cpu, accumulate);
      expect_close(into.gpu_all, into.cpu_all, 0, "index_put");
      raw::copy_(x.cpu_all, before);
    }
  };
  compare({first});
  compare({first, {}, second});
  compare({{}, {}, first});
}

TEST_F(CudaIndex, OperandsOfTheCpuAreRefusedUnlessTheyAreNumbers) {
  const Tensor x = zeros({2, 3}, device(kCUDA)), here = zeros({2, 3});
  const Tensor rows = tensor({1}), mask = x == 0;
  for (const bool accumulate : {false, true}) {
    EXPECT_CONTAINS(message_of<Error>([&] { x.index_put_({rows}, ones({3}), accumulate); }),
                    "self is on cuda:0, values on cpu; move one with .to(...)");
    EXPECT_CONTAINS(message_of<Error>([&] { here.index_put_({rows}, ones({3}, device(kCUDA))); }),
                    "self is on cpu, values on cuda:0");
  }
  using Fill = void (*)(const Tensor&, const Tensor&);
  for (const Fill fill :
       {Fill{[](const Tensor&a, const Tensor&m) { a.masked_fill_(m, 1); }},
        Fill{[](const Tensor&a, const Tensor&m) { a.masked_fill(m, 1); }},
        Fill{[](const Tensor&a, const Tensor&m) { a.masked_fill(m, ones({})); }}}) {
    EXPECT_CONTAINS(message_of<Error>([&] { fill(x, mask.cpu()); }),
                    "masked_fill: self is on cuda:0, mask on cpu");
    EXPECT_CONTAINS(message_of<Error>([&] { fill(here, mask); }),
                    "masked_fill: self is on cpu, mask on cuda:0");
  }
  EXPECT_TRUE(x.eq(0).all().item<bool>() && here.eq(0).all().item<bool>());

  using indexing::Slice;
  x.index_put_({Slice(1, 2)}, ones({3}));  // a view, which copy_ takes from anywhere
  x.index_put_({0, 1}, 2);
  here.index_put_({Slice(0, 2)}, x);
  expect_values(here, {0, 2, 0, 1, 1, 1});
  const cuda::Stats before = cuda::stats();
  x.index_put_({Slice()}, 3);
  x.fill_(tensor(300.0));
  EXPECT_EQ(cuda::stats().kernel_launches - before.kernel_launches, 2);
  EXPECT_EQ(cuda::stats().host_to_device, before.host_to_device);
  const Tensor bytes = zeros({2}, device(kCUDA).dtype(kChar));
  bytes.fill_(tensor(300));
  EXPECT_EQ(bytes[0].item<int>(), 44);  // an element wraps around
  EXPECT_EQ(where(bytes == 0, tensor(300), bytes)[0].item<int>(), 44);
  EXPECT_EQ(where(bytes == 44, tensor(300), bytes)[0].item<int>(), 44);
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
      scattered(ScatterOp::sum, x.gpu, 1, index.gpu, raw::narrow(x.gpu, 1, 0, 3));
      cuda::synchronize();
    });
    EXPECT_CONTAINS(scatter, "scatter");
    EXPECT_CONTAINS(scatter, std::to_string(wrong));
  }
  const Pair first = random_pair(kLong, contiguous_layout("", {9}), {0, 499});
  const Pair second = random_pair(kLong, contiguous_layout("", {9}), {-30, -kSize - 1.0});
  EXPECT_CONTAINS(message_of<IndexError>([&] {
                    const Tensors list{first.gpu, second.gpu};
                    raw::index("index", x.gpu, raw::index_list("index", x.gpu, list));
                    cuda::synchronize();
                  }),
                  "is out of bounds for dimension 1 with size 11; expected -11 <= index < 11");
  // Where a block has the line, and where the index is sorted, too.
  const Tensor memory = random_memory(kLong, 1500, {0, 499});
  memory.data_ptr<int64_t>()[pick(0, 1499)] = 500;
  const Pair index = pair_of(memory, contiguous_layout("", {1500})),
             src = random_pair(kFloat, contiguous_layout("", {1500}));
  for (const int64_t step : {1, 2})
    EXPECT_CONTAINS(message_of<IndexError>([&] {
                      const Tensor out = raw::as_strided(src.gpu, {500}, {step}, 0);
                      scattered(ScatterOp::sum, out, 0, index.gpu, src.gpu);
                      cuda::synchronize();
                    }),
                    "index 500 is out of bounds for dimension 0 with size 500");
  // Where one list is for all columns.
  const Tensor list = raw::expand(raw::as_strided(index.gpu, {1500, 1}, {1, 1}, 0), {1500, 3});
  for (const ScatterOp op : {ScatterOp::sum, ScatterOp::set})
    EXPECT_CONTAINS(message_of<IndexError>([&] {
                      const Tensor out = raw::as_strided(x.gpu, {500, 3}, {kSize, 1}, 0);
                      scattered(op, out, 0, list, raw::expand(src.gpu, {3, 1500}).t());
                      cuda::synchronize();
                    }),
                    "index 500 is out of bounds for dimension 0 with size 500");
  // Where there are no places at all.
  EXPECT_CONTAINS(message_of<IndexError>([&] {
                    empty({0, 100}, device(kCUDA))
                        .index_add_(0, zeros({5000}, device(kCUDA).dtype(kLong)),
                                    ones({5000, 100}, device(kCUDA)));
                    cuda::synchronize();
                  }),
                  "index 0 is out of bounds for dimension 0 with size 0");
  // The record is clear again, and the device works on.
  expect_close(raw::map(UnaryOp::neg, x.gpu), raw::map(UnaryOp::neg, x.cpu), 0, "afterwards");
}

}  // namespace
}  // namespace gradus
