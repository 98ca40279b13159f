// The packed matrix product, after Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication" (2008), and Van Zee and van de Geijn, "BLIS" (2015).
//
// Each thread computes a part of the result by itself. It cuts the depth k into slices, copies the
// rows of a and the columns of b that it needs next into panels as wide as a micro-kernel, in the
// order in which that reads them, and runs the micro-kernel over all pairs of panels. A product of
// one slice whose operands have dense rows is computed without any copy.
//
// Threads whose parts share rows or columns pack them twice, which costs less than waiting for one
// another where they are few, or the product is small. Many threads share what they pack, and take
// small blocks of the result in turn, so that none waits long for one that other programs delay.
#include <algorithm>
#include <atomic>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/pack.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/product.h"

namespace gradus::cpu {

namespace {

// The most of a slice. A sum over that many is made in one go, whatever the layout and the threads.
template <class T>
constexpr int64_t kDepth = 2048 / sizeof(T);
constexpr int64_t kRows = 240;      // of packed a: they fit the second-level cache
constexpr int64_t kColumns = 2048;  // of packed b
constexpr int64_t kNear = 256;      // of them beside those rows, to stay in that cache as well

// Threads that share what is packed, how many multiplications each has to have for that, and how
// many rows and columns there have to be for all to find blocks between two packings; the most rows
// and columns that are packed for all; and those of a block, of whole tiles.
constexpr int64_t kSharers = 8, kSharedWork = 1 << 25, kSharedSide = 512;
constexpr int64_t kShared = 2048;
constexpr int64_t kBlockRows = 120, kBlockColumns = 128;

// Memory of at least `count` elements, which this thread keeps for its next product.
template <class T>
T* scratch(int64_t count) {
  thread_local StoragePtr memory;
  const size_t nbytes = static_cast<size_t>(count) * sizeof(T);
  if (!memory || memory->nbytes() < nbytes) memory = cpu_backend().allocate(nbytes, Device(kCPU));
  return static_cast<T*>(memory->data());
}

// The tile of the result at (row, column), of which only a part may lie within p.
template <class T>
void multiply_tile(const Product<T>& p, const MicroKernel<T>& kernel, int64_t depth, const T* a,
                   const T* b, int64_t row, int64_t column, bool adds) {
  T* const out = p.out + row * p.out_row + column * p.out_column;
  const int64_t rows = std::min(kernel.rows, p.m - row);
  const int64_t columns = std::min(kernel.columns, p.n - column);
  if (rows == kernel.rows && columns == kernel.columns && p.out_column == 1)
    return kernel.multiply(depth, a, b, out, p.out_row, adds);
  alignas(64) T tile[kMaxTile];
  kernel.multiply(depth, a, b, tile, kernel.columns, false);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      T& to = out[r * p.out_row + c * p.out_column];
      to = tile[r * kernel.columns + c] + (adds ? to : T(0));
    }
}

template <class T>
bool takes_in_place(const Product<T>& p, const MicroKernel<T>& kernel) {
  return p.k <= kDepth<T> && p.m >= kernel.rows && p.n >= kernel.columns && p.a_column == 1 &&
         p.b_column == 1 && p.out_column == 1 && !p.bias;
}

// The last tiles reach back over their neighbours, and compute some elements once more.
template <class T>
void multiply_in_place(const Product<T>& p, const MicroKernel<T>& kernel) {
  for (int64_t j = 0; j < p.n; j += kernel.columns)
    for (int64_t i = 0; i < p.m; i += kernel.rows) {
      const int64_t row = std::min(i, p.m - kernel.rows);
      const int64_t column = std::min(j, p.n - kernel.columns);
      kernel.multiply_in_place(p.k, p.a + row * p.a_row, p.a_row, p.b + column, p.b_row,
                               p.out + row * p.out_row + column, p.out_row);
    }
}

template <class T>
void put_bias(const Product<T>& p) {
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j)
      p.out[i * p.out_row + j * p.out_column] = p.bias[i * p.bias_row + j * p.bias_column];
}

// All slices but the last are of so many.
template <class T>
int64_t depth_of_slices(const Product<T>& p) {
  return divide_up(p.k, std::max<int64_t>(divide_up(p.k, kDepth<T>), 1));
}

