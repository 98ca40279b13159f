// scatter where all lines have the same numbers, as in index_add and index_copy. Each number has
// its blocks. Where several numbers name one place, the blocks of the first of them put the
// elements of all, in the order of the index. Where elements are set, not added, the blocks of the
// last one do.
#pragma once

#include "gradus/cuda/kernels/lanes.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/scatter.cuh"

namespace gradus::cuda {

inline constexpr int kLongestList = 4096;
inline constexpr int kListBatch = 4;                         // lines at once
inline constexpr int kListTurn = kListBatch * kScanThreads;  // lines of a block at once
inline constexpr int kListShare = 4 * kListTurn;             // at most

// `parts` blocks for each number, of `share` lines. The walk is over the lines, in out, index and
// src. REQUIRES: line.length <= kLongestList.
template <ScatterOp op, class T>
__global__ void __launch_bounds__(kScanThreads, 4)
    scatter_list(Strided<3> lines, unsigned parts, int64_t share, IndexRule rule, Line line,
                 Fault* fault, T* out, const int64_t* __restrict__ index, const T* src) {
  wait_for_earlier_kernels();
  let_next_kernel_start_if_small();
  constexpr bool last_wins = op == ScatterOp::set;
  __shared__ unsigned wants[kLongestList / 32];  // a bit for each number that wants this place
  __shared__ uint16_t list[kLongestList];        // these numbers
  const int thread = static_cast<int>(threadIdx.x), length = static_cast<int>(line.length);
  const int mine = static_cast<int>(blockIdx.x / parts);
  const int64_t number = index[mine * line.index_step];
  if (!in_range(fault, rule, number)) return;
  const int64_t place = rule.place(number);
  bool others_work = false;
#pragma unroll 4
  for (int first = 0; first < length; first += kScanThreads) {
    const int i = first + thread;
    const bool same = i < length && rule.place(index[i * line.index_step]) == place;
    const unsigned bits = __ballot_sync(0xffffffffu, same);
    if (thread % 32 == 0 && i < length) wants[i / 32] = bits;
    others_work |= same && (last_wins ? i > mine : i < mine);
  }
  if (__syncthreads_or(others_work)) return;
  int count = 0;
  if constexpr (!last_wins) {
    static_assert(kLongestList <= 32 * kScanThreads, "a thread has a word of bits");
    unsigned bits = thread * 32 < length ? wants[thread] : 0;
    const auto words = scan_lanes(Counting{}, static_cast<unsigned>(__popc(bits)), kScanThreads);
    for (unsigned to = words.before; bits != 0; bits &= bits - 1)
      list[to++] = static_cast<uint16_t>(thread * 32 + __ffs(static_cast<int>(bits)) - 1);
    count = static_cast<int>(words.total);
    __syncthreads();
  }

  const int64_t begin = (blockIdx.x - mine * parts) * share;
  const int64_t end = ::min(begin + share, lines.numel);
  for (int64_t first = begin + thread; first < end; first += kListTurn) {
    Offsets<3, int64_t> at[kListBatch];
    T value[kListBatch];
#pragma unroll
    for (int b = 0; b < kListBatch; ++b) {
      if (first + b * kScanThreads >= end) break;
      at[b] = offsets_of(lines, first + b * kScanThreads);
      at[b].at[0] += place * line.jump;
      if (!last_wins) value[b] = out[at[b].at[0]];
    }
    const auto put = [&](int k) {
      const T* const from = src + k * line.src_step;
#pragma unroll
      for (int b = 0; b < kListBatch; ++b)
        if (first + b * kScanThreads < end) value[b] = put_to<op>(value[b], from[at[b].at[2]]);
    };
    if (last_wins) put(mine);
#pragma unroll 4
    for (int k = 0; k < count; ++k) put(list[k]);
#pragma unroll
    for (int b = 0; b < kListBatch; ++b)
      if (first + b * kScanThreads < end) out[at[b].at[0]] = value[b];
  }
}

}  // namespace gradus::cuda
