// Sums, means and extremes over any dimensions.
//
// The reduced elements are cut into chunks of a fixed length. Each chunk is folded, and the results
// are folded pairwise. This tree depends on the shape alone, never on the number of threads.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/folds.h"
#include "gradus/cpu/walk/find_loop.h"
#include "gradus/cpu/walk/load.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/math/elementwise.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// The elements of one chunk. Runs in memory are folded in many lanes. A column is folded several
// elements at a time. Other elements are brought together in a buffer first.
constexpr int64_t kRunChunk = 4096, kColumnChunk = 512, kBuffer = kMostLoaded;
// Several runs of one output are worth a fold each where they have at least kLongRun elements.
// kMaxRuns of them make a chunk, since their folds are added up one by one.
constexpr int64_t kLongRun = 64, kMaxRuns = 128;
// Columns that are folded side by side: their folds stay in the first-level cache.
constexpr int64_t kPanel = 2048;
// Rows of fewer columns are not cut, since they are folded in an order of their own. Others are cut
// at multiples of a cache line.
constexpr int64_t kNarrow = 64, kLine = 16;
// Outputs whose runs are folded at a time.
constexpr int64_t kSome = 64;
// Elements that outweigh the waking of the threads: reading them is all there is to do.
constexpr int64_t kFoldGrain = 1 << 17;

// One reduction: two walks, over the outputs and over the elements behind each, cut into tasks.
// `parts` folds what `folds` gives. Elements of another type than T are converted in the buffer.
template <class T>
class TreeFold {
 public:
  TreeFold(const Folds<T>& folds, const Folds<T>& parts, const Tensor& x, const Tensor& out)
      : folds_(folds),
        parts_(parts),
        x_(static_cast<const std::byte*>(x.data_ptr())),
        size_(static_cast<int64_t>(x.itemsize())),
        convert_(x.dtype() == out.dtype() ? nullptr
                                          : convert_loop(x.scalar_type(), out.scalar_type())),
        walks_(reduction_walks(x.sizes(), x.strides(), out.sizes(), out.strides())) {
    const int64_t run = elements().dims ? elements().size[elements().dims - 1] : 1;
    const bool dense = inner_strides(elements())[0] == 1;
    if (convert_)
      layout_ = Layout::scattered, chunk_ = kBuffer;
    else if (inner_strides(outputs())[1] == 1 && !dense)
      layout_ = Layout::columns, chunk_ = kColumnChunk;
    else if (dense && (elements().dims == 1 || run >= kLongRun))
      layout_ = Layout::runs, chunk_ = std::clamp<int64_t>(run * kMaxRuns, 1, kRunChunk);
    else
      layout_ = Layout::scattered, chunk_ = kBuffer;
    chunks_ = std::max<int64_t>(divide_up(elements().numel, chunk_), 1);
  }