// In one thread.
template <class T>
void multiply_part(const Product<T>& p, const MicroKernel<T>& kernel) {
  if (takes_in_place(p, kernel)) return multiply_in_place(p, kernel);
  const int64_t most_columns = std::min(divide_up(p.n, kernel.columns) * kernel.columns, kColumns);
  const int64_t most_depth = depth_of_slices(p);
  T* const b_packed = scratch<T>((most_columns + kRows + kernel.rows) * most_depth);
  T* const a_packed = b_packed + most_columns * most_depth;
  if (p.bias) put_bias(p);
  for (int64_t left = 0; left < p.n; left += kColumns) {
    const int64_t columns = std::min(kColumns, p.n - left);
    for (int64_t slice = 0; slice < p.k; slice += most_depth) {
      const int64_t depth = std::min(most_depth, p.k - slice);
      const bool adds = slice > 0 || p.bias;
      pack(p.b + left * p.b_column + slice * p.b_row, p.b_column, columns, p.b_row, depth,
           kernel.columns, b_packed);
      for (int64_t top = 0; top < p.m; top += kRows) {
        const int64_t rows = std::min(kRows, p.m - top);
        pack(p.a + top * p.a_row + slice * p.a_column, p.a_row, rows, p.a_column, depth,
             kernel.rows, a_packed);
        for (int64_t near = 0; near < columns; near += kNear)
          for (int64_t i = 0; i < rows; i += kernel.rows)
            for (int64_t j = near; j < std::min(near + kNear, columns); j += kernel.columns)
              multiply_tile(p, kernel, depth, a_packed + i * depth, b_packed + j * depth, top + i,
                            left + j, adds);
      }
    }
  }
}

// By `threads` that pack every slice together, and multiply it together.
template <class T>
void multiply_together(const Product<T>& p, const MicroKernel<T>& kernel, int64_t threads) {
  const int64_t most_depth = depth_of_slices(p);
  const int64_t b_lanes = divide_up(p.n, kernel.columns) * kernel.columns;
  const int64_t a_lanes = divide_up(p.m, kernel.rows) * kernel.rows;
  T* const b_packed = scratch<T>((a_lanes + b_lanes) * most_depth);
  T* const a_packed = b_packed + b_lanes * most_depth;
  const int64_t down = divide_up(p.m, kBlockRows), blocks = down * divide_up(p.n, kBlockColumns);
  for (int64_t slice = 0; slice < p.k; slice += most_depth) {
    const int64_t depth = std::min(most_depth, p.k - slice);
    const bool adds = slice > 0 || p.bias;
    // One thread's share of the panels of an operand.
    const auto pack_share = [&](int64_t thread, const T* from, int64_t lane_step, int64_t lanes,
                                int64_t step, int64_t width, T* to) {
      const int64_t panels = divide_up(lanes, width);
      const int64_t first = panels * thread / threads * width;
      const int64_t last = std::min(panels * (thread + 1) / threads * width, lanes);
      if (first < last)
        pack(from + first * lane_step, lane_step, last - first, step, depth, width,
             to + first * depth);
    };
    parallel_for(0, threads, 1, [&](int64_t thread, int64_t) {
      pack_share(thread, p.b + slice * p.b_row, p.b_column, p.n, p.b_row, kernel.columns, b_packed);
      pack_share(thread, p.a + slice * p.a_column, p.a_row, p.m, p.a_column, kernel.rows, a_packed);
    });
    std::atomic<int64_t> next{0};
    parallel_for(0, threads, 1, [&](int64_t, int64_t) {
      for (int64_t block; (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
        const int64_t top = block % down * kBlockRows, left = block / down * kBlockColumns;
        const int64_t bottom = std::min(top + kBlockRows, p.m);
        const int64_t right = std::min(left + kBlockColumns, p.n);
        for (int64_t i = top; i < bottom; i += kernel.rows)
          for (int64_t j = left; j < right; j += kernel.columns)
            multiply_tile(p, kernel, depth, a_packed + i * depth, b_packed + j * depth, i, j, adds);
      }
    });
  }
}

// In parts whose packed slices stay in the caches that all threads share.
template <class T>
void multiply_shared(const Product<T>& p, const MicroKernel<T>& kernel, int64_t threads) {
  if (p.bias)
    parallel_for(0, p.m, divide_up(p.m, threads),
                 [&](int64_t begin, int64_t end) { put_bias(p.part(begin, end - begin, 0, p.n)); });
  for (int64_t top = 0; top < p.m; top += kShared)
    for (int64_t left = 0; left < p.n; left += kShared)
      multiply_together(
          p.part(top, std::min(kShared, p.m - top), left, std::min(kShared, p.n - left)), kernel,
          threads);
}

}  // namespace

template <class T>
void multiply_packed(const Product<T>& p, const MicroKernel<T>& kernel) {
  // A tile is wider than high: a narrow result fills it better lying down.
  if (p.n < kernel.columns && p.m > p.n) return multiply_packed(p.transposed(), kernel);
  const int64_t threads = thread_count();
  if (threads >= kSharers && std::min(p.m, p.n) >= kSharedSide &&
      p.m * p.n * p.k / threads >= kSharedWork)
    return multiply_shared(p, kernel, threads);
  for_parts(p, kernel.rows, kernel.columns,
            [&](const Product<T>& part) { multiply_part(part, kernel); });
}

template void multiply_packed(const Product<float>&, const MicroKernel<float>&);
template void multiply_packed(const Product<double>&, const MicroKernel<double>&);
template void multiply_packed(const Product<int64_t>&, const MicroKernel<int64_t>&);

}  // namespace gradus::cpu
