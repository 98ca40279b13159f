// Sorts along a dimension.
#include "gradus/cuda/ops/sort.h"

#include <bit>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/rows.cuh"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/base/error.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

constexpr int64_t kCountingBlocks = 1024;  // enough to fill any device

template <class T>
void sort_short(const Context& context, const Rows<T>& rows) {
  const auto width = static_cast<int>(std::bit_ceil(static_cast<unsigned>(rows.n)));
  const int64_t blocks = ceil_div(rows.count, int64_t{kShortRowItems / width});
  launch_pdl(sort_short_rows<T>,
             {dim3(static_cast<unsigned>(blocks)), kScanThreads, 0, context.stream}, rows, width);
}

template <class T>
void sort_tiles(const Context& context, const Rows<T>& rows, int bits) {
  const auto warps = static_cast<unsigned>(ceil_div(rows.n, int64_t{32 * kSortBatch}));
  const int threads = 32 * static_cast<int>(std::bit_ceil(warps));
  launch_pdl(sort_tile_rows<T>,
             {dim3(static_cast<unsigned>(rows.count)), dim3(static_cast<unsigned>(threads)),
              tile_row_bytes<T>(threads), context.stream},
             rows, bits);
}

template <class T>
void sort_long(const Context& context, const Rows<T>& rows, int bits, Device device) {
  const int64_t items = rows.count * rows.n, tiles = ceil_div(rows.n, int64_t{kSortTile});
  const int passes = ceil_div(bits, kDigitBits);
  const int64_t all_tiles = rows.count * tiles, all_digits = rows.count * passes * kDigits;
  const Tensor zeros = raw::empty({all_tiles * kDigits + all_digits + passes}, kLong, device);
  raw::fill_(zeros, 0);
  auto* const said = reinterpret_cast<Count*>(zeros.data_ptr<int64_t>());
  Count* const counts = said + all_tiles * kDigits;

  const int64_t parts = std::min(tiles, ceil_div(kCountingBlocks, rows.count));
  launch_pdl(count_row_digits<T>,
             {dim3(static_cast<unsigned>(rows.count * parts)), kScanThreads, 0, context.stream},
             rows, parts, passes, counts);

  const auto count = static_cast<size_t>(items);
  const Scratch keys(2 * count * sizeof(SortKey<T>)), indices(2 * count * sizeof(unsigned));
  SortPass<T> pass{0,
                   passes,
                   tiles,
                   counts,
                   said,
                   counts + all_digits,
                   {keys.as<SortKey<T>>(), keys.as<SortKey<T>>() + items},
                   {indices.as<unsigned>(), indices.as<unsigned>() + items}};
  for (; pass.pass < passes; ++pass.pass)
    launch_pdl(move_items<T>,
               {dim3(static_cast<unsigned>(all_tiles)), kScanThreads, 0, context.stream}, rows,
               pass);
}

template <class T>
void sort_rows(const Context& context, const Rows<T>& rows, int bits, Device device) {
  bits = std::min(bits, static_cast<int>(8 * sizeof(T)));
  if (rows.n <= kShortRow)
    sort_short(context, rows);
  else if (rows.n <= kSortTile)
    sort_tiles(context, rows, bits);
  else
    sort_long(context, rows, bits, device);
}

}  // namespace

void sort(const Tensor& x, int64_t dim, bool descending, int bits, const Tensor& values,
          const Tensor& indices) {
  check(x.sizes()[dim] <= kLongestRow, "sort: self has ", x.sizes()[dim], " elements along dim ",
        dim, ", and on a GPU at most ", kLongestRow, " are sorted; sort parts, or on the CPU");
  const Context context(x);
  with_rows(x, dim, values, indices,
            [&](const Tensor& from, const Tensor& to, const Tensor& places) {
              visit_numbers("sort", x.dtype(), [&]<class T>(TypeTag<T>) {
                sort_rows(context, rows_of<T>(from, descending, to, places), bits, x.device());
              });
            });
}

void CudaBackend::sort(const Tensor& x, int64_t dim, bool descending, const Tensor& values,
                       const Tensor& indices) {
  cuda::sort(x, dim, descending, 64, values, indices);
}

}  // namespace gradus::cuda
