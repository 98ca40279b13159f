#include "gradus/cuda/kernels/sort.cuh"

#include <bit>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/grid.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/raw.h"

namespace gradus::cuda {

namespace {

// Rows of n neighbouring elements, one row after the other.
template <class T>
struct Rows {
  int64_t count, n;
  bool descending;
  const T* x;
  T* values;
  int64_t* indices;
};

template <class T>
void sort_short(const Context& context, const Rows<T>& rows) {
  const auto width = static_cast<int>(std::bit_ceil(static_cast<unsigned>(rows.n)));
  const int64_t blocks = ceil_div(rows.count, int64_t{kSortTile / width});
  launch(sort_short_rows<T>, {dim3(static_cast<unsigned>(blocks)), kScanThreads, 0, context.stream},
         rows.count, static_cast<int>(rows.n), width, rows.descending, rows.x, rows.values,
         rows.indices);
}

template <class T, class Word>
void sort_long(const Context& context, Backend& scans, const Rows<T>& rows, Device device) {
  const int64_t items = rows.count * rows.n, tiles = ceil_div(rows.n, int64_t{kSortTile});
  const auto item_count = static_cast<size_t>(items);
  const Scratch memory(4 * item_count * sizeof(Word));
  Word *keys = memory.as<Word>(), *indices = keys + items;
  Word *next_keys = indices + items, *next_indices = next_keys + items;
  const Tensor table = raw::empty(Dims{rows.count, kDigits * tiles}, kLong, device);
  int64_t* const counts = table.data_ptr<int64_t>();
  const LaunchConfig per_tile{dim3(static_cast<unsigned>(rows.count * tiles)), kScanThreads, 0,
                              context.stream};

  launch(make_items<T, Word>, linear_launch(context, items), items, rows.n, rows.descending, rows.x,
         keys, indices);
  for (int shift = 0; shift < 8 * static_cast<int>(sizeof(SortKey<T>)); shift += kDigitBits) {
    launch(count_digits<Word>, per_tile, rows.n, tiles, shift, keys, counts);
    scans.scan(ScanOp::cumsum, table, 1, table);
    launch(move_items<Word>, per_tile, rows.n, tiles, shift, counts, keys, indices, next_keys,
           next_indices);
    std::swap(keys, next_keys);
    std::swap(indices, next_indices);
  }
  launch(read_items<T, Word>, linear_launch(context, items), items, rows.n, rows.descending, rows.x,
         keys, indices, rows.values, rows.indices);
}

// REQUIRES: the tensors are contiguous, and their last dimension is sorted.
template <class T>
void sort_rows(Backend& scans, const Tensor& x, bool descending, const Tensor& values,
               const Tensor& indices) {
  const Context context(x);
  const int64_t n = x.sizes().back();
  const Rows<T> rows{x.numel() / n,        n,
                     descending,           static_cast<const T*>(x.data_ptr()),
                     values.data_ptr<T>(), indices.data_ptr<int64_t>()};
  if (n <= kSortTile)
    sort_short(context, rows);
  else if (n <= int64_t{1} << 32)
    sort_long<T, SortKey<T>>(context, scans, rows, x.device());
  else
    sort_long<T, uint64_t>(context, scans, rows, x.device());
}

}  // namespace

void CudaBackend::sort(const Tensor& x, int64_t dim, bool descending, const Tensor& values,
                       const Tensor& indices) {
  // Other layouts by way of copies in which the rows lie one after the other.
  const auto rows_of = [&](const Tensor& t) { return raw::transpose(t, dim, t.dim() - 1); };
  const auto space_for = [&](const Tensor& rows) {
    return rows.is_contiguous() ? rows : raw::empty_like(rows);
  };
  const Tensor from = raw::contiguous(rows_of(x));
  const Tensor value_rows = rows_of(values), index_rows = rows_of(indices);
  const Tensor to = space_for(value_rows), places = space_for(index_rows);
  visit_numbers("sort", x.dtype(),
                [&]<class T>(TypeTag<T>) { sort_rows<T>(*this, from, descending, to, places); });
  if (!value_rows.is_contiguous()) copy(to, value_rows);
  if (!index_rows.is_contiguous()) copy(places, index_rows);
}

}  // namespace gradus::cuda
