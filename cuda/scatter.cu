#include "gradus/cuda/kernels/scatter.cuh"

#include <bit>
#include <cstdlib>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/elementwise.cuh"
#include "gradus/cuda/sort.h"
#include "gradus/tensor/raw.h"

namespace gradus::cuda {

namespace {

// A thread takes a line so short in less time than a block for each line, or several launches.
constexpr int64_t kShortLine = 32, kShortLineOfLaunches = 64;
// Of lines so long even many are worth a block, or a sort.
constexpr int64_t kLongLine = 256;
// So many lines keep a GPU busy as they are; so many take longer in blocks, or to be sorted.
constexpr int64_t kManyLines = 1 << 16, kManyBlocks = 1 << 12;

struct Lines {
  Strided<3> walk;
  Line line;
};
Lines lines_of(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src) {
  Dims sizes = index.impl().sizes;
  const Line line{sizes[dim], out.strides()[dim], index.strides()[dim], src.strides()[dim]};
  sizes[dim] = 1;
  return {collapse<3>(sizes, {out.strides(), index.strides(), src.strides()}), line};
}

// Of a block's shared memory, so that two have room side by side.
constexpr size_t kMostShared = 100 << 10;

// Whether a block for each line suits: it reads and writes all of its line of out, which must not
// be most of its work, nor lie between others in memory; and it alone has a long line.
bool suits_blocks(const Lines& lines, int64_t size) {
  const auto [length, jump, index_step, src_step] = lines.line;
  for (int d = 0; d < lines.walk.dims; ++d)
    if (lines.walk.size[d] > 1 && std::abs(lines.walk.stride[0][d]) < size) return false;
  const int64_t least = lines.walk.numel < kManyBlocks ? kShortLine : kLongLine;
  return jump == 1 && length >= least && size <= 4 * length &&
         shared_bytes<double>(size) <= kMostShared &&
         (length <= 16 * kScatterThreads || (length <= kMostScatters && lines.walk.numel >= 64));
}

// The index without the dimensions over which it is the same.
Tensor distinct(const Tensor& index, int64_t dim) {
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
  if (index.numel() == line.length && rule.size <= line.length / 4 && shared <= kMostShared) {
    const int64_t share = std::max(4 * rule.size, int64_t{2 * kAddBatch * kScatterThreads});
    const int64_t blocks =
        std::min(ceil_div(line.length, share), int64_t{4} * context.multiprocessors);
    const LaunchConfig config{dim3(static_cast<unsigned>(blocks)), kScatterThreads, shared,
                              context.stream};
    return launch(scatter_integers_in_block<int64_t>, config, rule, line, device_fault(),
                  out.data_ptr<int64_t>(), data_of<int64_t>(index), data_of<int64_t>(src));
  }
  const auto walk = collapse<3>(index.sizes(),
                                {without(out.impl().strides, dim), index.strides(), src.strides()});
  launch(scatter_integers<int64_t>, linear_launch(context, walk.numel), walk, rule,
         out.strides()[dim], device_fault(), out.data_ptr<int64_t>(), data_of<int64_t>(index),
         data_of<int64_t>(src));
}

void put_last(const Context& context, const IndexRule& rule, int64_t dim, const Tensor& numbers,
              const Tensor& index, const Tensor& src, const Tensor& out) {
  Dims sizes = numbers.impl().sizes;
  sizes[dim] = rule.size;
  const Tensor owners = raw::empty(sizes, kInt, out.device());
  raw::fill_(owners, 0);
  const Tensor lines = raw::expand(raw::narrow(owners, dim, 0, 1), index.sizes());
  auto* const words = reinterpret_cast<unsigned*>(owners.data_ptr<int>());
  Dims count = Dims::filled(index.dim(), 0);  // along a line
  count[dim] = 1;
  const int64_t jump = owners.strides()[dim];

  const auto claims = collapse<3>(numbers.sizes(), {lines.strides(), numbers.strides(), count});
  launch(claim_places, linear_launch(context, claims.numel), claims, rule, jump, device_fault(),
         words, data_of<int64_t>(numbers));
  const auto puts = collapse<5>(index.sizes(), {without(out.impl().strides, dim), index.strides(),
                                                src.strides(), lines.strides(), count});
  visit_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    launch(put_owned<T>, linear_launch(context, puts.numel), puts, rule, out.strides()[dim], jump,
           static_cast<T*>(out.data_ptr()), data_of<int64_t>(index), data_of<T>(src), words);
  });
}

void scatter_by_places(const Context& context, ScatterOp op, const IndexRule& rule, int64_t dim,
                       const Tensor& numbers, const Tensor& index, const Tensor& src,
                       const Tensor& out) {
  const Tensor places = raw::empty(numbers.sizes(), kLong, out.device());
  const Tensor sorted = raw::empty_like(places), order = raw::empty_like(places);
  elementwise<int64_t, int64_t>(PlaceOf{rule, device_fault()}, places, numbers);
  const auto bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(rule.size)));
  sort(places, dim, /*descending=*/false, bits, sorted, order);

  const auto [walk, line] = lines_of(out, dim, raw::expand(sorted, index.sizes()), src);
  const dim3 block = block_of_rows(walk.numel);
  const int64_t parts = ceil_div(walk.numel, int64_t{block.x} * kScatterBatch);
  const int64_t blocks = ceil_div(line.length, int64_t{block.y}) * parts;
  const LaunchConfig config{dim3(static_cast<unsigned>(blocks)), block, 0, context.stream};
  visit_scatter(rule.op, op, out.dtype(), [&]<class T>(auto how, TypeTag<T>) {
    launch(scatter_sorted<how.value, T>, config, walk, parts, rule.size, line,
           static_cast<T*>(out.data_ptr()), data_of<int64_t>(sorted), data_of<int64_t>(order),
           data_of<T>(src));
  });
}

}  // namespace

void CudaBackend::scatter(ScatterOp op, const IndexRule& rule, int64_t dim, const Tensor& index,
                          const Tensor& src, const Tensor& out) {
  const Context context(out);
  if (op == ScatterOp::sum && out.dtype() == kLong)
    return add_integers(context, rule, dim, index, src, out);
  const Lines lines = lines_of(out, dim, index, src);
  const auto& [walk, line] = lines;
  const bool by_blocks = suits_blocks(lines, rule.size);
  if (!by_blocks && line.length >= kShortLineOfLaunches && line.length <= kLongestRow) {
    const Tensor numbers = distinct(index, dim);
    const int64_t sorts = numbers.numel() / line.length;
    if (op == ScatterOp::set && sorts * rule.size <= 4 * index.numel())
      return put_last(context, rule, dim, numbers, index, src, out);
    if (walk.numel < kManyLines && (sorts < kManyBlocks || line.length >= kLongLine))
      return scatter_by_places(context, op, rule, dim, numbers, index, src, out);
  }
  visit_scatter(rule.op, op, out.dtype(), [&]<class T>(auto how, TypeTag<T>) {
    const LaunchConfig blocks{dim3(static_cast<unsigned>(lines.walk.numel)), kScatterThreads,
                              shared_bytes<T>(rule.size), context.stream};
    launch(by_blocks ? scatter_in_block<how.value, T> : scatter_lines<how.value, T>,
           by_blocks ? blocks : linear_launch(context, lines.walk.numel), lines.walk, rule,
           lines.line, device_fault(), static_cast<T*>(out.data_ptr()), data_of<int64_t>(index),
           data_of<T>(src));
  });
}

}  // namespace gradus::cuda
