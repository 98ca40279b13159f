// Brings operands of any layout to the loops; plain.h is the same in a few lines.
#include "gradus/cpu/walk/run_loop.h"

#include <cstring>

#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk/load.h"
#include "gradus/cpu/walk/transpose.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// Operands whose elements do not lie one after the other, or whose type is not the loop's, pass
// through buffers of so many bytes.
constexpr size_t kBuffer = 8192;
// The fewest elements of such a block, if there are more.
constexpr int64_t kLeastBlock = 512;
// The most elements of one call of a loop: a loop that reads its input twice finds it in the cache.
constexpr int64_t kPiece = 4096;
// Runs of the innermost dimension that are shorter than this are collected into blocks.
constexpr int64_t kLongRun = 64;
// Rows that are computed at a time where columns are read: a cache line of each.
constexpr int64_t kRows = 16;

constexpr int64_t kZeros[kMaxDims] = {};

// Whether a tensor lies in memory in the order of the walk, without gaps.
template <int N>
bool in_order(const Strided<N>& view, int i) {
  int64_t stride = 1;
  for (int d = view.dims; d-- > 0; stride *= view.size[d])
    if (view.stride[i][d] != stride) return false;
  return true;
}
// Whether every run of the innermost dimension reads the same elements.
template <int N>
bool is_one_run(const Strided<N>& view, int i) {
  for (int d = 0; d + 1 < view.dims; ++d)
    if (view.stride[i][d] != 0) return false;
  return true;
}
// Whether the last two dimensions are those of a matrix whose columns lie in memory.
template <int N>
bool is_transposed(const Strided<N>& view, const LoopOperand& operand, int i) {
  const int last = view.dims - 1;
  return last > 0 && !operand.convert && view.stride[i][last] > 1 && view.stride[i][last - 1] == 1;
}

// One thread's part of a call.
template <int N>
class Runner {
 public:
  using Steps = std::array<int64_t, N>;

  Runner(const TypedLoop& loop, const void* number, const std::array<LoopOperand, N>& operands,
         const Steps& steps)
      : loop_(loop.loop),
        run_loop_(loop.loop),
        number_(const_cast<void*>(number)),
        operands_(operands),
        steps_(steps) {
    size_t widest = 1;
    for (int i = 0; i < N; ++i) {
      const bool read_once = is_read_once(loop, i);
      if (read_once) run_loop_ = loop.of_number[i - 1];
      direct_[i] = (steps[i] == 1 || read_once) && !operands[i].convert;
      all_direct_ = all_direct_ && direct_[i];
      widest = std::max({widest, operands[i].size, operands[i].loop_size});
      if (steps[i] == 0) repeat_[i] = repeat_loop(operands[i].loop_size);
    }
    block_ = static_cast<int64_t>(kBuffer / widest);
  }

  // `count` elements that are steps apart, from offsets `at` on.
  void run(const Steps& at, int64_t count) {
    if (all_direct_ && count <= kPiece) return run_direct(at, count);
    // The fewer elements there are, the less of a number's buffer is filled for them.
    const int64_t least = std::min(kLeastBlock, block_);
    const int64_t block = all_direct_ ? kPiece : std::clamp(count / 64 * 16, least, block_);
    void* places[N + 1];
    places[N] = number_;
    for (int64_t done = 0; done < count; done += block) {
      const int64_t n = std::min(block, count - done);
      const auto start = [&](int i) { return operands_[i].at(at[i] + done * steps_[i]); };
      for (int i = 0; i < N; ++i) places[i] = place(i, n, start(i));
      run_loop_(n, places[0], places + 1);
      if (!direct_[0]) store(n, start(0), buffers_[0]);
    }
  }

  // Runs at most kRows rows of the matrices of a walk's last two dimensions, from offsets `at` on.
  void run_band(const Strided<N>& view, const Steps& at, int64_t rows) {
    const int row = view.dims - 2, column = row + 1;
    const int64_t width = block_ / kRows;
    bool transposed[N];
    for (int i = 0; i < N; ++i) transposed[i] = i > 0 && is_transposed(view, operands_[i], i);
    void* places[N + 1];
    places[N] = number_;
    for (int64_t first = 0; first < view.size[column]; first += width) {
      const int64_t n = std::min(width, view.size[column] - first);
      const auto start = [&](int i, int64_t r) {
        return operands_[i].at(at[i] + r * view.stride[i][row] + first * steps_[i]);
      };
      for (int i = 1; i < N; ++i)
        if (transposed[i])
          visit_real_bits(operands_[i].size, [&]<class T>(TypeTag<T>) {
            transpose_band(rows, n, reinterpret_cast<T*>(buffers_[i]), width,
                           reinterpret_cast<const T*>(start(i, 0)), steps_[i]);
          });
      for (int64_t r = 0; r < rows; ++r) {
        for (int i = 0; i < N; ++i)
          places[i] = transposed[i] ? buffer(i, r * width) : place(i, n, start(i, r));
        run_loop_(n, places[0], places + 1);
        if (!direct_[0]) store(n, start(0, r), buffers_[0]);
      }
    }
  }

