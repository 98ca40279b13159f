// Tiles of operands that come to shared memory past the registers, while others are multiplied.
#pragma once

#include "gradus/cuda/kernels/matmul/tile.cuh"
#include "gradus/cuda/kernels/tensor_core.cuh"

namespace gradus::cuda {

// A tile of kOuter x kDepth elements of an operand in shared memory, in the order in which it lies
// in global memory. The padding sends what a warp reads at once, 8 outer positions of 4 terms, to
// 32 different banks.
template <int outer, int depth, bool along_outer>
struct OperandTile {
  static constexpr int kOuter = outer, kDepth = depth;
  static constexpr bool kAlongOuter = along_outer;
  static constexpr int kAcross = along_outer ? depth : outer;  // runs of neighbours in memory
  static constexpr int kAlong = along_outer ? outer : depth;   // their length
  static constexpr int kPitch = kAlong + (along_outer ? 8 : 4);
  static constexpr int kFloats = kAcross * kPitch;
  __device__ static int at(int outer_at, int depth_at) {
    return along_outer ? depth_at * kPitch + outer_at : outer_at * kPitch + depth_at;
  }
};

// Brings one tile after the other of an operand to shared memory. Elements past the edge are zero.
template <class Tile, int kThreads>
class TileCopier {
  static constexpr int kUnitsAlong = Tile::kAlong / 4;
  static constexpr int kUnits = Tile::kAcross * kUnitsAlong / kThreads;  // of each thread
  static constexpr int kStep = kThreads / kUnitsAlong;  // runs between a thread's units
  static_assert(kThreads % kUnitsAlong == 0 && Tile::kAcross % kStep == 0,
                "threads share a tile evenly");

 public:
  __device__ TileCopier(const MatmulOperand<float>& x, int64_t first, int64_t end)
      : x_(x), limit_(static_cast<int>(::min(end - first, int64_t{Tile::kOuter}))) {
    from_ = terms(x, first) + along() * (Tile::kAlongOuter ? x.outer : x.depth) +
            across() * (Tile::kAlongOuter ? x.depth : x.outer);
  }

  // Begins to copy the next tile to `to`. left: the terms that have not been copied.
  __device__ void copy(float* to, int64_t left) {
    to += across() * Tile::kPitch + along();
    const int64_t step = kStep * (Tile::kAlongOuter ? x_.depth : x_.outer);
    const int deep = static_cast<int>(::min(left, int64_t{Tile::kDepth}));
    const int runs = (Tile::kAlongOuter ? deep : limit_) - across();
    const int length = (Tile::kAlongOuter ? limit_ : deep) - along();
    if (x_.aligned && limit_ == Tile::kOuter && left >= Tile::kDepth) {
#pragma unroll
      for (int u = 0; u < kUnits; ++u)
        copy_later<16>(to + u * kStep * Tile::kPitch, from_ + u * step, 16);
    } else if (x_.aligned) {
      const int bytes = 4 * ::max(0, ::min(4, length));
#pragma unroll
      for (int u = 0; u < kUnits; ++u) {
        const int inside = u * kStep < runs ? bytes : 0;
        copy_later<16>(to + u * kStep * Tile::kPitch, inside ? from_ + u * step : x_.data, inside);
      }
    } else {
      const int64_t next = Tile::kAlongOuter ? x_.outer : x_.depth;
#pragma unroll 1
      for (int u = 0; u < kUnits; ++u)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const bool inside = u * kStep < runs && i < length;
          copy_later<4>(to + u * kStep * Tile::kPitch + i,
                        inside ? from_ + u * step + i * next : x_.data, inside ? 4 : 0);
        }
    }
    from_ += Tile::kDepth * x_.depth;
  }

 private:
  // The first unit of this thread.
  __device__ static int across() { return static_cast<int>(threadIdx.x) / kUnitsAlong; }
  __device__ static int along() { return static_cast<int>(threadIdx.x) % kUnitsAlong * 4; }

  const MatmulOperand<float>& x_;
  const float* from_;  // this thread's first element of the next tile
  int limit_;          // outer positions of the tile that exist
};

}  // namespace gradus::cuda
