#include "gradus/cuda/kernels/nonzero.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/grid.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/raw.h"

namespace gradus::cuda {

Tensor CudaBackend::nonzero(const Tensor& x, IntArrayRef shape) {
  const Context context(x);
  const Dims row_major = contiguous_strides(x.sizes());
  const auto view = collapse<2>(x.sizes(), {row_major, x.strides()});
  CoordinateSizes sizes{.rank = static_cast<int>(shape.size()), .size = {}};
  std::copy(shape.begin(), shape.end(), sizes.size);
  const int64_t tiles = ceil_div(view.numel, int64_t{kFindTile});
  const Tensor counts = raw::empty({tiles}, kLong, x.device());
  Tensor out;
  visit_bits(x.element_size(), [&]<class Bits>(TypeTag<Bits>) {
    const auto mask = static_cast<Bits>(value_bits(x.dtype()));
    const Bits* const from = static_cast<const Bits*>(x.data_ptr());
    const LaunchConfig config{dim3(static_cast<unsigned>(tiles)), kScanThreads, 0, context.stream};
    launch(count_found<Bits>, config, view, mask, from, counts.data_ptr<int64_t>());
    scan(ScanOp::cumsum, counts, 0, counts);
    const int64_t found = raw::item(raw::narrow(counts, 0, tiles - 1, 1)).toLong();
    out = raw::empty({sizes.rank, found}, kLong, x.device());
    launch(write_nonzero<Bits>, config, view, sizes, found, mask, from,
           static_cast<const int64_t*>(counts.data_ptr<int64_t>()), out.data_ptr<int64_t>());
  });
  return out;
}

}  // namespace gradus::cuda
