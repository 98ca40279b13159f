// Starts the kernel of a product: for all terms at once, or for parts of them and for their sum.
#pragma once

#include <algorithm>

#include "gradus/cuda/ops/matmul/kernel.h"
#include "gradus/cuda/ops/matmul/sum_parts.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/launch.h"

namespace gradus::cuda {

template <class T>
int64_t tiles(const MatmulKernel<T>& kernel, const MatmulArgs<T>& args) {
  return ceil_div<int64_t>(args.m, kernel.rows) * ceil_div<int64_t>(args.n, kernel.cols);
}

template <class T>
void run(const MatmulKernel<T>& kernel, MatmulArgs<T> args, int64_t batches) {
  constexpr int64_t kMostBatches = 65535;  // of one grid
  const auto blocks = static_cast<unsigned>(tiles(kernel, args));
  for (; batches > 0; batches -= kMostBatches) {
    const int64_t count = std::min(batches, kMostBatches);
    const dim3 grid(blocks, 1, static_cast<unsigned>(count));
    launch_pdl(kernel.run(args),
               {grid, unsigned(kernel.threads), static_cast<size_t>(kernel.shared_bytes)}, args);
    args.a.data += count * args.a.batch;
    args.b.data += count * args.b.batch;
    args.out += count * args.m * args.n;
  }
}

inline constexpr int64_t kPartAlignment = 4;  // parts begin where 16-byte reads may

// Cuts the terms into `parts`: makes a batch of shorter products, and then their sum.
template <class T>
void run_split_k(const MatmulKernel<T>& kernel, const MatmulArgs<T>& args, int64_t parts) {
  const int64_t part = args.k / parts / kPartAlignment * kPartAlignment;
  const int64_t rest = args.k - parts * part;
  const int64_t count = parts + (rest > 0);
  const Scratch partial(static_cast<size_t>(count * args.m * args.n) * sizeof(T));

  MatmulArgs<T> piece = args;
  piece.bias = nullptr;
  piece.out = partial.template as<T>();
  piece.k = part;
  piece.a.batch = part * args.a.depth;
  piece.b.batch = part * args.b.depth;
  run(kernel, piece, parts);
  if (rest > 0) {
    piece.a.data += parts * piece.a.batch;
    piece.b.data += parts * piece.b.batch;
    piece.out += parts * args.m * args.n;
    piece.k = rest;
    run(kernel, piece, 1);
  }
  sum_parts(static_cast<const T*>(partial.template as<T>()), count, args);
}

// The same for many batches, by a launch for each part.
template <class T>
void run_split_batches(const MatmulKernel<T>& kernel, MatmulArgs<T> args, int64_t batches,
                       int64_t parts) {
  const int64_t part = args.k / parts / kPartAlignment * kPartAlignment;
  const int64_t count = parts + (args.k > parts * part), outputs = batches * args.m * args.n;
  const Scratch partial(static_cast<size_t>(count * outputs) * sizeof(T));
  MatmulArgs<T> piece = args;
  piece.bias = nullptr;
  for (int64_t p = 0; p < count; ++p) {
    piece.out = partial.template as<T>() + p * outputs;
    piece.k = p < parts ? part : args.k - p * part;
    run(kernel, piece, batches);
    piece.a.data += part * args.a.depth, piece.b.data += part * args.b.depth;
  }
  args.m *= batches;
  sum_parts(static_cast<const T*>(partial.template as<T>()), count, args);
}

// The same for any number of batches and rows: as many at a time as memory for parts is worth.
template <class T>
void run_in_parts(const MatmulKernel<T>& kernel, MatmulArgs<T> args, int64_t batches,
                  int64_t parts) {
  constexpr int64_t kMostPartials = 1 << 24, kLeastRows = 256;
  const int64_t of_batch = parts * args.m * args.n, together = kMostPartials / of_batch;
  const auto skip = [&](int64_t count) {
    args.a.data += count * args.a.batch, args.b.data += count * args.b.batch;
    args.out += count * args.m * args.n, batches -= count;
  };
  while (batches > parts && together > parts) {
    const int64_t count = std::min(batches, together);
    run_split_batches(kernel, args, count, parts);
    skip(count);
  }
  const int64_t rows = std::max(kLeastRows, kMostPartials / (parts * args.n));
  for (; batches > 0; skip(1)) {
    MatmulArgs<T> some = args;
    for (int64_t left = args.m; left > 0; left -= rows) {
      some.m = std::min(left, rows);
      run_split_k(kernel, some, parts);
      some.a.data += rows * args.a.outer, some.out += rows * args.n;
    }
  }
}

}  // namespace gradus::cuda
