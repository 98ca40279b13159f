// Module 1: operations on tensors and matrices, on the CPU.
#pragma once

#include <functional>

#include "core/cache.h"
#include "core/types.h"

namespace course::cpu {

// Operands of map and zip have the rank of out. In each dimension an operand has the size of out, or
// size 1: then its one element there is used for every index, whatever its stride. Strides may be 0,
// and need not be those of a contiguous tensor. Only the elements of out are written. out may be an operand of the
// same layout; otherwise memory does not overlap.

// Task 1.1. out = op(x), element by element.
void map(Op1 op, float* out, const Layout& out_layout, const float* x, const Layout& x_layout);

// Task 1.2. out = op(x, y), element by element.
void zip(Op2 op, float* out, const Layout& out_layout, const float* x, const Layout& x_layout, const float* y,
         const Layout& y_layout);

// Task 1.3. Along dimension dim: out = op(...op(op(start, x_0), x_1)..., x_last), in this order. out has
// the rank and sizes of x, but size 1 in dimension dim. What out held before does not count.
void reduce(Op2 op, float start, float* out, const Layout& out_layout, const float* x, const Layout& x_layout,
            int dim);

// Task 1.4. out = a b, with a (m, k) and b (k, n) of any strides; out is (m, n), contiguous and row-major.
void matmul(float* out, const Mat& a, const Mat& b, int m, int n, int k);

// Splits 0 ... n - 1 into chunks, one for each thread, and calls body(begin, end) for each chunk, at the same
// time and in any order. Returns when all have ended. How many chunks there are depends on the machine.
void parallel_for(long n, const std::function<void(long begin, long end)>& body);

// Task 1.5. start and x[0] ... x[n - 1] combined by op, which is add, mul or maximum. Works in chunks of
// parallel_for, without races, and gives the same bits for every number of chunks.
constexpr long kPart = 256;  // elements of a part of x: enough to be worth a call
float reduce_parallel(Op2 op, float start, const float* x, long n);

// Task 1.6. out = a b, all contiguous and row-major, by blocks that stay in the cache. Where kBlock divides m, n
// and k there are at most 2 m n k / (16 kBlock) + 2 m n / 16 cache misses, of them 2 m n / 16 of out.
constexpr int kBlock = 32;
void matmul_blocked(float* out, const float* a, const float* b, int m, int n, int k);
void matmul_blocked(Cached<float> out, Cached<const float> a, Cached<const float> b, int m, int n, int k);

}  // namespace course::cpu