  // Elements [begin, end) of a walk, in blocks across its innermost runs.
  void collect(const Strided<N>& view, int64_t begin, int64_t end) {
    void* places[N + 1];
    places[N] = number_;
    bool direct[N], repeats[N];
    for (int i = 0; i < N; ++i) {
      direct[i] = in_order(view, i) && !operands_[i].convert;
      repeats[i] = i > 0 && !direct[i] && is_one_run(view, i);
      places[i] = buffers_[i];
    }
    // A block has whole runs, so that elements that all runs share stay in their buffer.
    const int64_t run = view.dims > 0 ? view.size[view.dims - 1] : 1, block = block_ / run * run;
    bool copied[N] = {}, copies = false;
    for (int i = 1; i < N; ++i) {
      copied[i] = !direct[i] && !repeats[i];
      copies = copies || copied[i];
      if (repeats[i])
        repeat_run(i, run, begin == 0 ? 0 : begin % run, std::min(block, end - begin));
    }
    for (int64_t first = begin; first < end; first += block) {
      const int64_t last = std::min(first + block, end);
      for (int i = 0; i < N; ++i)
        if (direct[i]) places[i] = operands_[i].at(first);
      int64_t done = 0;
      if (copies)
        walk(view, first, last, [&](const Steps& at, int64_t n) {
          for (int i = 1; i < N; ++i)
            if (copied[i]) fetch(i, n, operands_[i].at(at[i]), buffer(i, done));
          done += n;
        });
      loop_(last - first, places[0], places + 1);
      if (direct[0]) continue;
      done = 0;
      walk(view, first, last, [&](const Steps& at, int64_t n) {
        store(n, operands_[0].at(at[0]), buffer(0, done));
        done += n;
      });
    }
  }

 private:
  // Whether a run reads one number of input i, for which the loop has a form, and of no other.
  bool is_read_once([[maybe_unused]] const TypedLoop& loop, [[maybe_unused]] int i) const {
    if constexpr (N == 3) {  // an output and two inputs
      const int other = i == 1 ? 2 : 1;
      return i > 0 && steps_[i] == 0 && steps_[other] != 0 && loop.of_number[i - 1] != nullptr;
    }
    return false;
  }

  // A run that needs no buffer, of which there may be many.
  void run_direct(const Steps& at, int64_t count) {
    void* places[N + 1];
    for (int i = 0; i < N; ++i) places[i] = operands_[i].at(at[i]);
    places[N] = number_;
    run_loop_(count, places[0], places + 1);
  }

  std::byte* buffer(int i, int64_t element) {
    return buffers_[i] + element * static_cast<int64_t>(operands_[i].loop_size);
  }

  // Where the loop finds n elements of tensor i, or puts them. A number stays in its buffer.
  std::byte* place(int i, int64_t n, std::byte* start) {
    if (direct_[i]) return start;
    Held& held = held_[i];
    if (i > 0 && (held.from != start || held.count < n)) {
      fetch(i, n, start, buffers_[i]);
      if (steps_[i] == 0) held = {start, n};
    }
    return buffers_[i];
  }

  // n elements of input i, in the type of the loop.
  void fetch(int i, int64_t n, const std::byte* from, std::byte* to) {
    const LoopOperand& input = operands_[i];
    if (steps_[i] != 0) return load(input.size, input.convert, n, from, steps_[i], to);
    const void* in[] = {from};
    alignas(double) std::byte one[sizeof(double)];
    if (input.convert) {
      input.convert(1, one, in);
      in[0] = one;
    }
    repeat_[i](n, to, in);
  }
  // n elements of the output from a buffer.
  void store(int64_t n, std::byte* to, const std::byte* from) {
    const LoopOperand& output = operands_[0];
    if (output.convert) {
      const void* const in[] = {from};
      output.convert(n, steps_[0] == 1 ? to : stage_, in);
      from = stage_;
    }
    if (steps_[0] != 1)
      visit_real_bits(output.size, [&]<class T>(TypeTag<T>) {
        T* const out = reinterpret_cast<T*>(to);
        for (int64_t k = 0; k < n; ++k) out[k * steps_[0]] = reinterpret_cast<const T*>(from)[k];
      });
    else if (!output.convert)
      std::memcpy(to, from, static_cast<size_t>(n) * output.size);
  }

