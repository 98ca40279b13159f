// Gradients in pieces in tests, whose tensors are small.
#pragma once

#include "gradus/autograd/engine/pieces.h"

namespace gradus {

// While it lives, gradients of more than 256 bytes are divided into pieces of 128 bytes or 2 rows.
class SmallPieces {
 public:
  explicit SmallPieces(int64_t terms = 1) { autograd::piece_sizes = {256, 128, 2, terms}; }
  ~SmallPieces() { autograd::piece_sizes = before_; }
  SmallPieces(const SmallPieces&) = delete;
  SmallPieces& operator=(const SmallPieces&) = delete;

 private:
  autograd::PieceSizes before_ = autograd::piece_sizes;
};

}  // namespace gradus
