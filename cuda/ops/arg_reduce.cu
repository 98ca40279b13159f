// The largest or smallest element along a dimension, and its index.
#include "gradus/cuda/kernels/arg_reduce.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/division.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

void CudaBackend::arg_reduce(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                             const Tensor& indices) {
  if (const ScalarType compute = computed_type(x.scalar_type()); compute != x.scalar_type()) {
    const Tensor wide = raw::empty(values.sizes(), compute, x.device());
    arg_reduce(largest, raw::to(x, compute), dim, wide, indices);
    return copy(wide, values);
  }
  const Context context(values);
  // x is walked over the outputs, whose size in dim is 1, so that its stride there does not matter.
  const auto kept = collapse<3>(values.sizes(), {values.strides(), indices.strides(), x.strides()});
  const int64_t n = x.sizes()[dim], stride = x.strides()[dim];
  const int64_t next = kept.dims > 0 ? kept.stride[2][kept.dims - 1] : 0;
  const Division division = divide_block(kept.numel, next, n, stride);
  const int64_t blocks = ceil_div(kept.numel, int64_t{division.kept});
  // Few outputs do not fill the device: then several blocks share each, and a second launch has the
  // last word.
  const int64_t wanted = 8 * context.multiprocessors / blocks;
  const int64_t parts =
      std::clamp<int64_t>(n / (16 * division.reduced), 1, std::max<int64_t>(wanted, 1));
  const int64_t segment = ceil_div(n, parts), segments = ceil_div(n, segment);
  visit_numbers(largest ? "max" : "min", x.dtype(), [&]<class T>(TypeTag<T>) {
    const auto run = [&](const Division& by, int64_t count, int64_t length, int64_t rows,
                         const Candidate<T>* found, Candidate<T>* table) {
      const dim3 grid(static_cast<unsigned>(ceil_div(kept.numel, int64_t{by.kept})),
                      static_cast<unsigned>(rows));
      launch_pdl(arg_reduce_kernel<T>,
                 {grid, static_cast<unsigned>(by.kept * by.reduced), 0, context.stream}, largest,
                 kept, count, length, stride, by, static_cast<const T*>(x.data_ptr()), found, table,
                 static_cast<T*>(values.data_ptr()), static_cast<int64_t*>(indices.data_ptr()));
    };
    if (segments == 1) return run(division, n, n, 1, nullptr, nullptr);
    const Scratch memory(static_cast<size_t>(segments * kept.numel) * sizeof(Candidate<T>));
    auto* const table = memory.as<Candidate<T>>();
    run(division, n, segment, segments, nullptr, table);
    run(divide_block(kept.numel, 1, segments, kept.numel), segments, segments, 1, table, nullptr);
  });
}

}  // namespace gradus::cuda
