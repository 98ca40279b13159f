// nonzero, count_nonzero, unique_consecutive (the places where runs start), masked_select and
// masked_scatter.
#include "gradus/cuda/kernels/nonzero.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

LaunchConfig launch_of(const Context& context, const Tensor& counts) {
  return {dim3(static_cast<unsigned>(counts.numel())), kScanThreads, 0, context.stream};
}

// How many each tile of a list of n elements has. found: as for count_found. REQUIRES: n > 0.
template <class Find>
Tensor count_tiles(const Context& context, const Tensor& x, int64_t n, const Find& find,
                   uint16_t* found) {
  const Tensor counts = raw::empty({ceil_div(n, int64_t{kFindTile})}, kLong, x.device());
  launch_pdl(count_found<Find>, launch_of(context, counts), find, counts.data_ptr<int64_t>(),
             found);
  return counts;
}

// A search: how many elements there are, and then what is made of them.
class Search {
 public:
  // Searches n elements. REQUIRES: n > 0.
  template <class Find>
  Search(const Tensor& x, int64_t n, const Find& find)
      : context_(x),
        found_(raw::empty({ceil_div(n, int64_t{kFindTile}) * kScanThreads}, kShort, x.device())),
        counts_(count_tiles(context_, x, n, find, static_cast<uint16_t*>(found_.data_ptr()))) {}

  // Sums the counts up, so that each tile knows its place. Once.
  void sum_up() {
    if (counts_.numel() > 1) backend(counts_).scan(ScanOp::cumsum, counts_, 0, counts_);
  }
  // The same, and waits for the device.
  int64_t found(const char* operation) {
    check_not_captured(operation, "the size of its result is not known before it has run");
    sum_up();
    return raw::item(raw::narrow(counts_, 0, counts_.numel() - 1, 1)).toLong();
  }

  // REQUIRES: sum_up() or found() has been called.
  template <class Write>
  void write(const Write& write) const {
    launch_pdl(write_found<Write>, launch_of(context_, counts_),
               static_cast<const int64_t*>(counts_.data_ptr()),
               static_cast<const uint16_t*>(found_.data_ptr()), write);
  }
  // The coordinates in `shape` of all that there are. Waits for the device.
  Tensor coordinates(const char* operation, IntArrayRef shape) {
    WriteCoordinates write{.rank = static_cast<int>(shape.size()),
                           .size = {},
                           .found = found(operation),
                           .out = nullptr};
    std::copy(shape.begin(), shape.end(), write.size);
    const Tensor out = raw::empty({write.rank, write.found}, kLong, counts_.device());
    write.out = out.data_ptr<int64_t>();
    this->write(write);
    return out;
  }

 private:
  Context context_;
  Tensor found_, counts_;
};

Strided<2> walk_of(const Tensor& x) {
  return collapse<2>(x.sizes(), {contiguous_strides(x.sizes()), x.strides()});
}

template <class Bits>
NotZero<Bits> not_zero(const Tensor& x) {
  return {walk_of(x), static_cast<const Bits*>(x.data_ptr()),
          static_cast<Bits>(value_bits(x.dtype()))};
}

// REQUIRES: list is contiguous.
template <class T>
Search search_for_starts(const Tensor& list) {
  return {list, list.numel(), RunStart<T>{list.numel(), static_cast<const T*>(list.data_ptr())}};
}

}  // namespace

void CudaBackend::count_nonzero(const Tensor& x, const Tensor& out) {
  visit_real_bits(x.element_size(), [&]<class Bits>(TypeTag<Bits>) {
    const Tensor counts = count_tiles(Context(x), x, x.numel(), not_zero<Bits>(x), nullptr);
    reduce(ReduceOp::sum, counts, raw::alias(out, {1}, {1}));
  });
}

Tensor CudaBackend::nonzero(const Tensor& x, IntArrayRef shape) {
  Tensor out;
  visit_real_bits(x.element_size(), [&]<class Bits>(TypeTag<Bits>) {
    out = Search(x, x.numel(), not_zero<Bits>(x)).coordinates("nonzero: it", shape);
  });
  return out;
}

Tensor CudaBackend::run_starts(const Tensor& x) {
  if (x.dim() > 1) return Backend::run_starts(x);
  const Tensor list = raw::contiguous(x);
  return visit(x.scalar_type(), [&]<class T>(TypeTag<T>) {
    const Tensor starts = search_for_starts<T>(list).coordinates("unique: it", x.sizes());
    return raw::alias(starts, {starts.numel()}, {1});
  });
}

Tensor CudaBackend::distinct(const Tensor& x) {
  const Tensor list = raw::contiguous(x);
  return visit(x.scalar_type(), [&]<class T>(TypeTag<T>) {
    Search search = search_for_starts<T>(list);
    const Tensor out = raw::empty({search.found("unique: it")}, x.dtype(), x.device());
    search.write(MoveElement<T, true>{walk_of(list), static_cast<const T*>(list.data_ptr()),
                                      static_cast<T*>(out.data_ptr())});
    return out;
  });
}

Tensor CudaBackend::masked_select(const Tensor& x, const Tensor& mask) {
  if (mask.dim() != x.dim()) return Backend::masked_select(x, mask);  // whole parts of x
  Search search(mask, mask.numel(), not_zero<uint8_t>(mask));
  const Tensor out = raw::empty({search.found("masked_select: it")}, x.dtype(), x.device());
  visit_bits(x.element_size(), [&]<class Bits>(TypeTag<Bits>) {
    search.write(MoveElement<Bits, true>{walk_of(x), static_cast<const Bits*>(x.data_ptr()),
                                         static_cast<Bits*>(out.data_ptr())});
  });
  return out;
}

void CudaBackend::masked_scatter(const Tensor& mask, const Tensor& source, const Tensor& out) {
  Search search(mask, mask.numel(), not_zero<uint8_t>(mask));
  search.sum_up();
  visit_bits(out.element_size(), [&]<class Bits>(TypeTag<Bits>) {
    search.write(MoveElement<Bits, false>{walk_of(out), static_cast<const Bits*>(source.data_ptr()),
                                          static_cast<Bits*>(out.data_ptr())});
  });
}

}  // namespace gradus::cuda