  // Fills buffer i with a run of `length` elements again and again, from its element `start` on.
  void repeat_run(int i, int64_t length, int64_t start, int64_t count) {
    const int64_t head = std::min(length - start, count), both = std::min(length, count);
    fetch(i, head, operands_[i].at(start * steps_[i]), buffer(i, 0));
    fetch(i, both - head, operands_[i].at(0), buffer(i, head));
    for (int64_t done = both; done < count;) {
      const int64_t more = std::min(done, count - done);
      std::memcpy(buffer(i, done), buffer(i, 0),
                  static_cast<size_t>(more) * operands_[i].loop_size);
      done += more;
    }
  }

  // The number that a buffer is full of.
  struct Held {
    const std::byte* from = nullptr;
    int64_t count = 0;
  };

  Loop loop_, run_loop_;  // of elements one after the other, and of those that are steps apart
  void* number_;
  const std::array<LoopOperand, N>& operands_;
  Steps steps_;
  Loop repeat_[N];  // of a number
  bool direct_[N], all_direct_ = true;
  int64_t block_;  // elements that fit the buffers
  Held held_[N];
  alignas(64) std::byte buffers_[N][kBuffer];
  alignas(64) std::byte stage_[kBuffer];  // what is yet to be spread
};

// Runs a loop over bands of rows of the matrices that a walk's last two dimensions are.
template <int N>
void run_bands(const TypedLoop& loop, const void* number, int64_t grain, const Strided<N>& view,
               const std::array<LoopOperand, N>& operands) {
  Strided<N> matrices = view;
  matrices.dims -= 2;
  const int row = matrices.dims;
  const int64_t rows = view.size[row], columns = view.size[row + 1], bands = divide_up(rows, kRows);
  const int64_t share = divide_up(share_of(view.numel, grain), kRows * columns);
  parallel_for(0, view.numel / (rows * columns) * bands, share, [&](int64_t begin, int64_t end) {
    Runner<N> runner(loop, number, operands, inner_strides(view));
    for (int64_t i = begin; i < end; ++i)
      walk(matrices, i / bands, i / bands + 1, [&](auto at, int64_t) {
        const int64_t first = i % bands * kRows;
        for (int k = 0; k < N; ++k) at[k] += first * view.stride[k][row];
        runner.run_band(view, at, std::min(kRows, rows - first));
      });
  });
}

}  // namespace

LoopOperand LoopOperand::of_number(const void* number, size_t size) {
  return {static_cast<std::byte*>(const_cast<void*>(number)), size, size, true, 0, kZeros};
}

template <int N>
void run_loop(const TypedLoop& loop, int64_t grain, IntArrayRef sizes,
              const std::array<LoopOperand, N>& operands, const void* number) {
  std::array<int64_t, N> steps;
  if (std::all_of(operands.begin(), operands.end(),
                  [](const LoopOperand& o) { return o.contiguous; })) {
    int64_t numel = 1;
    for (const int64_t size : sizes) numel *= size;
    for (int i = 0; i < N; ++i) steps[i] = operands[i].step;
    return parallel_for(0, numel, share_of(numel, grain), [&](int64_t begin, int64_t end) {
      std::array<int64_t, N> at;
      for (int i = 0; i < N; ++i) at[i] = begin * steps[i];
      Runner<N>(loop, number, operands, steps).run(at, end - begin);
    });
  }
  std::array<IntArrayRef, N> strides;
  for (int i = 0; i < N; ++i) strides[i] = {operands[i].strides, sizes.size()};
  const Strided<N> view = collapse<N>(sizes, strides);
  if (view.numel == 0) return;
  steps = inner_strides(view);
  const bool long_runs = view.dims > 0 && view.size[view.dims - 1] >= kLongRun;
  bool transposed = false;
  for (int i = 1; i < N; ++i) transposed = transposed || is_transposed(view, operands[i], i);
  if (long_runs && transposed) return run_bands<N>(loop, number, grain, view, operands);
  parallel_for(0, view.numel, share_of(view.numel, grain), [&](int64_t begin, int64_t end) {
    Runner<N> runner(loop, number, operands, steps);
    if (long_runs)
      return walk(view, begin, end, [&](const auto& at, int64_t count) { runner.run(at, count); });
    runner.collect(view, begin, end);
  });
}

template void run_loop<2>(const TypedLoop&, int64_t, IntArrayRef, const std::array<LoopOperand, 2>&,
                          const void*);
template void run_loop<3>(const TypedLoop&, int64_t, IntArrayRef, const std::array<LoopOperand, 3>&,
                          const void*);
template void run_loop<4>(const TypedLoop&, int64_t, IntArrayRef, const std::array<LoopOperand, 4>&,
                          const void*);

}  // namespace gradus::cpu
