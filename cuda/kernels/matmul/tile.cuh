// The common part of the rungs of the matmul ladder: which part of the output a block makes, how a
// tile of an operand comes to shared memory, and how a result leaves.
#pragma once

#include "gradus/cuda/kernels/matmul/operand.h"
#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda {

struct TileOrigin {
  int64_t row, col;
};

// The first output of this block, where every block makes kRows x kCols of them. Blocks walk the
// output in bands of 8 tile rows, so that those in flight together share their operands in L2.
template <int kRows, int kCols, class T, class Out>
__device__ TileOrigin tile_origin(const MatmulArgs<T, Out>& args) {
  constexpr unsigned kBand = 8;
  const auto down = static_cast<unsigned>((args.m + kRows - 1) / kRows);
  const auto across = static_cast<unsigned>((args.n + kCols - 1) / kCols);
  const unsigned band = blockIdx.x / (kBand * across);
  const unsigned rest = blockIdx.x - band * kBand * across;
  const unsigned height = ::min(kBand, down - band * kBand);
  return {int64_t{band * kBand + rest % height} * kRows, int64_t{rest / height} * kCols};
}

// The first term of a row of a, or of a column of b, in the batch of this block.
template <class T>
__device__ const T* terms(const MatmulOperand<T>& x, int64_t outer) {
  return x.data + blockIdx.z * x.batch + outer * x.outer;
}

template <class T, class Out>
__device__ Out bias_at(const MatmulArgs<T, Out>& args, int64_t col) {
  return args.bias ? args.bias[col * args.bias_stride] : Out(0);
}

// The epilogue: adds the bias, and writes unless (row, col) lies past the edge.
template <class T, class Out, class Sum>
__device__ void store(const MatmulArgs<T, Out>& args, int64_t row, int64_t col, Sum sum) {
  if (row >= args.m || col >= args.n) return;
  args.out[(blockIdx.z * args.m + row) * args.n + col] = sum + Sum(bias_at(args, col));
}

// Brings tiles of kOuter x kDepth elements of an operand to shared memory, in the order of the
// depth. fetch() reads the next tile into registers, kWidth elements at a time; store() writes it.
// Threads run along whichever direction is contiguous in memory, so that reads coalesce; in shared
// memory a tile is always tile[depth][outer]. Elements past the edge are zero.
template <class T, int kOuter, int kDepth, int kThreads, int kWidth = 1>
class TileLoader {
  static_assert(kOuter * kDepth % (kThreads * kWidth) == 0, "threads share a tile evenly");
  struct alignas(kWidth * sizeof(T)) Unit {
    T at[kWidth];
  };
  static constexpr int kUnits = kOuter * kDepth / (kThreads * kWidth);  // of each thread
  static constexpr int kAcross = kOuter / kWidth, kDeep = kDepth / kWidth;
  // kRun neighbours in a warp take different rows along the depth. Their transposed writes then go
  // to different banks; the padding of the tile is chosen to match.
  static constexpr int kRun = kWidth == 1 ? 1 : 16;
  static constexpr int kPadding = kWidth == 1 ? 32 / kDepth : 4;
  static_assert(kUnits == 1 || (kThreads % kAcross == 0 && kThreads % (kRun * kDeep) == 0),
                "a thread's units lie one step apart");

 public:
  using Tile = T[kDepth][kOuter + kPadding];

  __device__ TileLoader(const MatmulOperand<T>& x, int64_t first, int64_t end, int64_t k)
      : x_(x), left_(k) {
    const int t = static_cast<int>(threadIdx.x);
    outer_ = x.along_outer ? t % kAcross * kWidth : t / (kRun * kDeep) * kRun + t % kRun;
    depth_ = x.along_outer ? t / kAcross : t / kRun % kDeep * kWidth;
    outer_step_ = x.along_outer ? 0 : kThreads / kDeep;
    depth_step_ = x.along_outer ? kThreads / kAcross : 0;
    limit_ = static_cast<int>(::min(end - first, int64_t{kOuter}));
    whole_ = limit_ == kOuter && (kWidth == 1 || x.aligned);
    from_ = terms(x, first + outer_) + depth_ * x.depth;
  }

  __device__ void fetch() {
    const int64_t step = outer_step_ * x_.outer + depth_step_ * x_.depth;
    if (whole_ && left_ >= kDepth) {
#pragma unroll
      for (int u = 0; u < kUnits; ++u) units_[u] = *reinterpret_cast<const Unit*>(from_ + u * step);
    } else {
      const int64_t next = x_.along_outer ? x_.outer : x_.depth;
#pragma unroll
      for (int u = 0; u < kUnits; ++u)
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          const int outer = outer_ + u * outer_step_ + (x_.along_outer ? i : 0);
          const int depth = depth_ + u * depth_step_ + (x_.along_outer ? 0 : i);
          const bool inside = outer < limit_ && depth < left_;
          units_[u].at[i] = inside ? from_[u * step + i * next] : T(0);
        }
    }
    from_ += kDepth * x_.depth;
    left_ -= kDepth;
  }

  __device__ void store(Tile& tile) const {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const int outer = outer_ + u * outer_step_, depth = depth_ + u * depth_step_;
      if (x_.along_outer) {
        *reinterpret_cast<Unit*>(&tile[depth][outer]) = units_[u];
      } else {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) tile[depth + i][outer] = units_[u].at[i];
      }
    }
  }

 private:
  const MatmulOperand<T>& x_;
  const T* from_;  // this thread's first element of the next tile
  int64_t left_;   // terms not fetched yet
  int outer_, depth_, outer_step_, depth_step_;
  int limit_;   // outer positions of the tile that exist
  bool whole_;  // all of them do, and units are aligned: no element needs a check
  Unit units_[kUnits];
};

}  // namespace gradus::cuda
