// sum_parts: the second pass of a product whose terms were split over several blocks.
#pragma once

#include <type_traits>

#include "gradus/cuda/kernels/matmul/sum.cuh"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/launch.h"

namespace gradus::cuda {

// args.out, and args.row_sums, = the sum of parts that lie one after another (matmul_sum).
template <class T, class Out>
void sum_parts(const T* partial, int64_t parts, const MatmulArgs<T, Out>& args) {
  const int64_t products = args.m * args.n, outputs = products + (args.row_sums ? args.m : 0);
  const int lane_bits = sum_lane_bits(parts);
  const auto run = [&]<int V>(std::integral_constant<int, V>) {
    const int64_t blocks = ceil_div(outputs / V << lane_bits, int64_t{kReduceThreads});
    launch_pdl(matmul_sum<T, V, Out>, {dim3(static_cast<unsigned>(blocks)), kReduceThreads},
               partial, parts, lane_bits, args);
  };
  // Threads take vectors where as many blocks are left as a large GPU has multiprocessors.
  constexpr int kWide = vector_width<T>, kLeastBlocks = 128;
  const bool vectors = (outputs / kWide << lane_bits) >= kLeastBlocks * kReduceThreads &&
                       products % kWide == 0 && outputs % kWide == 0 &&
                       is_aligned<kWide>(partial) && is_aligned<kWide>(args.out) &&
                       is_aligned<kWide>(args.row_sums);
  if (vectors)
    run(std::integral_constant<int, kWide>());
  else
    run(std::integral_constant<int, 1>());
}

}  // namespace gradus::cuda
