// scatter: chooses its kernel by the length of a line and the number of its places.
#include "gradus/cuda/kernels/scatter_list.cuh"

#include <bit>
#include <cstdlib>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/matmul/merge.h"
#include "gradus/cuda/ops/sort.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {

// A thread takes a line so short in less time than a block for each line, or several launches.
constexpr int64_t kShortLine = 32, kShortLineOfLaunches = 64;
// Lines of this length are worth a block or a sort even where they are many.
constexpr int64_t kLongLine = 256;
// So many lines keep a GPU busy as they are; so many take longer in blocks, or to be sorted.
constexpr int64_t kManyLines = 1 << 16, kManyBlocks = 1 << 12;

// A block looks at a list of so many numbers for each of its lines in less time than a sort takes.
constexpr int64_t kNumbersOfLine = 64;

struct Lines {
  Strided<3> walk;
  Line line;
};
Lines lines_of(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src) {
  Dims sizes = index.impl().sizes;
  const Line line{sizes[dim], out.strides()[dim], index.strides()[dim], src.strides()[dim]};
  sizes[dim] = 1;
  Strided<3> walk = collapse<3>(sizes, {out.strides(), index.strides(), src.strides()});
  if (walk.dims == 0) {  // a single line, as one of one
    walk.dims = 1;
    walk.size[0] = 1;
    for (auto& stride : walk.stride) stride[0] = 0;
  }
  return {walk, line};
}
// Whether lines lie side by side in memory.
bool are_columns(const Lines& lines) {
  const Strided<3>& walk = lines.walk;
  return walk.numel > 1 && std::abs(walk.stride[0][walk.dims - 1]) < std::abs(lines.line.jump);
}

// The most dynamic shared memory of a block. Two blocks have room side by side on an H100, and
// kernels on smaller GPUs have room for their static memory.
size_t most_shared() {
  constexpr int64_t kMost = 100 << 10, kStatic = 8 << 10;
  return static_cast<size_t>(std::min(kMost, most_shared_bytes() - kStatic));
}

// How many lines a block takes, a power of two; 0 where blocks do not suit. A block reads and
// writes all of its lines of out, which must not be most of its work. All accesses of its warps
// should be of whole sectors: those of single lines that lie by themselves, or of several side by
// side.
int lines_of_block(const Lines& lines, int64_t size, size_t element_size) {
  constexpr size_t kSector = 32;
  const size_t most = most_shared();
  const Strided<3>& walk = lines.walk;
  const auto [length, jump, index_step, src_step] = lines.line;
  const int64_t across = walk.size[walk.dims - 1];
  int64_t beside = 1, wanted = 1;
  if (are_columns(lines)) {
    if (walk.stride[0][walk.dims - 1] != 1 || (walk.numel >= kManyLines && length < kLongLine))
      return 0;
    wanted = std::min<int64_t>(kSector / element_size,
                               static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(across))));
    beside = wanted;
    while (beside > 1 && shared_bytes(beside * size, element_size) > most) beside /= 2;
  } else {
    if (jump != 1) return 0;
    for (int d = 0; d < walk.dims; ++d)
      if (walk.size[d] > 1 && std::abs(walk.stride[0][d]) < size) return 0;
  }
  const int64_t blocks = walk.numel / across * ceil_div(across, beside), numbers = length * beside;
  const bool suits = 2 * beside >= wanted &&
                     numbers >= (blocks < kManyBlocks ? kShortLine : kLongLine) &&
                     size <= 4 * length && shared_bytes(beside * size, element_size) <= most &&
                     (numbers <= 16 * kScatterThreads || (length <= kMostScatters && blocks >= 64));
  return suits ? static_cast<int>(beside) : 0;
}

// The index without the dimensions over which it is the same.
Tensor without_repeats(const Tensor& index, int64_t dim) {
  Dims sizes = index.impl().sizes;
  for (int64_t d = 0; d < index.dim(); ++d)
    if (d != dim && index.strides()[d] == 0) sizes[d] = 1;
  return raw::as_strided(index, sizes, index.impl().strides, index.storage_offset());
}

template <class T>
const T* data_of(const Tensor& x) {
  return static_cast<const T*>(x.data_ptr());
}

Dims without(Dims strides, int64_t dim) {
  strides[dim] = 0;
  return strides;
}

