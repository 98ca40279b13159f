// Cumulative sums, products and extremes along a dimension.
#include "gradus/cuda/kernels/scan_tiles.cuh"

#include <bit>
#include <cstdlib>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/kernels/log_sum.cuh"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

// A block for each of so many lines fills any device; fewer long ones are cut into tiles.
constexpr int64_t kManyLines = 512;
constexpr int64_t kWantedColumns = 65536;  // threads of scan_columns
constexpr int64_t kLeastSegment = 64;

template <class S, class T>
class Scanner {
 public:
  using State = typename S::State;

  Scanner(const Tensor& x, int64_t dim, const Tensor& values, const Tensor& indices)
      : context_(values), device_(values.device()) {
    const Tensor& third = S::indexed ? indices : values;
    Dims sizes = values.impl().sizes;
    sizes[dim] = 1;
    args_.lines = collapse<3>(sizes, {values.strides(), x.strides(), third.strides()});
    args_.step[0] = values.strides()[dim];
    args_.step[1] = x.strides()[dim];
    args_.step[2] = third.strides()[dim];
    args_.n = x.sizes()[dim];
    args_.values = static_cast<T*>(values.data_ptr());
    args_.x = static_cast<const T*>(x.data_ptr());
    args_.indices = S::indexed ? indices.data_ptr<int64_t>() : nullptr;
    args_.vectors = takes_vectors();
  }

  void run(const S& scan) {
    const Strided<3>& lines = args_.lines;
    if (lines.numel > 1 && std::abs(lines.stride[0][lines.dims - 1]) < std::abs(args_.step[0]))
      return run_columns(scan);
    if (lines.numel <= kManyLines && args_.n >= 2 * kScanTile<T>) return run_tiles(scan);
    run_rows(scan);
  }

 private:
  bool takes_vectors() const {
    constexpr int V = vector_width<T>;
    bool ok = args_.step[0] == 1 && args_.step[1] == 1 && is_aligned<V>(args_.values) &&
              is_aligned<V>(args_.x);
    for (int d = 0; d < args_.lines.dims; ++d)
      ok &= args_.lines.stride[0][d] % V == 0 && args_.lines.stride[1][d] % V == 0;
    return ok;
  }

  void run_rows(const S& scan) {
    // Threads for a line: one for each vector up to a warp, and a block for a long one.
    const int64_t vectors = ceil_div(args_.n, int64_t{vector_width<T>});
    const int lanes = args_.n > 1024 ? kScanThreads
                                     : static_cast<int>(std::bit_ceil(
                                           static_cast<unsigned>(std::min(vectors, int64_t{32}))));
    launch_pdl(scan_rows<S, T>, blocks_for(args_.lines.numel * lanes), scan, args_,
               std::countr_zero(static_cast<unsigned>(lanes)));
  }

  void run_tiles(const S& scan) {
    const int64_t tiles = ceil_div(args_.n, kScanTile<T>);
    const int64_t groups = ceil_div(tiles, int64_t{kScanThreads}), lines = args_.lines.numel;
    const int64_t said = lines * (tiles + groups);
    const Tensor zeros = raw::empty({said * Said<State>::kWords + 1}, kLong, device_);
    raw::fill_(zeros, 0);
    auto* const next = reinterpret_cast<unsigned long long*>(zeros.data_ptr<int64_t>());
    auto* const totals = reinterpret_cast<Said<State>*>(next + 1);
    launch_pdl(scan_tiles<S, T>, blocks_for(lines * tiles * kScanThreads), scan, args_,
               {tiles, groups, totals, totals + lines * tiles, next});
  }

  void run_columns(const S& scan) {
    const int64_t lines = args_.lines.numel;
    const int64_t parts =
        std::min({kWantedColumns / lines, args_.n / kLeastSegment, int64_t{kMaxSegments}});
    const int64_t length =
        parts <= 1 ? args_.n : ceil_div(ceil_div(args_.n, parts), kLeastSegment) * kLeastSegment;
    const int64_t segments = ceil_div(args_.n, length);
    const bool whole = segments == 1;
    const Scratch table(whole ? 0 : static_cast<size_t>(lines * segments) * sizeof(State));
    const auto pass = [&](ScanPass which) {
      launch_pdl(scan_columns<S, T>, blocks_for(lines * segments), scan, args_,
                 {length, which, table.as<State>()});
    };
    if (whole) return pass(ScanPass::whole);
    pass(ScanPass::totals);
    launch_pdl(scan_totals<S>, blocks_for(lines * kScanThreads), scan, lines,
               static_cast<int>(segments), table.as<State>());
    pass(ScanPass::from_totals);
  }

  LaunchConfig blocks_for(int64_t threads) const {
    const auto blocks = static_cast<unsigned>(ceil_div(threads, int64_t{kScanThreads}));
    return {dim3(blocks), kScanThreads, 0, context_.stream};
  }

  Context context_;
  Device device_;
  ScanArgs<T> args_{};
};

}  // namespace

void CudaBackend::scan(ScanOp op, const Tensor& x, int64_t dim, const Tensor& out) {
  visit_op(op, [&](auto row) {
    if constexpr (row.value == ScanOp::logcumsumexp)
      visit_floating(name_of(op), x.dtype(),
                     [&]<class T>(TypeTag<T>) { Scanner<LogSums<T>, T>(x, dim, out, {}).run({}); });
    else
      visit_numbers(name_of(op), x.dtype(), [&]<class T>(TypeTag<T>) {
        Scanner<Fold<row.value, T>, T>(x, dim, out, {}).run({});
      });
  });
}

void CudaBackend::arg_scan(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                           const Tensor& indices) {
  visit_numbers(largest ? "cummax" : "cummin", x.dtype(), [&]<class T>(TypeTag<T>) {
    Scanner<Extreme<T>, T>(x, dim, values, indices).run(Extreme<T>{largest});
  });
}

}  // namespace gradus::cuda
