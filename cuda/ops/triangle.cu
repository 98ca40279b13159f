// tril and triu.
#include "gradus/cuda/kernels/triangle.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

void CudaBackend::triangle(bool upper, int64_t diagonal, const Tensor& x, const Tensor& out) {
  const Context context(out);
  const auto walk = collapse<2>(x.sizes(), {contiguous_strides(x.sizes()), x.strides()});
  const int64_t rows = x.size(-2), columns = x.size(-1);
  const dim3 block = block_of_rows(columns);
  const int64_t tiles = ceil_div(columns, int64_t{block.x});
  const int64_t blocks = ceil_div(walk.numel / columns, int64_t{block.y}) * tiles;
  visit_bits(x.element_size(), [&]<class T>(TypeTag<T>) {
    launch_early(triangle_kernel<T>,
                 {dim3(static_cast<unsigned>(blocks)), block, 0, context.stream}, walk, rows,
                 columns, tiles, upper, diagonal, static_cast<const T*>(x.data_ptr()),
                 static_cast<T*>(out.data_ptr()));
  });
}

}  // namespace gradus::cuda
