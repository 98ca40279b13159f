// Large gradients in pieces, of which a hook can send the first away while the others are computed.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus {
class Node;
}

namespace gradus::autograd {

// The sizes that decide which gradients are cut, and where. Tests set it, while no backward pass
// runs.
struct PieceSizes {
  size_t least_bytes = size_t{32} << 20;  // larger ones are cut
  // The size of a piece. Small pieces make the last transfer short, which no computation hides;
  // each piece costs a call. Measured on two H200: an all_reduce moves 16 MiB at 210 GB/s, 32 MiB
  // at 234, 64 MiB at 265 and 512 MiB at 314. Steps with pieces of 32 and 64 MiB were shorter than
  // with 8 and 16.
  int64_t bytes = int64_t{32} << 20;
  int64_t rows = 256;  // a multiple of these, which fill the blocks of a product
  int64_t terms = 64;  // a product of fewer terms is not cut: its launches would take longer
};
extern PieceSizes piece_sizes;

// Where the pieces of a gradient of x's shape and dtype end, in elements. The ends depend on shape
// and dtype alone, so all ranks cut alike.
std::vector<int64_t> piece_ends(const Tensor& x);
// How many rows a piece has; all of them where the gradient stays whole.
int64_t rows_of_piece(IntArrayRef sizes, size_t itemsize);

// The product of two matrices, which is the gradient number `index` of the running node `sender`.
// Where they are wanted, the sums of a's rows are the gradient after it. A large product is computed
// some rows after the other, of which a hook of the leaf it goes to is told (hooks.h). The cuts
// depend on the shapes alone, so the product has the same bits with and without a hook.
std::pair<Tensor, Tensor> product_in_pieces(const Node& sender, size_t index, const Tensor& a,
                                            const Tensor& b, bool wants_sums);

}  // namespace gradus::autograd
