// tril and triu.
#include "gradus/cuda/kernels/triangle.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

void CudaBackend::triangle(bool upper, int64_t diagonal, const Tensor& x, const Tensor& out) {
  const Context context(out);
  const int64_t rows = x.size(-2), columns = x.size(-1), step = x.stride(-1);
  Dims sizes = x.impl().sizes;
  sizes[x.dim() - 1] = 1;
  const auto begins = collapse<2>(sizes, {contiguous_strides(sizes), x.strides()});
  visit_bits(x.element_size(), [&]<class T>(TypeTag<T>) {
    const T* const from = static_cast<const T*>(x.data_ptr());
    T* const to = static_cast<T*>(out.data_ptr());
    const auto start = [&]<int V>(Constant<V>) {
      const dim3 block = block_of_rows(columns / V);
      const int64_t tiles = ceil_div(columns / V, int64_t{block.x});
      const int64_t blocks = ceil_div(begins.numel, int64_t{block.y}) * tiles;
      launch_pdl(triangle_kernel<T, V>,
                 {dim3(static_cast<unsigned>(blocks)), block, 0, context.stream}, begins, rows,
                 columns, step, tiles, upper, diagonal, from, to);
    };
    constexpr int V = vector_width<T>;
    bool vectors = step == 1 && columns % V == 0 && is_aligned<V>(from) && is_aligned<V>(to);
    for (int d = 0; d < begins.dims; ++d) vectors &= begins.stride[1][d] % V == 0;
    vectors ? start(Constant<V>{}) : start(Constant<1>{});
  });
}

}  // namespace gradus::cuda
