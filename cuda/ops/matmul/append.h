// Products of few rows in a graph, whose kernels also compute the function behind them.
//
// Idea. A model that generates starts over a hundred kernels for a token, which take a microsecond
// or two each. While a stream is captured nothing runs yet, so a captured kernel can still be
// changed: its product is stored as before, and a function of it beside it. Both have the same bits
// as those of two kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/base/index_rule.h"
#include "gradus/tensor/table/choices.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Notes a product out (1, M, N) of one half type that this thread has launched, where the current
// stream is captured. The kernel's parameters are `args` and a RowsEpilogueArgs; it reads `reads`.
void note_captured(const void* kernel, const LaunchConfig& config, std::span<const std::byte> args,
                   std::initializer_list<Tensor> reads, const Tensor& out);

// out = op(x), out = op(x, y), and src put to the place of out that the single number of index
// says. They return false and do nothing where this needs a kernel of its own. The noted product
// must be the last work of the current stream and have no epilogue. Its result must be x, y, or
// hold src in all rows. Its operands must not lie in the memory of out.
// REQUIRES: as for map, zip and scatter of the backend.
bool append_map(UnaryOp op, const Tensor& x, const Tensor& out);
bool append_zip(BinaryOp op, const Tensor& x, const Tensor& y, const Tensor& out);
bool append_put(const IndexRule& rule, int64_t dim, const Tensor& index, const Tensor& src,
                const Tensor& out);

}  // namespace gradus::cuda
