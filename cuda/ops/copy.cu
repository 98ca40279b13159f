// Copies between layouts and dtypes on one device.
#include "gradus/cuda/kernels/copy.cuh"

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
  launch(transpose_kernel<T>, {dim3(blocks), dim3(kTile, kTileRows), 0, context.stream}, walk, dst,
         src);
}

// What lines of small elements are copied as.
struct alignas(kAccessBytes) Wide {
  uint64_t at[kAccessBytes / sizeof(uint64_t)];
};

// Makes elements of 16 bytes out of V neighbours; false where lines do not consist of such.
// REQUIRES: walk.dims > 0.
template <int V>
bool widen(Strided<2>& walk) {
  const int last = walk.dims - 1;
  if (walk.size[last] % V != 0) return false;
  for (const auto& stride : walk.stride) {
    if (stride[last] != 1) return false;
    for (int d = 0; d < last; ++d)
      if (stride[d] % V != 0) return false;
  }
  for (auto& stride : walk.stride)
    for (int d = 0; d < last; ++d) stride[d] /= V;
  walk.size[last] /= V;
  walk.numel /= V;
  return true;
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
  if (walk.dims > 1 && is_aligned<V>(to) && is_aligned<V>(from) && widen<V>(walk))
    return launch_elementwise(context, Convert<Wide>{}, walk, reinterpret_cast<Wide*>(to),
                              reinterpret_cast<const Wide*>(from));
  launch_elementwise(context, Convert<T>{}, walk, to, from);
}

}  // namespace

void CudaBackend::copy(const Tensor& src, const Tensor& dst) {
  if (dst.numel() == 0) return;
  if (src.dtype() == dst.dtype())
    return visit_bits(src.element_size(), [&]<class T>(TypeTag<T>) { copy_bits<T>(src, dst); });
  visit(src.dtype(), [&]<class From>(TypeTag<From>) {
    visit(dst.dtype(), [&]<class To>(TypeTag<To>) {
      if constexpr (converts_at_once(dtype_of<From>, dtype_of<To>) && !std::is_same_v<From, To>)
        elementwise<To, From>(Convert<To>{}, dst, src);
      else
        fail<TypeError>("copy: no conversion at once from ", src.dtype(), " to ", dst.dtype());
    });
  });
}

}  // namespace gradus::cuda
