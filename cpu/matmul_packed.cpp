// The packed matrix product, after Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication" (2008), and Van Zee and van de Geijn, "BLIS" (2015).
//
// The result is cut into blocks, and the depth k into slices. Per slice, the rows of a and columns
// of b that a block needs are copied into panels as wide as a micro-kernel, in the order in which
// it reads them; then tiles of the block are computed in parallel.
#include <algorithm>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/product.h"

namespace gradus::cpu {

namespace {

constexpr int64_t kDepth = 256;      // of a slice: a panel of b stays in the first-level cache
constexpr int64_t kBlock = 2048;     // rows and columns of a block: bounds the packed memory
constexpr int64_t kTileRows = 4;     // of a task, in panels: its operands stay in the
constexpr int64_t kTileColumns = 2;  // second-level cache

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Memory of at least `count` elements, which this thread keeps for its next product.
template <class T>
T* scratch(int64_t count) {
  thread_local StoragePtr memory;
  const size_t nbytes = static_cast<size_t>(count) * sizeof(T);
  if (!memory || memory->nbytes() < nbytes) memory = cpu_backend().allocate(nbytes, Device(kCPU));
  return static_cast<T*>(memory->data());
}

// to[i][l] = from[l * lane_step + i * step] for l < lanes, 0 for the rest of `width`.
template <class T>
void pack_panel(const T* from, int64_t lane_step, int64_t lanes, int64_t step, int64_t depth,
                int64_t width, T* to) {
  if (lanes < width) std::fill_n(to, depth * width, T(0));
  if (lane_step == 1) {
    for (int64_t i = 0; i < depth; ++i) std::copy_n(from + i * step, lanes, to + i * width);
    return;
  }
  // A cache line of each lane at a time, since lanes a power of two apart evict one another.
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t begin = 0; begin < depth; begin += kLine) {
    const int64_t end = std::min(begin + kLine, depth);
    for (int64_t l = 0; l < lanes; ++l)
      for (int64_t i = begin; i < end; ++i) to[i * width + l] = from[l * lane_step + i * step];
  }
}

// All panels of one operand's slice, `width` of its `lanes` lanes each.
template <class T>
void pack(const T* from, int64_t lane_step, int64_t lanes, int64_t step, int64_t depth,
          int64_t width, T* to) {
  parallel_for(0, ceil_div(lanes, width), std::max<int64_t>(kGrain / (width * depth), 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t panel = begin; panel < end; ++panel)
                   pack_panel(from + panel * width * lane_step, lane_step,
                              std::min(width, lanes - panel * width), step, depth, width,
                              to + panel * width * depth);
               });
}

// Writes a computed tile of `width` columns where it fits into p; adds it after the first slice.
template <class T>
void store(const Product<T>& p, const T* tile, int64_t width, int64_t row, int64_t rows,
           int64_t column, int64_t columns, bool first) {
  rows = std::min(rows, p.m - row), columns = std::min(columns, p.n - column);
  for (int64_t r = 0; r < rows; ++r, tile += width) {
    T* const out = p.out + (row + r) * p.out_row + column * p.out_column;
    if (!first) {
      for (int64_t c = 0; c < columns; ++c) out[c * p.out_column] += tile[c];
    } else if (p.bias) {
      const T* const bias = p.bias + (row + r) * p.bias_row + column * p.bias_column;
      for (int64_t c = 0; c < columns; ++c)
        out[c * p.out_column] = tile[c] + bias[c * p.bias_column];
    } else {
      for (int64_t c = 0; c < columns; ++c) out[c * p.out_column] = tile[c];
    }
  }
}

template <class T>
void multiply_block(const Product<T>& p, const MicroKernel<T>& kernel, T* a_packed, T* b_packed) {
  const int64_t a_panels = ceil_div(p.m, kernel.rows), b_panels = ceil_div(p.n, kernel.columns);
  const int64_t across = ceil_div(b_panels, kTileColumns);
  const int64_t tasks = ceil_div(a_panels, kTileRows) * across;
  for (int64_t slice = 0; slice < p.k; slice += kDepth) {
    const int64_t depth = std::min(kDepth, p.k - slice);
    pack(p.a + slice * p.a_column, p.a_row, p.m, p.a_column, depth, kernel.rows, a_packed);
    pack(p.b + slice * p.b_row, p.b_column, p.n, p.b_row, depth, kernel.columns, b_packed);
    const int64_t grain = std::max<int64_t>(kProductGrain * tasks / (p.m * p.n * depth), 1);
    parallel_for(0, tasks, grain, [&](int64_t begin, int64_t end) {
      alignas(64) T tile[kMaxTile];
      for (int64_t task = begin; task < end; ++task) {
        const int64_t i0 = task / across * kTileRows, j0 = task % across * kTileColumns;
        for (int64_t i = i0; i < std::min(i0 + kTileRows, a_panels); ++i)
          for (int64_t j = j0; j < std::min(j0 + kTileColumns, b_panels); ++j) {
            kernel.multiply(depth, a_packed + i * kernel.rows * depth,
                            b_packed + j * kernel.columns * depth, tile);
            store(p, tile, kernel.columns, i * kernel.rows, kernel.rows, j * kernel.columns,
                  kernel.columns, slice == 0);
          }
      }
    });
  }
}

}  // namespace

template <class T>
void multiply_packed(const Product<T>& p, const MicroKernel<T>& kernel) {
  // A tile is wider than high: a narrow result fills it better lying down.
  if (p.n < kernel.columns && p.m > p.n) return multiply_packed(p.transposed(), kernel);
  const int64_t depth = std::min(kDepth, p.k);
  const int64_t a_size = ceil_div(std::min(p.m, kBlock), kernel.rows) * kernel.rows * depth;
  const int64_t b_size = ceil_div(std::min(p.n, kBlock), kernel.columns) * kernel.columns * depth;
  T* const b_packed = scratch<T>(b_size + a_size);
  T* const a_packed = b_packed + b_size;
  for (int64_t i = 0; i < p.m; i += kBlock)
    for (int64_t j = 0; j < p.n; j += kBlock)
      multiply_block(p.part(i, std::min(kBlock, p.m - i), j, std::min(kBlock, p.n - j)), kernel,
                     a_packed, b_packed);
}

template void multiply_packed(const Product<float>&, const MicroKernel<float>&);
template void multiply_packed(const Product<double>&, const MicroKernel<double>&);
template void multiply_packed(const Product<int64_t>&, const MicroKernel<int64_t>&);

}  // namespace gradus::cpu
