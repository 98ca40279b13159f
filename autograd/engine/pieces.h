// Large gradients in pieces: RowReceiver, to which several devices' code sends the first rows of a
// gradient while the others are computed, and the product that computes a gradient so.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus {
class Node;
}

namespace gradus::autograd {

// All that joins several devices asks of a backward pass. Node::row_receiver() gives it;
// nn/parallel and distributed/ddp implement it.
class RowReceiver {
 public:
  virtual ~RowReceiver() = default;
  // Where the gradient is to be computed: a tensor of its shape, dtype and device. Undefined:
  // anywhere.
  virtual Tensor memory() { return Tensor(); }
  // The first `end` rows of the gradient are computed when the current stream has done what is
  // queued on it so far. The gradient that enters the node later is this very tensor, so its rows
  // may be sent away, and even be changed.
  virtual void rows_ready(const Tensor& grad, int64_t end) = 0;
  // Whether it keeps this gradient, which it has given the memory of or has seen rows of: then
  // grad() becomes that memory.
  virtual bool holds(const Tensor&) const { return false; }
};

// Which gradients are cut, and where. Tests set it, while no backward pass runs.
struct PieceSizes {
  size_t least_bytes = size_t{32} << 20;  // larger ones are cut
  // Of a piece. Small pieces make the last transfer short, which no computation hides; each piece
  // costs a call. On two H200 an all_reduce moves 16 MiB at 210 GB/s, 32 MiB at 234, 64 MiB at 265,
  // 512 MiB at 314; of steps with pieces of 8 to 64 MiB those of 32 and 64 were shortest.
  int64_t bytes = int64_t{32} << 20;
  int64_t rows = 256;  // a multiple of these, which fill the blocks of a product
  int64_t terms = 64;  // a product of fewer terms is not cut: its launches would take longer
};
extern PieceSizes piece_sizes;

// Where the pieces of a gradient of x's shape and dtype end, in elements. It depends on these
// alone, so that all ranks cut alike.
std::vector<int64_t> piece_ends(const Tensor& x);
// How many rows a piece has; all of them where the gradient stays whole.
int64_t rows_of_piece(IntArrayRef sizes, size_t itemsize);

// a b of two matrices, which is the gradient number `index` of the running node `sender`; and the
// sums of a's rows, where they are wanted. A large one is computed some rows after the other, and
// its receiver, if any, is told of them. It is cut by the shapes alone, so that it has the same
// bits whether or not there is a receiver.
std::pair<Tensor, Tensor> product_in_pieces(const Node& sender, size_t index, const Tensor& a,
                                            const Tensor& b, bool wants_sums);

}  // namespace gradus::autograd
