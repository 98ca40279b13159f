// Tiles of attention on Hopper: a block's copies of them and its barriers, and a warpgroup's
// products of them.
#pragma once

#include "gradus/cuda/kernels/hopper/pipeline.cuh"
#include "gradus/cuda/kernels/rows/attention_tiles.cuh"

namespace gradus::cuda {

// Tensors are (width, rows, heads, batches) of a half type or (width, rows, heads of all batches,
// planes), in boxes of 64 elements of the rows of a tile.
template <class T>
struct AttentionWgmmaArgs {
  CUtensorMap own[2], streams[2];
  AttentionArgs<T, float> of;
  int64_t own_rows = 0, stream_rows = 0;  // of a head
  int items = 0;                          // tiles of rows of all heads
  bool by_place =
      false;  // all heads' tiles of one place before those of the next, or else by heads
  T* out = nullptr;
  float* log_sums = nullptr;
  // Two numbers of each query: log2(e) times its log_sum, and the scale times the sum of
  // grad * out. A head has `pitch` of them.
  float2* lines = nullptr;
  int64_t pitch = 0;
  T *grad_q = nullptr, *grad_k = nullptr, *grad_v = nullptr;
};

// Tiles of elements T. W: the head's width. N: rows of a tile of keys and values, which stream by.
// kPlanes: the bfloat16 terms of an element. kOwn: operands that stay in shared memory.
template <class T, int W, int N, int kPlanesOf, int kOwnOf, bool kLines = false>
struct AttentionWgmmaTile {
  using Element = T;
  using Factor = std::conditional_t<std::is_same_v<T, float>, BFloat16, T>;
  static constexpr int kWidth = W, kColumns = N, kPlanes = kPlanesOf, kOwn = kOwnOf;
  static constexpr bool kHasLines = kLines;
  static constexpr int kGroups = 2, kThreads = 128 * (kGroups + 1), kRows = 64 * kGroups;
  static constexpr int kOwnPlane = kRows * W * 2, kStreamPlane = N * W * 2;
  static constexpr int kStageBytes = 2 * kPlanes * kStreamPlane;
  static constexpr int kLineBytes = kLines ? N * 8 : 0;
  static constexpr int kStagesFrom = kOwn * kPlanes * kOwnPlane;
  static constexpr int kFit = hopper::stages_that_fit(kStageBytes + kLineBytes, kStagesFrom);
  static constexpr int kStages = kFit < 4 ? kFit : 4;
  static constexpr int kLinesFrom = kStagesFrom + kStages * kStageBytes;
  static constexpr int kBarriersFrom = kLinesFrom + kStages * kLineBytes;
  static constexpr int kSharedBytes = kBarriersFrom + hopper::kBarrierBytes;
  static_assert(kStages >= 2);
};

// A tile of rows, and the rows of the others that it meets.
struct AttentionItem {
  int index, head, batch, first, begin, end;  // index: of all heads
};

// The rings of a block: its own tiles, which are one stage, and those that stream by.
template <class Tile>
struct AttentionPipe {
  using T = typename Tile::Element;
  static constexpr int kRows = Tile::kRows, N = Tile::kColumns;

  const AttentionWgmmaArgs<T>& args;
  char* tiles;
  hopper::Ring<Tile::kStages, Tile::kStageBytes> streams;
  hopper::Ring<1, Tile::kStagesFrom> owns;

  __device__ AttentionPipe(const AttentionWgmmaArgs<T>& of, char* shared)
      : args(of),
        tiles(shared),
        streams(shared + Tile::kStagesFrom, Tile::kBarriersFrom - Tile::kLinesFrom),
        owns(shared, Tile::kBarriersFrom - Tile::kStagesFrom + 16 * Tile::kStages) {
    hopper::init_rings<1>(4 * Tile::kGroups, streams, owns);  // warps release their stages
  }
  __device__ char* own(int which) const {
    return tiles + which * (Tile::kPlanes * Tile::kOwnPlane);
  }
  __device__ char* stream(int which, int of_stage) const {
    return tiles + Tile::kStagesFrom + of_stage * Tile::kStageBytes +
           which * (Tile::kStageBytes / 2);
  }
  __device__ char* lines(int of_stage) const {
    return tiles + Tile::kLinesFrom + of_stage * Tile::kLineBytes;
  }

