// Large gradients in pieces: rows of them that are sent to other devices while the rest is
// computed.
#pragma once

#include <functional>

#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

// Which gradients are cut, and where. Tests set it, while no backward pass runs.
struct PieceSizes {
  size_t least_bytes = size_t{32} << 20;  // larger ones are cut
  // Of a piece: few enough that the last one, for which nobody computes any more, is soon there,
  // and enough to be worth a call. On two H200 an all_reduce moves 16 MiB at 210 GB/s, 32 MiB at
  // 234, 64 MiB at 265, 512 MiB at 314; of steps with 8 to 64 MiB those of 32 and 64 were shortest.
  int64_t bytes = int64_t{32} << 20;
  int64_t rows = 256;  // a multiple of these, which fill the blocks of a product
  int64_t terms = 64;  // fewer in each sum are not worth the products' starts
};
extern PieceSizes piece_sizes;

// How many rows of a gradient of this shape are a piece; all of them where it stays whole. Depends
// on nothing else, so that all ranks cut alike.
int64_t rows_of_piece(IntArrayRef sizes, size_t itemsize);
// Where the pieces of a gradient end, in elements.
std::vector<int64_t> piece_ends(const Tensor& x);

// a b of two matrices, as products of some rows of a where the result is large. Calls ready(out,
// end) when its first `end` rows are computed by what is queued on the current stream; not where it
// stays whole. It is cut by the shapes alone, so that it has the same bits whoever waits for it.
// room: where it is computed, if defined.
Tensor product_in_pieces(const Tensor& a, const Tensor& b, const Tensor& room,
                         const std::function<void(const Tensor& out, int64_t end)>& ready);

}  // namespace gradus::autograd
