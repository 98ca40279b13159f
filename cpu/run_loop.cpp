#include "gradus/cpu/run_loop.h"

#include <cstring>

#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"

namespace gradus::cpu {

namespace {

// What does not lie one after the other passes through buffers of so many elements.
constexpr int64_t kBlock = 512;
// The most elements of one call of a loop: a loop that reads its input twice finds it in the cache.
constexpr int64_t kPiece = 4096;
// Runs of the innermost dimension that are shorter than this are collected into blocks.
constexpr int64_t kLongRun = 64;

constexpr int64_t kZeros[kMaxDims] = {};

template <class T>
void copy_elements(int64_t n, std::byte* to, int64_t to_step, const std::byte* from,
                   int64_t from_step) {
  T* const out = reinterpret_cast<T*>(to);
  const T* const in = reinterpret_cast<const T*>(from);
  if (to_step == 1 && from_step == 1)
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  else if (to_step == 1 && from_step == 0)
    std::fill_n(out, n, *in);
  else
    for (int64_t i = 0; i < n; ++i) out[i * to_step] = in[i * from_step];
}
void copy_elements(size_t size, int64_t n, std::byte* to, int64_t to_step, const std::byte* from,
                   int64_t from_step) {
  if (size == 1) return copy_elements<uint8_t>(n, to, to_step, from, from_step);
  if (size == 4) return copy_elements<uint32_t>(n, to, to_step, from, from_step);
  return copy_elements<uint64_t>(n, to, to_step, from, from_step);
}

// One thread's part of a call.
template <int N>
class Runner {
 public:
  using Steps = std::array<int64_t, N>;

  Runner(Loop loop, const std::array<Stream, N>& streams, const Steps& steps)
      : loop_(loop), streams_(streams), steps_(steps) {}

  // `count` elements that are steps apart, from offsets `at` on.
  void run(const Steps& at, int64_t count) {
    const bool direct = std::all_of(steps_.begin(), steps_.end(), [](int64_t s) { return s == 1; });
    const int64_t block = direct ? kPiece : kBlock;
    for (int64_t done = 0; done < count; done += block) {
      const int64_t n = std::min(block, count - done);
      const auto start = [&](int i) { return streams_[i].at(at[i] + done * steps_[i]); };
      void* places[N];
      for (int i = 0; i < N; ++i) {
        places[i] = steps_[i] == 1 ? start(i) : buffers_[i];
        const bool stays = steps_[i] == 0 && done > 0;  // in the buffer since the first block
        if (i > 0 && steps_[i] != 1 && !stays)
          copy_elements(streams_[i].size, n, buffers_[i], 1, start(i), steps_[i]);
      }
      loop_(n, places[0], places + 1);
      if (steps_[0] != 1) copy_elements(streams_[0].size, n, start(0), steps_[0], buffers_[0], 1);
    }
  }

  // Elements [begin, end) of a walk, in blocks across its innermost runs.
  void collect(const Strided<N>& view, int64_t begin, int64_t end) {
    void* places[N];
    bool direct[N], repeats[N];
    for (int i = 0; i < N; ++i) {
      direct[i] = in_order(view, i);
      repeats[i] = i > 0 && !direct[i] && is_one_run(view, i);
      places[i] = buffers_[i];
    }
    const auto buffer = [&](int i, int64_t done) {
      return buffers_[i] + done * static_cast<int64_t>(streams_[i].size);
    };
    // Of whole runs: so what is the same in all runs stays in its buffer.
    const int64_t run = view.dims > 0 ? view.size[view.dims - 1] : 1, block = kBlock / run * run;
    bool copied[N] = {}, copies = false;
    for (int i = 1; i < N; ++i) {
      copied[i] = !direct[i] && !repeats[i];
      copies = copies || copied[i];
      if (repeats[i]) repeat(i, run, begin == 0 ? 0 : begin % run, std::min(block, end - begin));
    }
    for (int64_t first = begin; first < end; first += block) {
      const int64_t last = std::min(first + block, end);
      for (int i = 0; i < N; ++i)
        if (direct[i]) places[i] = streams_[i].at(first);
      int64_t done = 0;
      if (copies)
        walk(view, first, last, [&](const Steps& at, int64_t n) {
          for (int i = 1; i < N; ++i)
            if (copied[i])
              copy_elements(streams_[i].size, n, buffer(i, done), 1, streams_[i].at(at[i]),
                            steps_[i]);
          done += n;
        });
      loop_(last - first, places[0], places + 1);
      if (direct[0]) continue;
      done = 0;
      walk(view, first, last, [&](const Steps& at, int64_t n) {
        copy_elements(streams_[0].size, n, streams_[0].at(at[0]), steps_[0], buffer(0, done), 1);
        done += n;
      });
    }
  }

