// The packed matrix product: Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication" (2008); Van Zee and van de Geijn, "BLIS" (2015).
//
// Each thread computes a part of the result. The depth k is cut into slices. The thread copies the
// rows of a and the columns of b that it needs next into panels as wide as a micro-kernel, in the
// order in which that reads them. Then it runs the micro-kernel over all pairs of panels. A product
// of one slice whose operands have dense rows is computed without any copy.
//
// Threads whose parts share rows or columns pack them twice, which costs less than reading what
// others wrote: a line of memory that many cores hold is slow to write again. A thread that is done
// helps the others with what they have packed. One of two threads that share a core, or whose core
// runs other programs as well, may be half as fast.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/matmul/pack.h"
#include "gradus/cpu/matmul/product.h"
#include "gradus/cpu/parallel.h"

namespace gradus::cpu {

namespace {

// The most of a slice. A sum over that many is made in one go, whatever the layout and the threads.
template <class T>
constexpr int64_t kDepth = 2048 / sizeof(T);
constexpr int64_t kRows = 240;      // of packed a: they fit the second-level cache
constexpr int64_t kColumns = 2048;  // of packed b
// The size of a block, which one thread multiplies. Its columns stay in that cache beside its rows.
constexpr int64_t kBlockRows = 60, kBlockColumns = 256;

// Memory of at least `count` elements, which this thread keeps for its next product. The memory is
// large enough for a huge page, since a tile reads from many places.
template <class T>
T* scratch(int64_t count) {
  thread_local StoragePtr memory;
  const size_t nbytes = std::max(static_cast<size_t>(count) * sizeof(T), size_t{2} << 20);
  if (!memory || memory->nbytes() < nbytes) memory = cpu_backend().allocate(nbytes, Device(kCPU));
  return static_cast<T*>(memory->data());
}

// The addend of a product, or of a slice of it: null, or elements any steps apart.
template <class T>
struct Added {
  const T* at = nullptr;
  int64_t row = 0, column = 0;
};
// The addend of a slice of p: the bias, or the sum of the slices before.
template <class T>
Added<T> added_to(const Product<T>& p, int64_t slice) {
  if (slice == 0) return {p.bias, p.bias_row, p.bias_column};
  return {p.out, p.out_row, p.out_column};
}

// Multiplies a panel of a by one of b: the tile of the result at (row, column), of which only a
// part may lie within p.
template <class T>
void multiply_panels(const Product<T>& p, const MicroKernel<T>& kernel, int64_t depth, const T* a,
                     const T* b, int64_t row, int64_t column, const Added<T>& added) {
  T* const out = p.out + row * p.out_row + column * p.out_column;
  const T* const from = added.at ? added.at + row * added.row + column * added.column : nullptr;
  const int64_t rows = std::min(kernel.rows, p.m - row);
  const int64_t columns = std::min(kernel.columns, p.n - column);
  const int64_t steps = divide_up(rows, kernel.step) * kernel.step;
  const bool whole = rows == steps && columns == kernel.columns && p.out_column == 1;
  if (whole && (!from || added.column == 1))
    return kernel.multiply(rows, depth, a, b, out, p.out_row, from, added.row);
  alignas(64) T tile[kMaxTile];
  kernel.multiply(steps, depth, a, b, tile, kernel.columns, nullptr, 0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const T& sum = tile[r * kernel.columns + c];
      out[r * p.out_row + c * p.out_column] =
          from ? from[r * added.row + c * added.column] + sum : sum;
    }
}

// Operands of at most so many bytes are read where they lie: rows that lie far apart leave the
// caches. So few tiles, one above the other, do not pay for a copy of b.
constexpr int64_t kBytesInPlace = 5 << 18, kFewTiles = 4;

template <class T>
bool takes_in_place(const Product<T>& p, const MicroKernel<T>& kernel) {
  const int64_t bytes = (p.m + p.n) * p.k * static_cast<int64_t>(sizeof(T));
  const bool is_low = p.m <= kFewTiles * kernel.rows && (p.a_column == 1 || p.a_row == 1);
  return p.k <= kDepth<T> && (is_low || (bytes <= kBytesInPlace && p.a_column == 1)) &&
         p.m >= kernel.rows && p.n >= kernel.columns && p.b_column == 1 && p.out_column == 1 &&
         !p.bias && !p.b_is_packed;
}

// The last tiles are lower ones, which reach back over their neighbours, and compute some elements
// once more.
template <class T>
void multiply_in_place(const Product<T>& p, const MicroKernel<T>& kernel) {
  for (int64_t j = 0; j < p.n; j += kernel.columns)
    for (int64_t i = 0; i < p.m; i += kernel.rows) {
      const int64_t rows = std::min(divide_up(p.m - i, kernel.step) * kernel.step, kernel.rows);
      const int64_t row = std::min(i, p.m - rows);
      const int64_t column = std::min(j, p.n - kernel.columns);
      kernel.multiply_in_place(rows, p.k, p.a + row * p.a_row, p.a_row, p.a_column, p.b + column,
                               p.b_row, p.out + row * p.out_row + column, p.out_row);
    }
}

// Packed rows and columns of a part, and how many blocks of their product nobody has taken yet. The
// owner of the part fills it in; any thread takes blocks.
template <class T>
struct alignas(128) Stage {
  Product<T> p{};  // the part
  const T *a = nullptr, *b = nullptr;
  int64_t b_column = 0;  // from one column of b to the next panel's, over the columns between
  int64_t depth = 0, top = 0, rows = 0, left = 0, columns = 0;
  Added<T> added{};
  std::atomic<int64_t> untaken{0};
  std::atomic<int64_t> helped{0};  // blocks that other threads multiplied
};

// Whether there was a block to multiply.
template <class T>
bool multiply_block(Stage<T>& s, const MicroKernel<T>& kernel) {
  int64_t untaken = s.untaken.load(std::memory_order_relaxed);
  do {
    if (untaken == 0) return false;
  } while (!s.untaken.compare_exchange_weak(untaken, untaken - 1, std::memory_order_acquire));
  const int64_t down = divide_up(s.rows, kBlockRows);
  const int64_t block = down * divide_up(s.columns, kBlockColumns) - untaken;
  const int64_t top = block % down * kBlockRows, left = block / down * kBlockColumns;
  for (int64_t i = top; i < std::min(top + kBlockRows, s.rows); i += kernel.rows)
    for (int64_t j = left; j < std::min(left + kBlockColumns, s.columns); j += kernel.columns)
      multiply_panels(s.p, kernel, s.depth, s.a + i * s.depth, s.b + j * s.b_column, s.top + i,
                      s.left + j, s.added);
  return true;
}

// Multiplies the stage, with those that help, and returns when none of them reads it any longer.
template <class T>
void multiply_stage(Stage<T>& s, const MicroKernel<T>& kernel) {
  const int64_t blocks = divide_up(s.rows, kBlockRows) * divide_up(s.columns, kBlockColumns);
  s.helped.store(0, std::memory_order_relaxed);
  s.untaken.store(blocks, std::memory_order_release);
  int64_t own = 0;
  while (multiply_block(s, kernel)) ++own;
  while (s.helped.load(std::memory_order_acquire) < blocks - own) std::this_thread::yield();
}

// The size of even pieces of whole units, of at most `most`. REQUIRES: unit divides most.
int64_t even_piece(int64_t size, int64_t most, int64_t unit) {
  return divide_up(size, divide_up(std::max<int64_t>(size, 1), most) * unit) * unit;
}

// Terms of a sum that are summed in one go.
template <class T>
int64_t slice_of(int64_t k) {
  return even_piece(k, kDepth<T>, 1);
}

// The part s.p.
template <class T>
void multiply_part(Stage<T>& s, const MicroKernel<T>& kernel) {
  const Product<T>& p = s.p;
  const int64_t most_columns = even_piece(p.n, kColumns, kernel.columns);
  const int64_t most_rows = even_piece(p.m, kRows, kernel.rows);
  const int64_t most_depth = slice_of<T>(p.k);
  T* const a_packed = scratch<T>((most_columns + most_rows) * most_depth);
  T* const b_packed = a_packed + most_rows * most_depth;
  s.a = a_packed;
  for (s.left = 0; s.left < p.n; s.left += most_columns) {
    s.columns = std::min(most_columns, p.n - s.left);
    for (int64_t slice = 0; slice < p.k; slice += most_depth) {
      s.depth = std::min(most_depth, p.k - slice);
      s.added = added_to(p, slice);
      const T* const b = p.b + s.left * p.b_column + slice * p.b_row;
      s.b = p.b_is_packed ? b : b_packed;
      s.b_column = p.b_is_packed ? p.b_column : s.depth;
      if (!p.b_is_packed)
        pack(b, p.b_column, s.columns, p.b_row, s.depth, kernel.columns, b_packed);
      for (s.top = 0; s.top < p.m; s.top += most_rows) {
        s.rows = std::min(most_rows, p.m - s.top);
        pack(p.a + s.top * p.a_row + slice * p.a_column, p.a_row, s.rows, p.a_column, s.depth,
             kernel.rows, a_packed);
        multiply_stage(s, kernel);
      }
    }
  }
}

// One thread multiplies.
template <class T>
void multiply_alone(const Product<T>& p, const MicroKernel<T>& kernel) {
  if (takes_in_place(p, kernel)) return multiply_in_place(p, kernel);
  Stage<T> stage;
  stage.p = p;
  multiply_part(stage, kernel);
}

// Threads that multiply a part each, and then steal blocks of the parts of others.
template <class T>
class WorkStealing {
 public:
  WorkStealing(const Parts<T>& parts, const MicroKernel<T>& kernel)
      : kernel_(kernel), stages_(static_cast<size_t>(parts.count)), unfinished_(parts.count) {
    for (int64_t i = 0; i < parts.count; ++i) stages_[static_cast<size_t>(i)].p = parts[i];
  }