  void run(const Tensor& out_tensor) const {
    T* const out = static_cast<T*>(out_tensor.data_ptr());
    const int64_t count = outputs().numel;
    if (count == 0) return;
    if (chunks_ == 1 && out_tensor.is_contiguous())
      return for_tasks([&](int64_t chunk, int64_t begin, int64_t end) {
        fold_chunk(chunk, begin, end, out + begin);
        folds_.finish(end - begin, elements().numel, out + begin);
      });
    // Row c holds what chunk c gives for every output.
    const StoragePtr memory =
        cpu_backend().allocate(static_cast<size_t>(chunks_ * count) * sizeof(T), Device(kCPU));
    T* const rows = static_cast<T*>(memory->data());
    for_tasks([&](int64_t chunk, int64_t begin, int64_t end) {
      fold_chunk(chunk, begin, end, rows + chunk * count + begin);
    });
    const int64_t grain = std::max<int64_t>(kFoldGrain / chunks_, 1);
    parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
      fold_chunks(rows, begin, end);
      folds_.finish(end - begin, elements().numel, rows + begin);
      const T* row = rows + begin;
      walk(outputs(), begin, end, [&](const auto& at, int64_t n) {
        for (int64_t i = 0; i < n; ++i) out[at[0] + i * inner_strides(outputs())[0]] = *row++;
      });
    });
  }

 private:
  enum class Layout : uint8_t {
    runs,       // an output's elements lie one after the other, or much of them does
    columns,    // neighbouring outputs are neighbours in x: they are folded side by side
    scattered,  // neither, or of another type
  };

  const Strided<2>& outputs() const { return walks_.kept; }  // of out and x
  const Strided<1>& elements() const { return walks_.reduced; }

  // Calls f(chunk, begin, end) for parts of the outputs, in parallel: even shares of the threads,
  // since no fold depends on where one ends.
  template <class F>
  void for_tasks(const F& f) const {
    const int64_t count = outputs().numel;
    const int64_t threads = count * elements().numel <= kFoldGrain ? 1 : thread_count();
    if (threads == 1 && chunks_ == 1 && count <= kPanel) return f(0, 0, count);
    // Few chunks: every thread has outputs of its own.
    int64_t part = chunks_ < 8 * threads ? divide_up(count, threads) : count;
    if (layout_ == Layout::columns) {
      const int64_t row = outputs().size[outputs().dims - 1], unit = row < kNarrow ? row : kLine;
      part = std::min(divide_up(part, unit), kPanel / unit) * unit;
    }
    const int64_t tasks = divide_up(count, part) * chunks_;
    parallel_for(0, tasks, divide_up(tasks, threads), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t begin = i / chunks_ * part;
        f(i % chunks_, begin, std::min(begin + part, count));
      }
    });
  }

  // The folds of one chunk behind outputs [begin, end).
  void fold_chunk(int64_t chunk, int64_t begin, int64_t end, T* result) const {
    const int64_t first = chunk * chunk_, last = std::min(first + chunk_, elements().numel);
    const int64_t apart = inner_strides(outputs())[1];
    walk(outputs(), begin, end, [&](const auto& at, int64_t count) {
      const std::byte* const start = x_ + at[1] * size_;
      const T* const from = reinterpret_cast<const T*>(start);
      if (layout_ == Layout::columns)
        fold_columns(from, first, last, count, result);
      else if (layout_ == Layout::scattered)
        for (int64_t i = 0; i < count; ++i)
          result[i] = fold_scattered(start + i * apart * size_, first, last);
      else if (elements().dims == 1)
        folds_.runs(count, from + first, apart, last - first, result);
      else
        fold_runs(from, first, last, count, result);
      result += count;
    });
  }

  // The folds of elements [first, last) behind `count` neighbouring outputs.
  void fold_columns(const T* x, int64_t first, int64_t last, int64_t count, T* result) const {
    const int64_t step = inner_strides(elements())[0];
    std::fill_n(result, count, folds_.start);
    walk(elements(), first, last, [&](const auto& at, int64_t n) {
      if (count < kNarrow && step == count)
        fold_narrow(x + at[0], n, count, result);
      else
        folds_.columns(count, x + at[0], step, n, result);
    });
  }
  // Folds n rows that lie one behind the other, of which several make a wide one.
  void fold_narrow(const T* x, int64_t n, int64_t count, T* result) const {
    constexpr int64_t kWide = 4 * kNarrow;
    const int64_t rows = kWide / count, wide = rows * count;
    if (n >= 4 * rows) {
      T row[kWide];
      std::fill_n(row, wide, folds_.start);
      folds_.columns(wide, x, wide, n / rows, row);
      parts_.columns(count, row, count, rows, result);
      x += n / rows * wide, n %= rows;
    }
    folds_.columns(count, x, count, n, result);
  }
  void fold_runs(const T* x, int64_t first, int64_t last, int64_t count, T* result) const {
    const int64_t apart = inner_strides(outputs())[1];
    T parts[kSome];
    for (; count > 0; count -= kSome, x += kSome * apart, result += kSome) {
      const int64_t some = std::min(count, kSome);
      std::fill_n(result, some, folds_.start);
      walk(elements(), first, last, [&](const auto& at, int64_t n) {
        folds_.runs(some, x + at[0], apart, n, parts);
        parts_.columns(some, parts, 0, 1, result);
      });
    }
  }
  // The fold behind one output.
  T fold_scattered(const std::byte* x, int64_t first, int64_t last) const {
    T buffer[kBuffer];
    int64_t done = 0;
    walk(elements(), first, last, [&](const auto& at, int64_t n) {
      load(static_cast<size_t>(size_), convert_, n, x + at[0] * size_, inner_strides(elements())[0],
           reinterpret_cast<std::byte*>(buffer + done));
      done += n;
    });
    T result;
    folds_.runs(1, buffer, 0, last - first, &result);
    return result;
  }

  // Folds the chunks' rows into the first, for outputs [begin, end).
  void fold_chunks(T* rows, int64_t begin, int64_t end) const {
    const int64_t step = outputs().numel;
    if (step == 1) return parts_.runs(1, rows, 0, chunks_, rows);
    for (int64_t reach = 1; reach < chunks_; reach *= 2)
      for (int64_t c = 0; c + reach < chunks_; c += 2 * reach)
        parts_.columns(end - begin, rows + (c + reach) * step + begin, 0, 1,
                       rows + c * step + begin);
  }

  const Folds<T>&folds_, &parts_;
  const std::byte* x_;
  int64_t size_;  // of an element of x
  Loop convert_;  // null where x is of T
  ReductionWalks walks_;
  Layout layout_;
  int64_t chunk_, chunks_;  // elements of a chunk, and how many chunks there are
};

}  // namespace

void CpuBackend::reduce(ReduceOp op, const Tensor& x, const Tensor& out) {
  // Truths are counted where they are, and not as numbers of eight bytes.
  if (op == ReduceOp::sum && x.dtype() == kBool && out.dtype() == kLong && out.numel() == 1 &&
      x.numel() > 0)
    return count_nonzero(x, out);
  visit(out.dtype(), [&]<class Element>(TypeTag<Element>) {
    using T = std::conditional_t<std::is_same_v<Element, bool>, uint8_t, Element>;
    if constexpr (!HalfType<T>) {
      const auto& table = table_of<FoldTable<T>>().folds;
      const Folds<T>&folds = table[static_cast<int>(op)],
            &parts = table[static_cast<int>(scalar::of_parts(op))];
      // Rows are converted in a buffer, and what lies otherwise all at once.
      const bool rows = x.dim() > 0 && x.strides().back() == 1 && out.sizes().back() == 1;
      if (folds.runs)
        return TreeFold<T>(folds, parts, rows ? x : raw::to(x, out.scalar_type()), out).run(out);
    }
    fail<TypeError>(name_of(op), ": dtype ", short_name(out.dtype()),
                    " is not computed with; convert with .to(kLong) or .to(kFloat)");
  });
}

}  // namespace gradus::cpu
