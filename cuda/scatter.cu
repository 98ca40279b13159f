#include "gradus/cuda/kernels/scatter.cuh"

#include <bit>
#include <cstdlib>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/elementwise.cuh"
#include "gradus/cuda/sort.h"
#include "gradus/tensor/raw.h"

namespace gradus::cuda {

namespace {

// Lines of this length are worth sorting, unless so many of them keep a GPU busy as they are.
constexpr int64_t kLongLine = 256, kManyLines = 1 << 16;

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
  return jump == 1 && length >= kLongLine && size <= 4 * length &&
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

}  // namespace

void CudaBackend::scatter(ScatterOp op, const IndexRule& rule, int64_t dim, const Tensor& index,
                          const Tensor& src, const Tensor& out) {
  const Context context(out);
  const Lines lines = lines_of(out, dim, index, src);
  if (op == ScatterOp::sum && out.dtype() == kLong) {
    Dims fixed = out.impl().strides;
    fixed[dim] = 0;
    const auto walk = collapse<3>(index.sizes(), {fixed, index.strides(), src.strides()});
    return launch(scatter_integers<int64_t>, linear_launch(context, walk.numel), walk, rule,
                  lines.line.jump, device_fault(), out.data_ptr<int64_t>(),
                  static_cast<const int64_t*>(index.data_ptr()),
                  static_cast<const int64_t*>(src.data_ptr()));
  }
  if (suits_blocks(lines, rule.size))
    return visit_scatter(rule.op, op, out.dtype(), [&]<class T>(auto how, TypeTag<T>) {
      launch(scatter_in_block<how.value, T>,
             {dim3(static_cast<unsigned>(lines.walk.numel)), kScatterThreads,
              shared_bytes<T>(rule.size), context.stream},
             lines.walk, rule, lines.line, device_fault(), static_cast<T*>(out.data_ptr()),
             static_cast<const int64_t*>(index.data_ptr()), static_cast<const T*>(src.data_ptr()));
    });
  if (lines.line.length < kLongLine || lines.line.length > kLongestRow ||
      lines.walk.numel >= kManyLines)
    return visit_scatter(rule.op, op, out.dtype(), [&]<class T>(auto how, TypeTag<T>) {
      launch(scatter_lines<how.value, T>, linear_launch(context, lines.walk.numel), lines.walk,
             rule, lines.line, device_fault(), static_cast<T*>(out.data_ptr()),
             static_cast<const int64_t*>(index.data_ptr()), static_cast<const T*>(src.data_ptr()));
    });

  const Tensor numbers = distinct(index, dim);
  const Tensor places = raw::empty(numbers.sizes(), kLong, out.device());
  const Tensor sorted = raw::empty_like(places), order = raw::empty_like(places);
  elementwise<int64_t, int64_t>(PlaceOf{rule, device_fault()}, places, numbers);
  const auto bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(rule.size)));
  cuda::sort(places, dim, /*descending=*/false, bits, sorted, order);
  const Lines by_place = lines_of(out, dim, raw::expand(sorted, index.sizes()), src);
  const int64_t count = by_place.walk.numel;
  const auto across = static_cast<unsigned>(
      std::bit_ceil(static_cast<uint64_t>(std::min(count, int64_t{kThreads}))));
  const unsigned down = kThreads / across;
  const int64_t parts = ceil_div(count, int64_t{across} * kScatterBatch);
  const int64_t blocks = ceil_div(by_place.line.length, int64_t{down}) * parts;
  visit_scatter(rule.op, op, out.dtype(), [&]<class T>(auto how, TypeTag<T>) {
    launch(scatter_sorted<how.value, T>,
           {dim3(static_cast<unsigned>(blocks)), dim3(across, down), 0, context.stream},
           by_place.walk, parts, rule.size, by_place.line, static_cast<T*>(out.data_ptr()),
           static_cast<const int64_t*>(sorted.data_ptr()),
           static_cast<const int64_t*>(order.data_ptr()), static_cast<const T*>(src.data_ptr()));
  });
}

}  // namespace gradus::cuda