  // Called by each thread.
  void work() {
    size_t last = 0;
    for (size_t i; (i = next_.fetch_add(1)) < stages_.size(); last = i) {
      const Finish finish{unfinished_};
      multiply_part(stages_[i], kernel_);
    }
    while (unfinished_.load(std::memory_order_relaxed) > 0)
      if (!help_after(last)) std::this_thread::yield();
  }

 private:
  // Counts a part as finished, also where it failed.
  struct Finish {
    std::atomic<int64_t>& unfinished;
    ~Finish() { unfinished.fetch_sub(1); }
  };

  // Multiplies the blocks of other parts that are left, the next part's first; whether there were
  // any.
  bool help_after(size_t part) {
    bool helped = false;
    for (size_t i = 1; i <= stages_.size(); ++i) {
      Stage<T>& s = stages_[(part + i) % stages_.size()];
      while (multiply_block(s, kernel_)) {
        s.helped.fetch_add(1, std::memory_order_release);
        helped = true;
      }
    }
    return helped;
  }

  const MicroKernel<T>& kernel_;
  std::vector<Stage<T>> stages_;
  std::atomic<size_t> next_{0};
  std::atomic<int64_t> unfinished_;
};

}  // namespace

template <class T>
bool multiply_few(const Product<T>& p, const MicroKernel<T>& kernel) {
  if (p.m > kMostFewRows || p.n < kernel.columns || p.a_column != 1 || p.out_column != 1 ||
      (p.b_row != 1 && p.b_column != 1) || (p.bias && p.bias_column != 1))
    return false;
  // The last block has the rest of the columns, too.
  const int64_t width = std::min(p.n, 2 * kernel.columns), blocks = p.n / width;
  const int64_t slice = slice_of<T>(p.k);
  const int64_t grain = divide_up(kProductGrain, std::max<int64_t>(p.m * p.k * width, 1));
  parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t left = block * width;
      const int64_t columns = block + 1 < blocks ? width : p.n - left;
      for (int64_t i = 0; i < p.k; i += slice) {
        const Added<T> added = added_to(p, i);
        kernel.multiply_few(p.m, columns, std::min(slice, p.k - i), p.a + i, p.a_row,
                            p.b + left * p.b_column + i * p.b_row, p.b_row, p.b_column,
                            p.out + left, p.out_row, added.at ? added.at + left : nullptr,
                            added.row);
      }
    }
  });
  return true;
}

