// Tensors that are kept for the backward pass.
#pragma once

#include <optional>

#include "gradus/tensor/tensor.h"

namespace gradus {

// Unpacking checks that the tensor has not been changed in place since.
class Saved {
 public:
  // output_nr: the tensor is that output of the owning node; it is kept without its history, which
  // would own the node that owns it. Errors: Error for an inference tensor.
  Saved(const Tensor& tensor, std::optional<uint32_t> output_nr);
  // Errors: Error where the tensor was changed since.
  Tensor unpack(const std::shared_ptr<Node>& owner) const;

 private:
  Tensor tensor_;
  uint32_t version_ = 0;
  std::optional<uint32_t> output_nr_;
};

}  // namespace gradus
