// Products of few rows in a graph, whose kernels also do what stands before and behind them.
//
// Idea. A model that generates starts over a hundred kernels for a token, which take a microsecond
// or two each. While a stream is captured nothing runs yet, so a captured kernel can still be
// changed. A product computes a function of its results beside them. A layer norm of one row
// becomes the product behind it, which stores the row, too. All results have the bits that they
// have without a graph.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "gradus/cuda/kernels/decoding/merged.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/base/index_rule.h"
#include "gradus/tensor/table/choices.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Notes a layer norm of one row of a half type that this thread has launched, where the current
// stream is captured.
void note_norm(const NormalizedRowArgs& args, const Tensor& x, const Tensor& weight,
               const Tensor& bias, const Tensor& mean, const Tensor& rstd, const Tensor& out);

// A product out (1, M, N) = a * b + bias of one half type. The kernel's parameters are `args`, a
// RowsEpilogueArgs and, if it normalises, a NormalizedRowArgs.
struct ProductOfRows {
  const void* kernel;
  const LaunchConfig& config;
  std::span<const std::byte> args;
  const Tensor &a, &b, &bias, &out;
};
// Notes one that this thread has launched, where the current stream is captured.
void note_product(const ProductOfRows& product);
// Makes one of the layer norm that gave a, with a kernel that normalises, and notes it. Returns
// false and does nothing, unless that norm is the last work of the current stream.
bool merge_norm(const ProductOfRows& product);

// out = op(x), out = op(x, y), and src put to the place of out that the single number of index
// says. They return false and do nothing where this needs a kernel of its own. The noted product
// must be the last work of the current stream and have no epilogue. Its result must be x, y, or
// hold src in all rows. Its operands must not lie in the memory of out.
// REQUIRES: as for map, zip and scatter of the backend.
bool merge_map(UnaryOp op, const Tensor& x, const Tensor& out);
bool merge_zip(BinaryOp op, const Tensor& x, const Tensor& y, const Tensor& out);
bool merge_put(const IndexRule& rule, int64_t dim, const Tensor& index, const Tensor& src,
               const Tensor& out);

}  // namespace gradus::cuda
