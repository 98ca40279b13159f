#include "gradus/cuda/kernels/scan.cuh"

#include <bit>
#include <cstdlib>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/grid.h"
#include "gradus/tensor/dispatch.h"

namespace gradus::cuda {

namespace {

// Enough to fill any device, and the same on each, so that results are.
constexpr int64_t kWantedBlocks = 1024;
constexpr int64_t kWantedColumns = 65536;  // threads of scan_columns

// A segment of at least `least` elements, and a multiple of that, where lines are split into so
// many parts.
int64_t segment_of(int64_t n, int64_t parts, int64_t least) {
  parts = std::min({parts, n / least, int64_t{kMaxSegments}});
  return parts <= 1 ? n : ceil_div(ceil_div(n, parts), least) * least;
}

template <class S, class T>
class Scanner {
 public:
  using State = typename S::State;

  Scanner(const Tensor& x, int64_t dim, const Tensor& values, const Tensor& indices)
      : context_(values) {
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
    const bool columns =
        lines.numel > 1 && std::abs(lines.stride[0][lines.dims - 1]) < std::abs(args_.step[0]);
    constexpr int64_t kTile = kScanThreads * vector_width<T>;
    args_.segment = columns ? segment_of(args_.n, kWantedColumns / lines.numel, 64)
                            : segment_of(args_.n, kWantedBlocks / lines.numel, 4 * kTile);
    const int64_t segments = ceil_div(args_.n, args_.segment);
    const auto pass = [&](ScanPass which) {
      args_.pass = which;
      columns ? run_columns(scan, segments) : run_rows(scan, segments);
    };
    if (segments == 1) return pass(ScanPass::whole);
    const Scratch table(static_cast<size_t>(lines.numel * segments) * sizeof(State));
    args_.table = table.as<State>();
    pass(ScanPass::totals);
    launch(scan_totals<S>,
           {dim3(static_cast<unsigned>(lines.numel)), kScanThreads, 0, context_.stream}, scan,
           lines.numel, static_cast<int>(segments), args_.table);
    pass(ScanPass::from_totals);
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

  void run_rows(const S& scan, int64_t segments) {
    // Threads for a line: one for each vector up to a warp, and a block for a long one.
    const int64_t vectors = ceil_div(args_.n, int64_t{vector_width<T>});
    const int lanes = args_.n > 1024 ? kScanThreads
                                     : static_cast<int>(std::bit_ceil(
                                           static_cast<unsigned>(std::min(vectors, int64_t{32}))));
    const int64_t blocks = ceil_div(args_.lines.numel * lanes, int64_t{kScanThreads});
    launch(scan_rows<S, T>,
           {dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(segments)), kScanThreads, 0,
            context_.stream},
           scan, args_, std::countr_zero(static_cast<unsigned>(lanes)));
  }

  void run_columns(const S& scan, int64_t segments) {
    const int64_t blocks = ceil_div(args_.lines.numel * segments, int64_t{kScanThreads});
    launch(scan_columns<S, T>,
           {dim3(static_cast<unsigned>(blocks)), kScanThreads, 0, context_.stream}, scan, args_);
  }

  Context context_;
  ScanArgs<T, State> args_{};
};

}  // namespace

void CudaBackend::scan(ScanOp op, const Tensor& x, int64_t dim, const Tensor& out) {
  visit_op(op, [&](auto row) {
    const auto run = [&]<class T>(TypeTag<T>) {
      using S = Fold<row.value, T>;
      Scanner<S, T>(x, dim, out, {}).run(S{});
    };
    if constexpr (row.value == ScanOp::logcumsumexp)
      visit_floating(name_of(op), x.dtype(), run);
    else
      visit_numbers(name_of(op), x.dtype(), run);
  });
}

void CudaBackend::arg_scan(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                           const Tensor& indices) {
  visit_numbers(largest ? "cummax" : "cummin", x.dtype(), [&]<class T>(TypeTag<T>) {
    Scanner<Extreme<T>, T>(x, dim, values, indices).run(Extreme<T>{largest});
  });
}

}  // namespace gradus::cuda