  // f(item) for each of this block's. Alternate rounds go backwards, which balances causal tiles
  // of growing length, but for few heads of many tiles: their period and that of the blocks may
  // meet. The work falls from the first item to the last by places.
  template <bool kKeysFirst, class F>
  __device__ void each_item(const F& f) const {
    const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
    const int tiles_each = static_cast<int>((args.own_rows + kRows - 1) / kRows);
    const int others = static_cast<int>(args.stream_rows);
    const int heads = static_cast<int>(args.of.heads);
    const int all_heads = args.items / tiles_each;
    const bool causal = args.of.causal;
#pragma unroll 1
    for (int turn = 0; turn * blocks < args.items; ++turn) {
      const int i = turn * blocks + (turn % 2 == 0 ? block : blocks - 1 - block);
      if (i >= args.items) continue;
      const int index = args.by_place ? i % all_heads : i / tiles_each;
      const int place = args.by_place ? i / all_heads : i % tiles_each;
      const int first = (causal && !kKeysFirst ? tiles_each - 1 - place : place) * kRows;
      f(AttentionItem{index, index % heads, index / heads, first, causal && kKeysFirst ? first : 0,
                      causal && !kKeysFirst ? ::min(others, first + kRows) : others});
    }
  }

  // sharing: heads of items that share one of the operand.
  template <int kCount>
  __device__ static void copy_tile(char* to, const CUtensorMap& from, uint64_t* barrier,
                                   const AttentionItem& item, int first, int sharing) {
#pragma unroll
    for (int plane = 0; plane < Tile::kPlanes; ++plane)
#pragma unroll
      for (int x = 0; x < Tile::kWidth / 64; ++x)
        hopper::copy_box(to + plane * (kCount * Tile::kWidth * 2) + x * (kCount * 128), from,
                         barrier, 64 * x, first,
                         (Tile::kPlanes == 1 ? item.head : item.index) / sharing,
                         Tile::kPlanes == 1 ? item.batch : plane);
  }
  // Whether the thread multiplies. The third warpgroup copies, and has no more to do.
  template <bool kKeysFirst>
  __device__ bool take_role() {
    if (threadIdx.x >= 256) {
      hopper::give_registers<24>();
      if (threadIdx.x < 288) copy<kKeysFirst>();
      return false;
    }
    hopper::take_registers<240>();
    return true;
  }
  // Fills the tiles. One warp calls it.
  template <bool kKeysFirst>
  __device__ void copy() {
    using namespace hopper;
    const int lane = static_cast<int>(threadIdx.x) % 32,
              sharing = static_cast<int>(args.of.sharing);
    const int of_own = kKeysFirst ? sharing : 1, of_streams = kKeysFirst ? 1 : sharing;
    each_item<kKeysFirst>([&](const AttentionItem& item) {
      owns.wait_until_empty();
      if (lane == 0) {
        owns.expect();
#pragma unroll
        for (int which = 0; which < Tile::kOwn; ++which)
          copy_tile<kRows>(own(which), args.own[which], owns.loads(), item, item.first, of_own);
      }
      owns.advance();
      for (int at = item.begin; at < item.end; at += N) {
        float4 pair;  // of lines, loaded before they have a place
        if constexpr (Tile::kHasLines) {
          static_assert(N == 64);
          pair = reinterpret_cast<const float4*>(args.lines + item.index * args.pitch + at)[lane];
        }
        streams.wait_until_empty();
        if constexpr (Tile::kHasLines) {
          reinterpret_cast<float4*>(lines(streams.stage))[lane] = pair;
          __syncwarp();
        }
        if (lane == 0) {
          streams.expect();
#pragma unroll
          for (int which = 0; which < 2; ++which)
            copy_tile<N>(stream(which, streams.stage), args.streams[which], streams.loads(), item,
                         at, of_streams);
        }
        streams.advance();
      }
    });
  }
};

// A warpgroup with its rows of the block's own tiles, and a lane's place in sums.
template <class Tile>
struct AttentionGroup {
  using T = typename Tile::Element;
  using Factor = typename Tile::Factor;
  static constexpr int W = Tile::kWidth, N = Tile::kColumns, kPlanes = Tile::kPlanes;
  // Tensor cores truncate their sums. Exact ones take what each tile adds by an ordinary addition.
  static constexpr bool kExact = kPlanes == 3;
  using Products = float[N / 2];
  using Sums = float[W / 2];
  using Part = float[kExact ? W / 2 : 1];        // of a tile
  using Weights = uint32_t[kPlanes][N / 16][4];  // left operands

  AttentionPipe<Tile>& pipe;
  int group, row, column;  // the lane's first row in the tile, and column; others are 8 further

