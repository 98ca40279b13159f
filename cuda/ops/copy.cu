// Copies between layouts and dtypes on one device, and concatenation.
#include "gradus/cuda/kernels/copy.cuh"

#include <optional>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/squares.cuh"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

// Brings the walk into the form of transpose_kernel; false where it is no transposition.
bool transposes(Strided<2>& walk) {
  const int last = walk.dims - 1;
  if (last < 1 || walk.stride[0][last] != 1 || walk.stride[1][last] == 1) return false;
  for (int d = 0; d < last; ++d) {
    if (walk.stride[1][d] != 1 || std::min(walk.size[d], walk.size[last]) < kTile / 2) continue;
    std::swap(walk.size[d], walk.size[last - 1]);
    for (auto& stride : walk.stride) std::swap(stride[d], stride[last - 1]);
    return true;
  }
  return false;
}

template <class T>
void transpose(const Context& context, const Strided<2>& walk, T* dst, const T* src) {
  const int last = walk.dims - 1;
  const int64_t rows = walk.size[last - 1], columns = walk.size[last];
  const int64_t tiles = ceil_div(rows, int64_t{kTile}) * ceil_div(columns, int64_t{kTile});
  const auto blocks = static_cast<unsigned>(walk.numel / (rows * columns) * tiles);
  launch_pdl(transpose_kernel<T>, {dim3(blocks), dim3(kTile, kTileRows), 0, context.stream}, walk,
             dst, src);
}

// Lines so short leave threads of a block of rows idle, or far from their neighbours.
constexpr int64_t kShortLine = 8;

template <class T>
bool has_short_lines(const Strided<2>& walk, const Tensor& dst, const T* to) {
  return walk.dims > 1 && walk.size[walk.dims - 1] <= kShortLine && dst.is_contiguous() &&
         is_aligned<vector_width<T>>(to) && reach_of(walk).fits_32_bits;
}
template <class T>
void copy_short(const Context& context, const Strided<2>& walk, T* dst, const T* src) {
  constexpr int64_t kTile = int64_t{kShortParts} * kShortThreads * vector_width<T>;
  for_each_piece(walk, {}, [&](const auto& piece, const auto&) {
    launch_pdl(copy_short_lines<T>,
               {dim3(static_cast<unsigned>(ceil_div(walk.numel, kTile))), kShortThreads, 0,
                context.stream},
               piece, dst, src);
  });
}

template <class T>
void copy_bits(const Tensor& src, const Tensor& dst) {
  constexpr int V = vector_width<T>;
  const Context context(dst);
  auto walk = collapse<2>(dst.sizes(), {dst.strides(), src.strides()});
  T* const to = static_cast<T*>(dst.data_ptr());
  const T* const from = static_cast<const T*>(src.data_ptr());
  if constexpr (sizeof(T) < sizeof(uint64_t))  // of 8 bytes, tiles are as fast
    if (launch_squares<AllTurned>(context, Convert<T>{}, walk, to, from)) return;
  if (transposes(walk)) return transpose(context, walk, to, from);
  if (walk.dims > 1 && is_aligned<V>(to) && is_aligned<V>(from) && widen<2>(walk, V, {true, true}))
    return launch_elementwise(context, Convert<Wide>{}, walk, reinterpret_cast<Wide*>(to),
                              reinterpret_cast<const Wide*>(from));
  if (has_short_lines(walk, dst, to)) return copy_short(context, walk, to, from);
  launch_elementwise(context, Convert<T>{}, walk, to, from);
}

// Vectors of neighbours, converted at once.
template <class To, int V>
struct ConvertVector {
  template <class From>
  __device__ Vector<To, V> operator()(const Vector<From, V>& x) const {
    Vector<To, V> out;
#pragma unroll
    for (int v = 0; v < V; ++v) out.at[v] = convert<To>(x.at[v]);
    return out;
  }
};

// Converts lines that lie apart by vectors, between Float and a half type. Some channels of joined
// tensors are such lines. Returns false, and does nothing, where lines do not consist of vectors.
template <class To, class From>
bool convert_lines(const Tensor& src, const Tensor& dst) {
  constexpr int V = vector_width<To, From>;
  auto walk = collapse<2>(dst.sizes(), {dst.strides(), src.strides()});
  auto* const to = static_cast<To*>(dst.data_ptr());
  const auto* const from = static_cast<const From*>(src.data_ptr());
  if (walk.dims < 2 || !is_aligned<V>(to) || !is_aligned<V>(from) ||
      !widen<2>(walk, V, {true, true}))
    return false;
  launch_elementwise(Context(dst), ConvertVector<To, V>{}, walk,
                     reinterpret_cast<Vector<To, V>*>(to),
                     reinterpret_cast<const Vector<From, V>*>(from));
  return true;
}

