// MadeBeside: which tensor it stands beside.
#include "gradus/autograd/engine/made_beside.h"

#include <utility>

namespace gradus::autograd {

MadeBeside::MadeBeside(const Tensor& result, std::weak_ptr<TensorImpl> parameter, Tensor what)
    : result_(result.impl_ptr()),
      parameter_(std::move(parameter)),
      memory_(result.impl().storage),
      version_(result.impl().storage->version()),
      sizes_(result.impl().sizes),
      strides_(result.impl().strides),
      stream_(cuda::getCurrentCUDAStream(result.device().index())),
      what_(std::move(what)) {}

bool MadeBeside::is_unchanged(const Tensor& x) const {
  return memory_.lock() == x.impl().storage && version_ == x.impl().storage->version() &&
         x.sizes() == IntArrayRef(sizes_) && x.strides() == IntArrayRef(strides_) &&
         *stream_ == cuda::getCurrentCUDAStream(x.device().index());
}

}  // namespace gradus::autograd
