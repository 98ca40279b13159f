#include "gradus/cpu/run_loop.h"

#include <cstring>

#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"
#include "gradus/tensor/dispatch.h"

namespace gradus::cpu {

namespace {

// What does not lie one after the other, or is of another type than the loop's, passes through
// buffers of so many elements.
constexpr int64_t kBlock = 512;
// The most elements of one call of a loop: a loop that reads its input twice finds it in the cache.
constexpr int64_t kPiece = 4096;
// Runs of the innermost dimension that are shorter than this are collected into blocks.
constexpr int64_t kLongRun = 64;

constexpr int64_t kZeros[kMaxDims] = {};

template <class T>
void copy_apart(int64_t n, std::byte* to, int64_t to_step, const std::byte* from,
                int64_t from_step) {
  T* const out = reinterpret_cast<T*>(to);
  const T* const in = reinterpret_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i) out[i * to_step] = in[i * from_step];
}
void copy_elements(size_t size, int64_t n, std::byte* to, int64_t to_step, const std::byte* from,
                   int64_t from_step) {
  if (to_step == 1 && from_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(n) * size);
    return;
  }
  if (to_step == 1 && from_step == 0) {
    const void* const in[] = {from};
    return repeat_loop(size)(n, to, in);
  }
  visit_bits(size, [&]<class T>(TypeTag<T>) { copy_apart<T>(n, to, to_step, from, from_step); });
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
    bool direct[N], all_direct = true;
    for (int i = 0; i < N; ++i) {
      direct[i] = steps_[i] == 1 && !streams_[i].convert;
      all_direct = all_direct && direct[i];
    }
    const int64_t block = all_direct ? kPiece : kBlock;
    for (int64_t done = 0; done < count; done += block) {
      const int64_t n = std::min(block, count - done);
      const auto start = [&](int i) { return streams_[i].at(at[i] + done * steps_[i]); };
      void* places[N];
      for (int i = 0; i < N; ++i) {
        places[i] = direct[i] ? start(i) : buffers_[i];
        const bool stays = steps_[i] == 0 && done > 0;  // in the buffer since the first block
        if (i > 0 && !direct[i] && !stays) load(i, n, buffers_[i], start(i));
      }
      loop_(n, places[0], places + 1);
      if (!direct[0]) store(n, start(0), buffers_[0]);
    }
  }

  // Elements [begin, end) of a walk, in blocks across its innermost runs.
  void collect(const Strided<N>& view, int64_t begin, int64_t end) {
    void* places[N];
    bool direct[N], repeats[N];
    for (int i = 0; i < N; ++i) {
      direct[i] = in_order(view, i) && !streams_[i].convert;
      repeats[i] = i > 0 && !direct[i] && is_one_run(view, i);
      places[i] = buffers_[i];
    }
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
            if (copied[i]) load(i, n, buffer(i, done), streams_[i].at(at[i]));
          done += n;
        });
      loop_(last - first, places[0], places + 1);
      if (direct[0]) continue;
      done = 0;
      walk(view, first, last, [&](const Steps& at, int64_t n) {
        store(n, streams_[0].at(at[0]), buffer(0, done));
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

  std::byte* buffer(int i, int64_t element) {
    return buffers_[i] + element * static_cast<int64_t>(streams_[i].loop_size);
  }

  // n elements of input i to a buffer, in the type of the loop.
  void load(int i, int64_t n, std::byte* to, const std::byte* from) {
    const Stream& input = streams_[i];
    if (!input.convert) return copy_elements(input.size, n, to, 1, from, steps_[i]);
    if (steps_[i] != 1) {
      copy_elements(input.size, n, stage_, 1, from, steps_[i]);
      from = stage_;
    }
    const void* const in[] = {from};
    input.convert(n, to, in);
  }
  // n elements of the output from a buffer.
  void store(int64_t n, std::byte* to, const std::byte* from) {
    const Stream& output = streams_[0];
    if (!output.convert) return copy_elements(output.size, n, to, steps_[0], from, 1);
    const void* const in[] = {from};
    output.convert(n, steps_[0] == 1 ? to : stage_, in);
    if (steps_[0] != 1) copy_elements(output.size, n, to, steps_[0], stage_, 1);
  }

  // Fills buffer i with a run of `length` elements again and again, from its element `start` on.
  void repeat(int i, int64_t length, int64_t start, int64_t count) {
    const int64_t head = std::min(length - start, count), both = std::min(length, count);
    load(i, head, buffer(i, 0), streams_[i].at(start * steps_[i]));
    load(i, both - head, buffer(i, head), streams_[i].at(0));
    for (int64_t done = both; done < count;) {
      const int64_t more = std::min(done, count - done);
      std::memcpy(buffer(i, done), buffer(i, 0), static_cast<size_t>(more) * streams_[i].loop_size);
      done += more;
    }
  }

  Loop loop_;
  const std::array<Stream, N>& streams_;
  Steps steps_;
  alignas(64) std::byte buffers_[N][kBlock * sizeof(double)];
  alignas(64) std::byte stage_[kBlock * sizeof(double)];  // what is yet to be spread or converted
};

}  // namespace

namespace {
Stream stream_of(const Tensor& x, ScalarType dtype) {
  return {static_cast<std::byte*>(x.data_ptr()),
          x.itemsize(),
          element_size(dtype),
          x.is_contiguous(),
          1,
          x.strides().data()};
}
}  // namespace

Stream Stream::input(const Tensor& x, ScalarType dtype) {
  Stream out = stream_of(x, dtype);
  if (x.scalar_type() != dtype) out.convert = convert_loop(x.scalar_type(), dtype);
  return out;
}
Stream Stream::output(const Tensor& x, ScalarType dtype) {
  Stream out = stream_of(x, dtype);
  if (x.scalar_type() != dtype) out.convert = convert_loop(dtype, x.scalar_type());
  return out;
}
Stream Stream::of_number(const void* number, size_t size) {
  return {static_cast<std::byte*>(const_cast<void*>(number)), size, size, true, 0, kZeros};
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
