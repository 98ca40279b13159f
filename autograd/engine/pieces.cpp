// Where large gradients are cut, and the product that computes one piece after the other.
#include "gradus/autograd/engine/pieces.h"

#include <algorithm>

#include "gradus/autograd/engine/graph_task.h"
#include "gradus/autograd/engine/meta.h"
#include "gradus/cuda/runtime/piece_streams.h"
#include "gradus/tensor/meta.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd {

PieceSizes piece_sizes;

int64_t rows_of_piece(IntArrayRef sizes, size_t itemsize) {
  const int64_t rows = sizes.empty() ? 1 : sizes[0];
  const int64_t bytes = numel_of(sizes) * static_cast<int64_t>(itemsize);
  if (static_cast<size_t>(bytes) <= piece_sizes.least_bytes) return rows;
  const int64_t fitting = piece_sizes.bytes / (bytes / rows) / piece_sizes.rows * piece_sizes.rows;
  return std::min(rows, std::max(fitting, piece_sizes.rows));
}

std::vector<int64_t> piece_ends(const Tensor& x) {
  std::vector<int64_t> ends;
  const int64_t rows = rows_of_piece(x.sizes(), x.itemsize());
  const int64_t piece = x.dim() == 0 || rows == 0 ? x.numel() : x.numel() / x.size(0) * rows;
  for (int64_t end = piece; end < x.numel(); end += piece) ends.push_back(end);
  ends.push_back(x.numel());
  return ends;
}

namespace {
// Where the gradient goes; null where something else arrives there than what the sender computes.
AccumulateGrad* leaf_of(const Node& sender, size_t index, IntArrayRef sizes, const Tensor& like) {
  if (!enters_alone(sender, index)) return nullptr;
  const Edge& edge = sender.next_edge(index);
  const Node::Meta& meta = edge.function->meta(edge.input_nr);
  const bool fits = sizes == IntArrayRef(meta.sizes) && like.scalar_type() == meta.dtype &&
                    like.device() == meta.device;
  return fits ? dynamic_cast<AccumulateGrad*>(edge.function.get()) : nullptr;
}
}  // namespace

std::pair<Tensor, Tensor> product_in_pieces(const Node& sender, size_t index, const Tensor& a,
                                            const Tensor& b, bool wants_sums) {
  const int64_t m = a.size(0), n = b.size(1);
  const bool of_halves = a.dtype() == kHalf || a.dtype() == kBFloat16;
  if (of_halves && acting_device(a) == kCUDA && a.numel() > 0 && n > 0) {
    // Gradients of Float parameters under autocast need no conversion then.
    const bool wide = may_be_wide(sender, index) && (!wants_sums || may_be_wide(sender, index + 1));
    const ScalarType dtype = wide ? kFloat : a.scalar_type();
    const Tensor out = raw::empty({m, n}, dtype, a.device()),
                 sums = wants_sums ? raw::empty({m}, dtype, a.device()) : Tensor();
    return raw::matmul_into(a, b, out, sums), std::pair(out, sums);
  }
  if (a.dtype() != kFloat && a.dtype() != kDouble)
    return {raw::matmul(a, b), wants_sums ? a.sum(1) : Tensor()};
  AccumulateGrad* const leaf = leaf_of(sender, index, {m, n}, a);
  PostAccumulateGradHook* const hook = leaf ? leaf->sole_hook() : nullptr;
  Tensor out = hook ? hook->memory() : Tensor();
  if (!out.defined()) out = raw::empty({m, n}, a.dtype(), a.device());
  if (hook) leaf->take_next(out);
  const Tensor sums = wants_sums ? raw::empty({m}, a.dtype(), a.device()) : Tensor();
  const int64_t rows = rows_of_piece({m, n}, a.itemsize());
  if (rows == m || b.size(0) < piece_sizes.terms)
    return raw::matmul_into(a, b, out, sums), std::pair(out, sums);
  // A piece may be one block for each multiprocessor, of which some are late or busy for others: by
  // two streams the next piece fills the gaps.
  cuda::PieceStreams streams(a.device());
  for (int64_t begin = 0; begin < m; begin += rows) {
    const int64_t count = std::min(rows, m - begin);
    streams.run([&] {
      raw::matmul_into(raw::narrow(a, 0, begin, count), b, raw::narrow(out, 0, begin, count),
                       sums.defined() ? raw::narrow(sums, 0, begin, count) : sums);
    });
    if (hook) hook->rows_computed(out, begin + count);
  }
  return {out, sums};
}

}  // namespace gradus::autograd
