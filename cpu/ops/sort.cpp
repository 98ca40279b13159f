// Sorting along one dimension: pairs of a key and an index, by cpu/walk/radix_sort.h.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk/radix_sort.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

constexpr int64_t kLongRow = 65536;

template <class T>
struct Row {
  const T* x;
  T* values;
  int64_t* indices;
  int64_t x_step, values_step, indices_step;
};

template <class T, class Word>
void sort_row(Sorter<Word>& sorter, const Row<T>& row, int64_t n, bool descending) {
  parallel_for(0, n, kGrain, [&](int64_t first, int64_t last) {
    Item<Word>* const items = sorter.items();
    for (int64_t i = first; i < last; ++i)
      items[i] = {sort_key(row.x[i * row.x_step], descending), static_cast<Word>(i)};
  });
  sorter.sort(n);
  parallel_for(0, n, kGrain, [&](int64_t first, int64_t last) {
    const Item<Word>* const items = sorter.items();
    for (int64_t i = first; i < last; ++i) {
      const auto index = static_cast<int64_t>(items[i].index);
      row.values[i * row.values_step] =
          sorted_value<T>(static_cast<SortKey<T>>(items[i].key), descending,
                          [&] { return row.x[index * row.x_step]; });
      row.indices[i * row.indices_step] = index;
    }
  });
}

template <class T, class Word>
void sort_tensor(const Tensor& x, int64_t dim, bool descending, const Tensor& values,
                 const Tensor& indices) {
  const int64_t n = x.sizes()[dim];
  Dims sizes = values.impl().sizes;
  sizes[dim] = 1;
  const Strided<3> rows = collapse<3>(sizes, {values.strides(), indices.strides(), x.strides()});
  const auto apart = inner_strides(rows);
  const auto sort_rows = [&](int64_t first, int64_t last) {
    Sorter<Word> sorter(n);
    walk(rows, first, last, [&](const auto& at, int64_t count) {
      for (int64_t r = 0; r < count; ++r)
        sort_row(sorter,
                 Row<T>{static_cast<const T*>(x.data_ptr()) + at[2] + r * apart[2],
                        static_cast<T*>(values.data_ptr()) + at[0] + r * apart[0],
                        indices.data_ptr<int64_t>() + at[1] + r * apart[1], x.strides()[dim],
                        values.strides()[dim], indices.strides()[dim]},
                 n, descending);
    });
  };
  // Long rows one after the other, each on all cores.
  if (n > kLongRow) return sort_rows(0, rows.numel);
  parallel_for(0, rows.numel, std::max<int64_t>(kGrain / 4 / n, 1), sort_rows);
}

}  // namespace

void CpuBackend::sort(const Tensor& x, int64_t dim, bool descending, const Tensor& values,
                      const Tensor& indices) {
  visit_numbers("sort", x.dtype(), [&]<class T>(TypeTag<T>) {
    // A key of 32 bits leaves room for an index of as many.
    if (x.sizes()[dim] <= int64_t{1} << 32)
      sort_tensor<T, SortKey<T>>(x, dim, descending, values, indices);
    else
      sort_tensor<T, uint64_t>(x, dim, descending, values, indices);
  });
}

}  // namespace gradus::cpu
