// The places of elements that are not 0, their number, and masked_select.
#include "gradus/cuda/kernels/nonzero.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

// The elements of x that are not 0: how many they are, and then what is written of them.
template <class Bits>
class Search {
 public:
  explicit Search(const Tensor& x)
      : context_(x),
        view_(collapse<2>(x.sizes(), {contiguous_strides(x.sizes()), x.strides()})),
        mask_(static_cast<Bits>(value_bits(x.dtype()))),
        x_(static_cast<const Bits*>(x.data_ptr())),
        tiles_(ceil_div(view_.numel, int64_t{kFindTile})),
        counts_(raw::empty({tiles_}, kLong, x.device())) {
    launch_early(count_found<Bits>, config(), view_, mask_, x_, counts_.data_ptr<int64_t>());
  }

  // Of each tile.
  const Tensor& counts() const { return counts_; }

  // Sums the counts up, so that each tile knows its place; waits for the device. Once.
  int64_t found(const char* operation) {
    check_not_captured(operation, "the size of its result is not known before it has run");
    backend(counts_).scan(ScanOp::cumsum, counts_, 0, counts_);
    return raw::item(raw::narrow(counts_, 0, tiles_ - 1, 1)).toLong();
  }

  // REQUIRES: found() has been called.
  template <class Write>
  void write(const Write& write) const {
    launch_early(write_found<Bits, Write>, config(), view_, mask_, x_,
                 static_cast<const int64_t*>(counts_.data_ptr()), write);
  }

 private:
  LaunchConfig config() const {
    return {dim3(static_cast<unsigned>(tiles_)), kScanThreads, 0, context_.stream};
  }

  Context context_;
  Strided<2> view_;
  Bits mask_;
  const Bits* x_;
  int64_t tiles_;
  Tensor counts_;
};

}  // namespace

void CudaBackend::count_nonzero(const Tensor& x, const Tensor& out) {
  visit_bits(x.element_size(), [&]<class Bits>(TypeTag<Bits>) {
    reduce(ReduceOp::sum, Search<Bits>(x).counts(), raw::alias(out, {1}, {1}));
  });
}

Tensor CudaBackend::nonzero(const Tensor& x, IntArrayRef shape) {
  Tensor out;
  visit_bits(x.element_size(), [&]<class Bits>(TypeTag<Bits>) {
    Search<Bits> search(x);
    WriteCoordinates write{.rank = static_cast<int>(shape.size()),
                           .size = {},
                           .found = search.found("nonzero: it"),
                           .out = nullptr};
    std::copy(shape.begin(), shape.end(), write.size);
    out = raw::empty({write.rank, write.found}, kLong, x.device());
    write.out = out.data_ptr<int64_t>();
    search.write(write);
  });
  return out;
}

Tensor CudaBackend::masked_select(const Tensor& x, const Tensor& mask) {
  if (mask.dim() != x.dim()) return Backend::masked_select(x, mask);  // whole parts of x
  Search<uint8_t> search(mask);
  const Tensor out = raw::empty({search.found("masked_select: it")}, x.dtype(), x.device());
  visit_bits(x.element_size(), [&]<class Bits>(TypeTag<Bits>) {
    search.write(WriteElement<Bits>{
        collapse<2>(x.sizes(), {contiguous_strides(x.sizes()), x.strides()}),
        static_cast<const Bits*>(x.data_ptr()), static_cast<Bits*>(out.data_ptr())});
  });
  return out;
}

}  // namespace gradus::cuda