template <class T>
void multiply_packed(const Product<T>& p, const MicroKernel<T>& kernel) {
  // A tile is wider than high: a narrow result fills it better lying down.
  if (p.n < kernel.columns && p.m > p.n) return multiply_packed(p.transposed(), kernel);
  const bool in_place = takes_in_place(p, kernel);
  const Parts<T> parts(p, kernel.rows, in_place ? kernel.step : kernel.rows, kernel.columns);
  if (parts.count == 1 || in_place)
    return parallel_for(0, parts.count, 1,
                        [&](int64_t i, int64_t) { multiply_alone(parts[i], kernel); });
  WorkStealing<T> stealing(parts, kernel);
  parallel_for(0, parts.count, 1, [&](int64_t, int64_t) { stealing.work(); });
}

template bool multiply_few(const Product<float>&, const MicroKernel<float>&);
template bool multiply_few(const Product<double>&, const MicroKernel<double>&);
template bool multiply_few(const Product<int64_t>&, const MicroKernel<int64_t>&);
template void multiply_packed(const Product<float>&, const MicroKernel<float>&);
template void multiply_packed(const Product<double>&, const MicroKernel<double>&);
template void multiply_packed(const Product<int64_t>&, const MicroKernel<int64_t>&);

}  // namespace gradus::cpu