// A row of x is what the dimensions from `dim` on hold. How many elements lie between the starts of
// neighbouring rows (0 where there is one row); none where a row is not contiguous, or the rows are
// not evenly apart.
std::optional<int64_t> row_step(const Tensor& x, int64_t dim) {
  std::optional<int64_t> step;
  int64_t next = 1;  // what the stride of the next dimension has to be
  for (int64_t d = x.dim(); d-- > 0;) {
    if (x.sizes()[d] == 1) continue;
    if (d < dim && !step) step = next = x.strides()[d];
    if (x.strides()[d] != next) return std::nullopt;
    next *= x.sizes()[d];
  }
  return step.value_or(0);
}

// The units from part `first` on, as many as one launch takes.
template <class Unit>
void launch_cat(const Context& context, ArrayRef<Tensor> parts, int64_t dim, int64_t rows,
                const Tensor& out) {
  constexpr int64_t kMostBlocks = 1 << 14;
  const auto unit = static_cast<int64_t>(sizeof(Unit));
  const auto units = [&](size_t bytes) { return static_cast<unsigned>(bytes / sizeof(Unit)); };
  const unsigned width = units(out.nbytes() / static_cast<size_t>(rows));
  unsigned begin = 0;
  for (size_t first = 0; first < parts.size(); first += CatParts<Unit>::kMost) {
    const size_t count = std::min<size_t>(parts.size() - first, CatParts<Unit>::kMost);
    CatParts<Unit> some{};
    unsigned longest = 1;
    for (size_t k = 0; k < count; ++k) {
      const Tensor& part = parts[first + k];
      const unsigned length = units(part.nbytes() / static_cast<size_t>(rows));
      const int64_t step = row_step(part, dim).value_or(0) * part.element_size() / unit;
      some.at[k] = {static_cast<const Unit*>(part.data_ptr()), step, length, begin};
      begin += length, longest = std::max(longest, length);
    }
    const int64_t blocks =
        std::min(ceil_div(longest * rows, int64_t{kCatBatch} * kThreads), kMostBlocks);
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(count));
    launch_pdl(cat_kernel<Unit>, {grid, kThreads, 0, context.stream}, some,
               static_cast<unsigned>(rows), width, static_cast<Unit*>(out.data_ptr()));
  }
}

}  // namespace

// One launch copies all parts where they are of out's dtype, their rows are contiguous and evenly
// apart, and out has less than 2 GiB. It moves the widest units in which they and their places can
// be counted.
void CudaBackend::cat(ArrayRef<Tensor> parts, int64_t dim, const Tensor& out) {
  constexpr size_t kMostBytes = (size_t{1} << 31) - 1;
  if (out.numel() == 0) return;
  int64_t rows = 1;
  for (int64_t d = 0; d < dim; ++d) rows *= out.sizes()[d];
  size_t all =
      reinterpret_cast<uintptr_t>(out.data_ptr()) | out.nbytes() / static_cast<size_t>(rows);
  bool evenly = out.nbytes() <= kMostBytes;
  for (const Tensor& part : parts) {
    if (part.numel() == 0) continue;
    const auto step = row_step(part, dim);
    evenly &= step && part.dtype() == out.dtype();
    all |= reinterpret_cast<uintptr_t>(part.data_ptr()) |
           part.nbytes() / static_cast<size_t>(rows) |
           static_cast<size_t>(step.value_or(0)) * static_cast<size_t>(out.element_size());
  }
  if (!evenly) return Backend::cat(parts, dim, out);
  const Context context(out);
  if (all % sizeof(Wide) == 0) return launch_cat<Wide>(context, parts, dim, rows, out);
  visit_real_bits(all & (~all + 1), [&]<class Unit>(TypeTag<Unit>) {
    launch_cat<Unit>(context, parts, dim, rows, out);
  });
}

void CudaBackend::copy(const Tensor& src, const Tensor& dst) {
  if (dst.numel() == 0) return;
  if (src.dtype() == dst.dtype())
    return visit_bits(src.element_size(), [&]<class T>(TypeTag<T>) { copy_bits<T>(src, dst); });
  visit(src.dtype(), [&]<class From>(TypeTag<From>) {
    visit(dst.dtype(), [&]<class To>(TypeTag<To>) {
      if constexpr ((std::is_same_v<From, float> && is_half<To>) ||
                    (std::is_same_v<To, float> && is_half<From>))
        if (convert_lines<To, From>(src, dst)) return;
      if constexpr (converts_at_once(dtype_of<From>, dtype_of<To>) && !std::is_same_v<From, To>)
        elementwise<To, From>(Convert<To>{}, dst, src);
      else
        fail<TypeError>("copy: no conversion at once from ", src.dtype(), " to ", dst.dtype());
    });
  });
}

}  // namespace gradus::cuda
