// The record that libtorch keeps of a view, apart from the tensor:
// torch::autograd::impl::get_view_autograd_meta.
#pragma once

#include <optional>

#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

class DifferentiableViewMeta {
 public:
  explicit DifferentiableViewMeta(const Tensor& view) : view_(view) {}
  bool has_bw_view() const { return true; }
  CreationMeta get_creation_meta() const { return view_.impl().creation_meta; }

 private:
  Tensor view_;
};

namespace impl {
// Nothing for a tensor that is no view.
inline std::optional<DifferentiableViewMeta> get_view_autograd_meta(const Tensor& x) {
  if (!x.is_view()) return std::nullopt;
  return DifferentiableViewMeta(x);
}
}  // namespace impl

}  // namespace gradus::autograd