void add_integers(const Context& context, const IndexRule& rule, int64_t dim, const Tensor& index,
                  const Tensor& src, const Tensor& out) {
  // Each block of a single line adds to all places in the end, which must be little of its work.
  const Line line = lines_of(out, dim, index, src).line;
  const size_t shared = static_cast<size_t>(rule.size) * sizeof(int64_t);
  if (index.numel() == line.length && rule.size <= line.length / 4 && shared <= most_shared()) {
    const int64_t share = std::max(4 * rule.size, int64_t{2 * kAddBatch * kScatterThreads});
    const int64_t blocks =
        std::min(ceil_div(line.length, share), int64_t{4} * context.multiprocessors);
    const LaunchConfig config{dim3(static_cast<unsigned>(blocks)), kScatterThreads, shared,
                              context.stream};
    return launch_pdl(scatter_integers_in_block<int64_t>, config, rule, line, device_fault(),
                      out.data_ptr<int64_t>(), data_of<int64_t>(index), data_of<int64_t>(src));
  }
  const auto walk = collapse<3>(index.sizes(),
                                {without(out.impl().strides, dim), index.strides(), src.strides()});
  launch_pdl(scatter_integers<int64_t>, linear_launch(context, walk.numel), walk, rule,
             out.strides()[dim], device_fault(), out.data_ptr<int64_t>(), data_of<int64_t>(index),
             data_of<int64_t>(src));
}

LaunchConfig put_launch(const Context& context, int64_t n) {
  return linear_launch(context, ceil_div(n, int64_t{kIndexBatch}));
}

void put_last(const Context& context, const IndexRule& rule, int64_t dim, const Tensor& numbers,
              const Tensor& index, const Tensor& src, const Tensor& out) {
  Dims sizes = numbers.impl().sizes, all = index.impl().sizes;
  sizes[dim] = all[dim] = rule.size;
  const Tensor owners = raw::empty(sizes, kInt, out.device());
  raw::fill_(owners, 0);
  auto* const words = reinterpret_cast<unsigned*>(owners.data_ptr<int>());
  const int64_t jump = owners.strides()[dim];
  Dims count = Dims::filled(index.dim(), 0);  // along a line
  count[dim] = 1;

  const auto claims =
      collapse<3>(numbers.sizes(), {without(owners.impl().strides, dim), numbers.strides(), count});
  launch_pdl(claim_places, put_launch(context, claims.numel), claims, rule, jump, device_fault(),
             words, data_of<int64_t>(numbers));
  const auto puts = collapse<3>(
      all, {out.strides(), without(src.impl().strides, dim), raw::expand(owners, all).strides()});
  visit_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    launch_pdl(put_owned<T>, put_launch(context, puts.numel), puts, src.strides()[dim],
               static_cast<T*>(out.data_ptr()), data_of<T>(src), words);
  });
}

void put_everywhere(const Context& context, const IndexRule& rule, int64_t dim, const Tensor& index,
                    const Scalar& number, const Tensor& out) {
  auto walk = collapse<2>(index.sizes(), {without(out.impl().strides, dim), index.strides()});
  const int64_t jump = out.strides()[dim];
  const auto put = [&]<class T>(const T& value, int64_t step) {
    launch_pdl(put_number<T>, put_launch(context, walk.numel), walk, rule, step, device_fault(),
               static_cast<T*>(out.data_ptr()), data_of<int64_t>(index), value);
  };
  visit_real_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    const T value = bits_of<T>(number, out.scalar_type());
    constexpr int V = sizeof(uint64_t) / sizeof(T);
    if (jump % V != 0 || !is_aligned<V>(static_cast<T*>(out.data_ptr())) ||
        !widen<2>(walk, V, {true, false}))
      return put(value, jump);
    std::array<T, V> same;
    same.fill(value);
    put(std::bit_cast<uint64_t>(same), jump / V);
  });
}

void scatter_by_list(const Context& context, ScatterOp op, const IndexRule& rule,
                     const Lines& lines, const Tensor& index, const Tensor& src,
                     const Tensor& out) {
  // Blocks search the list, so they are no more than keep the device busy.
  const bool few =
      lines.line.length * lines.walk.numel <= int64_t{2 * kListShare} * context.multiprocessors;
  const int64_t share = few ? kListTurn : kListShare;
  const auto parts = static_cast<unsigned>(ceil_div(lines.walk.numel, share));
  const auto blocks = static_cast<unsigned>(lines.line.length) * parts;
  visit_scatter(rule.op, op, out.dtype(), [&]<class T>(auto how, TypeTag<T>) {
    launch_pdl(scatter_list<how.value, T>, {dim3(blocks), kScanThreads, 0, context.stream},
               lines.walk, parts, share, rule, lines.line, device_fault(),
               static_cast<T*>(out.data_ptr()), data_of<int64_t>(index), data_of<T>(src));
  });
}

