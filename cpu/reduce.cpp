// Sums, means and extremes over any dimensions.
//
// The reduced elements are cut into chunks of a fixed length, each chunk is folded, and the results
// are folded pairwise: a tree that depends on the shape alone, never on the number of threads.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/folds.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"
#include "gradus/tensor/dispatch.h"

namespace gradus::cpu {

namespace {

// Elements of one chunk: of runs in memory, which are folded in many lanes; of a column, of which
// several elements are folded at a time; and of what is brought together in a buffer first.
constexpr int64_t kRunChunk = 4096, kColumnChunk = 512, kBuffer = 512;
// Runs of several that are one output's, where they are worth a fold each, and how many of them
// make a chunk, since their folds are added up one by one.
constexpr int64_t kLongRun = 64, kMaxRuns = 128;
// Columns that are folded side by side: their folds stay in the first-level cache.
constexpr int64_t kPanel = 2048;
// Parts of an output's row that several threads write begin at a cache line.
constexpr int64_t kLine = 16;
// Elements that outweigh the waking of the threads: reading them is all there is to do.
constexpr int64_t kFoldGrain = 1 << 17;

// One call: two walks, over the outputs and over the elements behind each, cut into tasks.
template <class T>
class Reduction {
 public:
  Reduction(const Folds<T>& folds, const Tensor& x, const Tensor& out)
      : folds_(folds),
        x_(static_cast<const T*>(x.data_ptr())),
        walks_(reduction_walks(x.sizes(), x.strides(), out.sizes(), out.strides())) {
    const int64_t run = elements().dims ? elements().size[elements().dims - 1] : 1;
    const bool dense = inner_strides(elements())[0] == 1;
    if (inner_strides(outputs())[1] == 1 && !dense)
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
    scattered,  // neither
  };

  const Strided<2>& outputs() const { return walks_.kept; }  // of out and x
  const Strided<1>& elements() const { return walks_.reduced; }

  // Calls f(chunk, begin, end) for parts of the outputs, in parallel: even shares of the threads,
  // since no fold depends on where one ends.
  template <class F>
  void for_tasks(const F& f) const {
    const int64_t count = outputs().numel;
    const int64_t threads = count * elements().numel <= kFoldGrain ? 1 : thread_count();
    // Few chunks: every thread has outputs of its own.
    int64_t part = chunks_ < 8 * threads ? divide_up(count, threads) : count;
    if (layout_ == Layout::columns)
      part = std::min(divide_up(part, kLine) * kLine, kPanel);
    else if (chunks_ > 1)
      part = 1;
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
      const T* const from = x_ + at[1];
      if (layout_ == Layout::columns)
        fold_columns(from, first, last, count, result);
      else if (layout_ == Layout::runs && elements().dims == 1)
        folds_.runs(count, from + first, apart, last - first, result);
      else
        for (int64_t o = 0; o < count; ++o) result[o] = fold_one(from + o * apart, first, last);
      result += count;
    });
  }

  void fold_columns(const T* x, int64_t first, int64_t last, int64_t width, T* result) const {
    std::fill_n(result, width, folds_.start);
    walk(elements(), first, last, [&](const auto& at, int64_t n) {
      folds_.columns(width, x + at[0], inner_strides(elements())[0], n, result);
    });
  }

  // The fold of elements [first, last) behind one output.
  T fold_one(const T* x, int64_t first, int64_t last) const {
    T result = folds_.start;
    if (layout_ == Layout::runs) {
      walk(elements(), first, last, [&](const auto& at, int64_t n) {
        T part;
        folds_.runs(1, x + at[0], 0, n, &part);
        folds_.columns(1, &part, 0, 1, &result);
      });
    } else {
      const int64_t step = inner_strides(elements())[0];
      T buffer[kBuffer];
      T* to = buffer;
      walk(elements(), first, last, [&](const auto& at, int64_t n) {
        for (int64_t i = 0; i < n; ++i) *to++ = x[at[0] + i * step];
      });
      folds_.runs(1, buffer, 0, last - first, &result);
    }
    return result;
  }

  // Folds the chunks' rows into the first, for outputs [begin, end).
  void fold_chunks(T* rows, int64_t begin, int64_t end) const {
    const int64_t step = outputs().numel;
    if (step == 1) return folds_.runs(1, rows, 0, chunks_, rows);
    for (int64_t reach = 1; reach < chunks_; reach *= 2)
      for (int64_t c = 0; c + reach < chunks_; c += 2 * reach)
        folds_.columns(end - begin, rows + (c + reach) * step + begin, 0, 1,
                       rows + c * step + begin);
  }

  const Folds<T>& folds_;
  const T* x_;
  ReductionWalks walks_;
  Layout layout_;
  int64_t chunk_, chunks_;  // elements of a chunk, and how many chunks there are
};

}  // namespace

void CpuBackend::reduce(ReduceOp op, const Tensor& x, const Tensor& out) {
  const auto run = [&]<class T>(TypeTag<T>) {
    const Folds<T>& folds = fold_table<T>(instruction_set()).folds[static_cast<int>(op)];
    Reduction<T>(folds, x, out).run(out);
  };
  if (op == ReduceOp::mean)
    visit_floating(name_of(op), x.dtype(), run);
  else
    visit_numbers(name_of(op), x.dtype(), run);
}

}  // namespace gradus::cpu
