// The first elements of the order along a dimension, medians, and what occurs most often.
#include "gradus/cuda/kernels/order/select.cuh"

#include <bit>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/rows.cuh"
#include "gradus/cuda/ops/sort.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

// Few rows keep few blocks busy: long ones are cut, or sorted.
constexpr int64_t kManyRows = 16, kLongRow = 1 << 17, kLeastPart = 1 << 12;

// The fewest threads for n elements that fill the GPU: they wait for each other often.
unsigned threads_for(const Context& context, int64_t blocks, int64_t n) {
  constexpr int64_t kOfMultiprocessor = 2048, kLeast = 128;
  const int64_t each = std::min(context.multiprocessors * kOfMultiprocessor / blocks, n / 2);
  return std::bit_ceil(static_cast<unsigned>(std::clamp<int64_t>(each, kLeast, kSelectThreads)));
}

template <class T>
void select_rows(const Context& context, const Rows<T>& rows, int64_t parts, const int64_t* origin,
                 Wanted wanted, int64_t first, int64_t count) {
  const int64_t blocks = rows.count * parts;
  launch_pdl(select_in_rows<T>,
             {dim3(static_cast<unsigned>(blocks)), threads_for(context, blocks, rows.n / parts), 0,
              context.stream},
             rows, parts, origin, wanted, first, static_cast<int>(count));
}

// The number of parts of a row, where rows are few. Each part gives its first `total` elements, of
// which a second launch selects.
template <class T>
int64_t parts_of(const Context& context, const Rows<T>& rows, int64_t total) {
  if (rows.count >= kManyRows || total > kMostSelected) return 1;
  const int64_t wanted = 4 * context.multiprocessors / rows.count;
  return std::max<int64_t>(std::min(wanted, rows.n / std::max(kLeastPart, 16 * total)), 1);
}

template <class T>
void select_of_parts(const Context& context, const Rows<T>& rows, int64_t first, int64_t count) {
  const int64_t total = first + count, parts = parts_of(context, rows, total);
  if (parts == 1) return select_rows(context, rows, 1, nullptr, Wanted::given, first, count);
  const auto kept = static_cast<size_t>(rows.count * parts * total);
  const Scratch values(kept * sizeof(T)), places(kept * sizeof(int64_t));
  Rows<T> cut = rows, merged = rows;
  cut.values = values.as<T>(), cut.indices = places.as<int64_t>();
  merged.n = parts * total, merged.x = cut.values;
  select_rows(context, cut, parts, nullptr, Wanted::given, 0, total);
  select_rows(context, merged, 1, cut.indices, Wanted::given, first, count);
}

// Takes rows, so that what is sorted need not be brought back into columns.
void select_of_sorted(Backend& backend, const Tensor& x, int64_t dim, bool descending,
                      int64_t first, const Tensor& values, const Tensor& indices) {
  const int64_t last = x.dim() - 1;
  const auto along = [&](const Tensor& t) { return raw::transpose(t, dim, last); };
  backend.Backend::select(raw::contiguous(along(x)), last, descending, first, along(values),
                          along(indices));
}

bool is_few_long(const Tensor& x, int64_t n) { return x.numel() / n < kManyRows && n > kLongRow; }

}  // namespace

void CudaBackend::select(const Tensor& x, int64_t dim, bool descending, int64_t first,
                         const Tensor& values, const Tensor& indices) {
  const int64_t n = x.sizes()[dim], count = values.sizes()[dim];
  const bool few = first + count <= kMostSelected;  // of one row
  if ((!few && (count > 1 || is_few_long(x, n))) || n <= kShortRow || n > kLongestRow)
    return select_of_sorted(*this, x, dim, descending, first, values, indices);
  const Context context(x);
  with_rows(x, dim, values, indices,
            [&](const Tensor& from, const Tensor& to, const Tensor& places) {
              visit_numbers("select", x.dtype(), [&]<class T>(TypeTag<T>) {
                select_of_parts(context, rows_of<T>(from, descending, to, places), first, count);
              });
            });
}

void CudaBackend::median(bool ignores_nan, const Tensor& x, int64_t dim, const Tensor& values,
                         const Tensor& indices) {
  const int64_t n = x.sizes()[dim];
  if (is_few_long(x, n) || n > kLongestRow)
    return Backend::median(ignores_nan, x, dim, values, indices);
  const Context context(x);
  with_rows(x, dim, values, indices,
            [&](const Tensor& from, const Tensor& to, const Tensor& places) {
              visit_numbers("median", x.dtype(), [&]<class T>(TypeTag<T>) {
                select_rows(context, rows_of<T>(from, false, to, places), 1, nullptr,
                            ignores_nan ? Wanted::median_of_numbers : Wanted::median, 0, 1);
              });
            });
}

void CudaBackend::mode(const Tensor& x, int64_t dim, const Tensor& values, const Tensor& indices) {
  const int64_t n = x.sizes()[dim];
  if (n > kSelectItems) return Backend::mode(x, dim, values, indices);
  const Context context(x);
  with_rows(x, dim, values, indices,
            [&](const Tensor& from, const Tensor& to, const Tensor& places) {
              visit_numbers("mode", x.dtype(), [&]<class T>(TypeTag<T>) {
                const auto rows = rows_of<T>(from, false, to, places);
                launch_pdl(mode_in_rows<T>,
                           {dim3(static_cast<unsigned>(rows.count)),
                            threads_for(context, rows.count, n), 0, context.stream},
                           rows);
              });
            });
}

}  // namespace gradus::cuda