void scatter_by_places(const Context& context, ScatterOp op, const IndexRule& rule, int64_t dim,
                       const Tensor& numbers, const Tensor& index, const Tensor& src,
                       const Tensor& out) {
  const Tensor places = raw::empty(numbers.sizes(), kLong, out.device());
  const Tensor sorted = raw::empty_like(places), order = raw::empty_like(places);
  elementwise<int64_t, int64_t>(PlaceOf{rule, device_fault()}, places, numbers);
  // A bit at least, so that the sort writes its results where there are no places.
  const auto bits = std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(rule.size))));
  sort(places, dim, /*descending=*/false, bits, sorted, order);

  const auto [walk, line] = lines_of(out, dim, raw::expand(sorted, index.sizes()), src);
  const dim3 block = block_of_rows(walk.numel);
  const auto parts = static_cast<unsigned>(ceil_div(walk.numel, int64_t{block.x} * kScatterBatch));
  const auto blocks = static_cast<unsigned>(ceil_div(line.length, int64_t{block.y})) * parts;
  const LaunchConfig config{dim3(blocks), block, 0, context.stream};
  visit_scatter(rule.op, op, out.dtype(), [&]<class T>(auto how, TypeTag<T>) {
    const auto kernel = numbers.numel() == line.length ? scatter_sorted<how.value, true, T>
                                                       : scatter_sorted<how.value, false, T>;
    launch_pdl(kernel, config, walk, parts, rule.size, line, static_cast<T*>(out.data_ptr()),
               data_of<int64_t>(sorted), data_of<int64_t>(order), data_of<T>(src));
  });
}

}  // namespace

void CudaBackend::scatter(ScatterOp op, const IndexRule& rule, int64_t dim, const Tensor& index,
                          const Operand& elements, const Tensor& out) {
  const Context context(out);
  if (elements.is_number()) return put_everywhere(context, rule, dim, index, elements.number, out);
  const Tensor& src = *elements.tensor;
  if (op == ScatterOp::set && merge_put(rule, dim, index, src, out)) return;
  if (op == ScatterOp::sum && out.dtype() == kLong)
    return add_integers(context, rule, dim, index, src, out);
  const Lines lines = lines_of(out, dim, index, src);
  const auto& [walk, line] = lines;
  const Tensor numbers = without_repeats(index, dim);
  const int64_t sorts = numbers.numel() / line.length;
  if (sorts == 1 && are_columns(lines) &&
      line.length <= std::min(int64_t{kLongestList}, kNumbersOfLine * walk.numel))
    return scatter_by_list(context, op, rule, lines, index, src, out);
  const int beside = lines_of_block(lines, rule.size, out.element_size());
  if (beside == 0 && line.length >= kShortLineOfLaunches && line.length <= kLongestRow) {
    if (op == ScatterOp::set && sorts * rule.size <= 4 * index.numel())
      return put_last(context, rule, dim, numbers, index, src, out);
    if (walk.numel < kManyLines && (sorts < kManyBlocks || line.length >= kLongLine))
      return scatter_by_places(context, op, rule, dim, numbers, index, src, out);
  }
  visit_scatter(rule.op, op, out.dtype(), [&]<class T>(auto how, TypeTag<T>) {
    if (beside == 0)
      return launch_pdl(scatter_lines<how.value, T>, linear_launch(context, walk.numel), walk, rule,
                        line, device_fault(), static_cast<T*>(out.data_ptr()),
                        data_of<int64_t>(index), data_of<T>(src));
    const int64_t across = walk.size[walk.dims - 1];
    const int64_t blocks = walk.numel / across * ceil_div(across, int64_t{beside});
    launch_pdl(scatter_in_block<how.value, T>,
               {dim3(static_cast<unsigned>(blocks)), kScatterThreads,
                shared_bytes(beside * rule.size, sizeof(T)), context.stream},
               walk, std::countr_zero(static_cast<unsigned>(beside)), rule, line, device_fault(),
               static_cast<T*>(out.data_ptr()), data_of<int64_t>(index), data_of<T>(src));
  });
}

}  // namespace gradus::cuda