  __device__ explicit AttentionGroup(AttentionPipe<Tile>& of) : pipe(of) {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    group = thread / 128;
    row = thread / 32 * 16 + lane / 4, column = lane % 4 * 2;
  }
  // f(plane of the left factor, of the right one) for the products that count, least ones first.
  template <class F>
  __device__ static void each_product(const F& f) {
#pragma unroll
    for (int below = kPlanes - 1; below >= 0; --below)
#pragma unroll
      for (int left = below; left >= 0; --left) f(left, below - left);
  }
  // out = own rows times the rows of a tile.
  __device__ void multiply_own(Products& out, int which, const char* tile) const {
    using namespace hopper;
    const uint64_t a = describe(pipe.own(which) + group * 64 * 128), b = describe(tile);
    each_product([&](int left, int right) {
#pragma unroll
      for (int x = 0; x < W / 64; ++x)
#pragma unroll
        for (int i = 0; i < 4; ++i)  // 16 elements further
          multiply<Factor, N, false, false>(
              out, a + (left * Tile::kOwnPlane + x * Tile::kRows * 128) / 16 + 2 * i,
              b + (right * Tile::kStreamPlane + x * N * 128) / 16 + 2 * i,
              left < kPlanes - 1 || x + i > 0);
    });
    end_products();
  }
  // sums += weights times a tile; take() ends it.
  __device__ static void accumulate(Sums& sums, Part& part, const Weights& weights,
                                    const char* tile) {
    using namespace hopper;
    const uint64_t b = describe(tile, N * 128);
    each_product([&](int left, int right) {
#pragma unroll
      for (int t = 0; t < N / 16; ++t) {
        const uint64_t at = b + right * Tile::kStreamPlane / 16 + 128 * t;
        if constexpr (kExact)
          multiply_held<Factor, W, true>(part, weights[left][t], at, left < kPlanes - 1 || t > 0);
        else
          multiply_held<Factor, W, true>(sums, weights[left][t], at, true);
      }
    });
    end_products();
  }
  // REQUIRES: the products have ended.
  __device__ static void take(Sums& sums, const Part& part) {
    if constexpr (kExact) {
#pragma unroll
      for (int i = 0; i < W / 2; ++i) sums[i] += part[i];
    }
  }
  __device__ static void round_weights(const Products& from, Weights& to) {
#pragma unroll
    for (int i = 0; i < N / 4; ++i) {
      float first = from[2 * i], second = from[2 * i + 1];
#pragma unroll
      for (int plane = 0; plane < kPlanes; ++plane) {
        const uint32_t both = both_halves<Factor>(first, second);
        to[plane][i / 4][i % 4] = both;
        first -= half_of<Factor>(both, 0), second -= half_of<Factor>(both, 1);
      }
    }
  }
  // f(which of the lane's two rows, which columns of 8, which of the lane's two there, element) for
  // each.
  template <class F, class... More>
  __device__ static void visit(const F& f, Products& first, More&... more) {
#pragma unroll
    for (int j = 0; j < N / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) f(e / 2, j, e % 2, first[4 * j + e], more[4 * j + e]...);
  }
  // Sets elements of keys that a query does not see. `first`: the query of the tile's first row.
  __device__ void hide(Products& products, int first, int key, int keys, bool causal,
                       float hidden) const {
    const int end = keys - key - column, last = causal ? first + row - key - column : end;
    visit(
        [&](int low, int j, int right, float& x) {
          if (8 * j + right >= end || 8 * j + right - 8 * low > last) x = hidden;
        },
        products);
  }
  // The mask's numbers for the lane's keys of a tile, each over the scale.
  using KeyMask = float[N / 4];
  __device__ void load_mask(KeyMask& to, const AttentionItem& item, int first) const {
    const auto& of = pipe.args.of;
    const T* const mask = of.mask + item.batch * of.mask_step[0] + item.head * of.mask_step[1];
    const float factor = 1 / of.scale;
#pragma unroll
    for (int i = 0; i < N / 4; ++i) {
      const int64_t key = first + i / 2 * 8 + column + i % 2;
      to[i] = key < of.keys ? static_cast<float>(mask[key * of.mask_step[3]]) * factor : 0;
    }
  }
  __device__ void add_mask(Products& products, const KeyMask& mask) const {
    visit([&](int, int j, int right, float& x) { x += mask[2 * j + right]; }, products);
  }
  // Stores to a head's matrix, rows from `first` on. REQUIRES: pairs of elements are aligned.
  __device__ void store(T* matrix, int64_t step, int64_t first, int64_t rows, int width,
                        const Sums& sums) const {
#pragma unroll
    for (int low = 0; low < 2; ++low) {
      const int64_t line = first + row + 8 * low;
      if (line >= rows) continue;
      T* const at = matrix + line * step + column;
#pragma unroll
      for (int j = 0; j < W / 8; ++j) {
        if (8 * j >= width) break;
        const float x = sums[4 * j + 2 * low], y = sums[4 * j + 2 * low + 1];
        if constexpr (std::is_same_v<T, float>)
          *reinterpret_cast<float2*>(at + 8 * j) = {x, y};
        else
          *reinterpret_cast<uint32_t*>(at + 8 * j) = both_halves<T>(x, y);
      }
    }
  }
};

}  // namespace gradus::cuda
