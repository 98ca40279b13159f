// Convolutions of half types, and of float32 rounded to TF32, on Hopper: the output, and the
// gradient of the input. All tensors lie with their channels last in memory.
//
// Idea. The products are those of convolution_channels_last.cuh. But nobody computes addresses: the
// tensor memory accelerator walks through the places of a tile itself (im2col mode), goes on in the
// next line and sample where one ends, and fills the padding with 0. A step is 128 bytes of the
// channels of one tap. One thread asks for tiles some steps ahead, as in matmul_wgmma.cuh. Two
// warpgroups multiply 64 places each. Two blocks of a cluster copy half of the weights to both.
// The accelerator stores the results, too, or adds them to what memory holds.
// Cost. Two blocks of a multiprocessor take 0.68 microseconds a step of 128 x 64 results: with what
// the cluster shares, 40 KB of the L2 cache, 7.9 TB/s in all, which is its limit. One block with
// tiles of 128 columns takes 0.43 a step, with 24 KB for as many results; with 256 columns 0.61 for
// twice as many.
// Next. The taps of a line share what they read.
#pragma once

#include "gradus/cuda/kernels/hopper/pipeline.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/cuda/kernels/windows/convolution_channels_last.cuh"

namespace gradus::cuda {

// The lowest index that place 0 reads: the lower corner of the box in TMA's im2col mode. The step
// from place to place is GatheredDim::step.
__host__ __device__ inline int lower_corner(const GatheredDim& dim) {
  return dim.first + (dim.reach < 0 ? (dim.taps - 1) * dim.reach : 0);
}
__host__ __device__ inline int offset_of(const GatheredDim& dim, int tap) {
  return dim.reach < 0 ? (tap - dim.taps + 1) * dim.reach : tap * dim.reach;
}

// Lines of all boxes are of 128 bytes, swizzled.
template <class T>
struct ConvolutionWgmmaArgs {
  CUtensorMap gathered;  // im2col: 128 places
  // (filters, taps, channels): boxes of half a tile's columns and one tap; for the input's gradient
  // of 32 filters and one tap.
  CUtensorMap weight;
  // Boxes of 64 rows of (1, rows, columns) where places lie in order, else 64 pixels (im2col) of
  // (samples, height, width, columns).
  CUtensorMap out;
  bool in_order, adds;  // adds: what is rounded to what out has
  const T* bias;        // (columns), or null
  GatheredDim dim[2];
  int rows, columns;  // places, and the channels of the result
  int channels;       // of a tap in the depth
};

template <class T, int N>
struct ConvolutionWgmmaTile {
  static constexpr int kRows = 128, kCluster = 2;
  // Many columns need more registers than all threads can have: those of a third warpgroup.
  static constexpr bool kTakesRegisters = N > 128;
  static constexpr int kThreads = kTakesRegisters ? 384 : 288;
  static constexpr int kLine = 128 / sizeof(T);  // elements
  // Of a multiprocessor. Two hide each other's starts and ends; one has more stages.
  static constexpr int kBlocks = N == 64 ? 2 : 1;
  static constexpr int kOuts = N == 64 ? 1 : 2;  // boxes of results of a warpgroup
  static constexpr int kBytesA = kRows * 128, kStageBytes = kBytesA + N * 128;
  static constexpr int kOutBytes = 2 * kOuts * hopper::kBoxBytes;
  static constexpr int kStages = hopper::stages_that_fit(kStageBytes, kOutBytes, kBlocks);
  static constexpr int kSharedBytes = kStages * kStageBytes + kOutBytes + hopper::kBarrierBytes;
};

// A place counted through all samples: in each dimension of its sample.
struct SplitPlace {
  int sample, at[2];
  __device__ SplitPlace(int place, const GatheredDim (&dim)[2]) {
    const auto down = static_cast<unsigned>(dim[0].rows),
               across = static_cast<unsigned>(dim[1].rows);
    const unsigned line = static_cast<unsigned>(place) / across;
    sample = static_cast<int>(line / down);
    at[0] = static_cast<int>(line % down), at[1] = place - static_cast<int>(line * across);
  }
};

// kAcross: the lines of the weight's boxes hold the channels of one filter, which is a term.
template <class T, int N, bool kAcross>
__global__ void __cluster_dims__(2, 1, 1)
    __launch_bounds__(ConvolutionWgmmaTile<T, N>::kThreads, ConvolutionWgmmaTile<T, N>::kBlocks)
        convolution_wgmma(const __grid_constant__ ConvolutionWgmmaArgs<T> args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Tile = ConvolutionWgmmaTile<T, N>;
  constexpr int kStages = Tile::kStages, kLine = Tile::kLine;
  extern __shared__ __align__(1024) char boxes[];  // the swizzle counts from multiples of 1024
  char* const results = boxes + kStages * Tile::kStageBytes;
  Ring<kStages, Tile::kStageBytes, Tile::kCluster> ring(boxes, Tile::kOutBytes);

  const int thread = static_cast<int>(threadIdx.x), group = thread / 128;
  const int rank = static_cast<int>(block_in_cluster());
  init_rings<Tile::kCluster>(2 * Tile::kCluster, ring);
  wait_for_earlier_kernels();

  const int wide = (args.columns + N - 1) / N;
  const int tiles = (args.rows + 2 * Tile::kRows - 1) / (2 * Tile::kRows) * wide;
  const auto clusters = static_cast<int>(gridDim.x / Tile::kCluster);
  const int first = static_cast<int>(blockIdx.x / Tile::kCluster);
  const GatheredDim &down = args.dim[0], &across = args.dim[1];
  // Neighbours share the rows, which are gathered.
  const auto row_of = [&](int tile) { return (tile / wide * 2 + rank) * Tile::kRows; };
  const auto column_of = [&](int tile) { return tile % wide * N; };

  if (group == 2) {
    if constexpr (Tile::kTakesRegisters) give_registers<40>();
    if (thread % 128 == 0) {
      for (int tile = first; tile < tiles; tile += clusters) {
        const SplitPlace place(row_of(tile), args.dim);
        const int h = place.at[0] * down.step + lower_corner(down);
        const int w = place.at[1] * across.step + lower_corner(across);
        const int column = column_of(tile);
        for (int i = 0; i < down.taps; ++i)
          for (int j = 0; j < across.taps; ++j) {
            const int tap = (i * down.weight_step + down.weight_first) * across.weight +
                            j * across.weight_step + across.weight_first;
            for (int channel = 0; channel < args.channels; channel += kLine) {
              char* const a = ring.acquire();
              char* const b = a + Tile::kBytesA;
              copy_pixels(a, args.gathered, ring.loads(), channel, w, h, place.sample,
                          offset_of(across, j), offset_of(down, i));
              if constexpr (kAcross) {
#pragma unroll
                for (int box = 0; box < N / 64; ++box)
                  copy_box_to_all(b + box * kBoxBytes + rank * (kBoxBytes / 2), args.weight,
                                  ring.loads(), column + 64 * box, tap, channel + 32 * rank, 0b11);
              } else {
                copy_box_to_all(b + rank * (N / 2 * 128), args.weight, ring.loads(), channel, tap,
                                column + rank * (N / 2), 0b11);
              }
              ring.advance();
            }
          }
      }
    }
  } else {
    if constexpr (Tile::kTakesRegisters) take_registers<232>();
    const int lane = thread % 32, warp = thread % 128 / 32;
    const int steps = down.taps * across.taps * ((args.channels + kLine - 1) / kLine);
    int out = 0;  // which box of results comes next
    for (int tile = first; tile < tiles; tile += clusters) {
      const int column = column_of(tile), row = row_of(tile) + group * 64;
      float sums[N / 2], more[N / 32];  // of the lane, which has the bias of every 32nd column
#pragma unroll
      for (int i = 0; i < N / 32; ++i) {
        const int c = column + 32 * i + lane;
        more[i] = args.bias && c < args.columns ? static_cast<float>(args.bias[c]) : 0.f;
      }
      const auto bias_of = [&](int j, int e) {
        return __shfl_sync(~0u, more[j / 4], j % 4 * 8 + lane % 4 * 2 + e);
      };
      multiply_steps<T, N, false, kAcross>(sums, ring, group * kBoxBytes, Tile::kBytesA, 0, steps,
                                           thread);
      const auto sum_of = [&](int i) { return steps > 0 ? sums[i] : 0.f; };

#pragma unroll
      for (int box = 0; box < N / kLine; ++box) {
        if (column + box * kLine >= args.columns || row >= args.rows) break;
        char* const result = results + (Tile::kOuts * group + out) * kBoxBytes;
        out = (out + 1) % Tile::kOuts;
        // The boxes before it are on their way.
        if (thread % 128 == 0) wait_for_stores<Tile::kOuts - 1>();
        sync_threads<128>(1 + group);
        if constexpr (is_half<T>) {
          const int line = 16 * warp + lane % 16;
#pragma unroll
          for (int j = 0; j < 8; j += 2) {
            uint32_t both[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const int at = 8 * box + j + i / 2;
              const int of = 4 * at + i % 2 * 2;
              both[i] =
                  both_halves<T>(sum_of(of) + bias_of(at, 0), sum_of(of + 1) + bias_of(at, 1));
            }
            store_matrices(result + line * 128 + ((j + lane / 16) ^ line % 8) * 16, both[0],
                           both[1], both[2], both[3]);
          }
        } else {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const float first = bias_of(4 * box + j, 0), second = bias_of(4 * box + j, 1);
#pragma unroll
            for (int low = 0; low < 2; ++low) {
              const int of = 16 * box + 4 * j + 2 * low;
              const int line = 16 * warp + lane / 4 + 8 * low, chunk = 2 * j + lane % 4 / 2;
              *reinterpret_cast<float2*>(result + line * 128 + (chunk ^ line % 8) * 16 +
                                         lane % 2 * 8) = {sum_of(of) + first,
                                                          sum_of(of + 1) + second};
            }
          }
        }
        publish_to_copies();
        sync_threads<128>(1 + group);
        if (thread % 128 != 0) continue;
        const int at = column + box * kLine;
        if (args.in_order) {
          args.adds ? add_box(args.out, result, at, row, 0)
                    : store_box(args.out, result, at, row, 0);
        } else {
          const SplitPlace place(row, args.dim);
          const int h = place.at[0] * down.out_step + down.out_first;
          const int w = place.at[1] * across.out_step + across.out_first;
          args.adds ? add_pixels(args.out, result, at, w, h, place.sample)
                    : store_pixels(args.out, result, at, w, h, place.sample);
        }
        end_stores();
      }
    }
    if (thread % 128 == 0) wait_for_stores();
  }
  sync_cluster();  // no block ends while another one may still arrive at its barriers
#endif
}

}  // namespace gradus::cuda