 private:
  // Whether a tensor lies in memory in the order of the walk, without gaps.
  static bool in_order(const Strided<N>& view, int i) {
    int64_t stride = 1;
    for (int d = view.dims; d-- > 0; stride *= view.size[d])
      if (view.stride[i][d] != stride) return false;
    return true;
  }
  // Whether every run of the innermost dimension reads the same elements.
  static bool is_one_run(const Strided<N>& view, int i) {
    for (int d = 0; d + 1 < view.dims; ++d)
      if (view.stride[i][d] != 0) return false;
    return true;
  }

  // Fills buffer i with a run of `length` elements again and again, from its element `start` on.
  void repeat(int i, int64_t length, int64_t start, int64_t count) {
    const auto size = static_cast<int64_t>(streams_[i].size);
    std::byte* const to = buffers_[i];
    const int64_t head = std::min(length - start, count), both = std::min(length, count);
    copy_elements(streams_[i].size, head, to, 1, streams_[i].at(start * steps_[i]), steps_[i]);
    copy_elements(streams_[i].size, both - head, to + head * size, 1, streams_[i].at(0), steps_[i]);
    for (int64_t done = both; done < count;) {
      const int64_t more = std::min(done, count - done);
      std::memcpy(to + done * size, to, static_cast<size_t>(more * size));
      done += more;
    }
  }

  Loop loop_;
  const std::array<Stream, N>& streams_;
  Steps steps_;
  alignas(64) std::byte buffers_[N][kBlock * sizeof(double)];
};

}  // namespace

Stream Stream::of(const Tensor& x) {
  return {static_cast<std::byte*>(x.data_ptr()), x.itemsize(), x.is_contiguous(), 1,
          x.strides().data()};
}
Stream Stream::of_number(const void* number, size_t size) {
  return {static_cast<std::byte*>(const_cast<void*>(number)), size, true, 0, kZeros};
}

template <int N>
void run_loop(Loop loop, int64_t grain, IntArrayRef sizes, const std::array<Stream, N>& streams) {
  std::array<int64_t, N> steps;
  if (std::all_of(streams.begin(), streams.end(), [](const Stream& s) { return s.contiguous; })) {
    int64_t numel = 1;
    for (const int64_t size : sizes) numel *= size;
    for (int i = 0; i < N; ++i) steps[i] = streams[i].step;
    return parallel_for(0, numel, share_of(numel, grain), [&](int64_t begin, int64_t end) {
      std::array<int64_t, N> at;
      for (int i = 0; i < N; ++i) at[i] = begin * steps[i];
      Runner<N>(loop, streams, steps).run(at, end - begin);
    });
  }
  std::array<IntArrayRef, N> strides;
  for (int i = 0; i < N; ++i) strides[i] = {streams[i].strides, sizes.size()};
  const Strided<N> view = collapse<N>(sizes, strides);
  steps = inner_strides(view);
  const bool long_runs = view.dims > 0 && view.size[view.dims - 1] >= kLongRun;
  parallel_for(0, view.numel, share_of(view.numel, grain), [&](int64_t begin, int64_t end) {
    Runner<N> runner(loop, streams, steps);
    if (long_runs)
      return walk(view, begin, end, [&](const auto& at, int64_t count) { runner.run(at, count); });
    runner.collect(view, begin, end);
  });
}

template void run_loop<2>(Loop, int64_t, IntArrayRef, const std::array<Stream, 2>&);
template void run_loop<3>(Loop, int64_t, IntArrayRef, const std::array<Stream, 3>&);
template void run_loop<4>(Loop, int64_t, IntArrayRef, const std::array<Stream, 4>&);

}  // namespace gradus::cpu
