// The inputs of graphed functions.
#include "gradus/cuda/graphed.h"

#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

StaticInputs::StaticInputs(Tensors samples) {
  check(!samples.empty(), "make_graphed: there is no input; give at least one tensor");
  for (size_t i = 0; i < samples.size(); ++i) {
    const Tensor& x = samples[i];
    check(x.defined() && x.is_cuda() && x.device() == samples[0].device(), "make_graphed: input ",
          i + 1, " is ", x.defined() ? "on " + x.device().str() : std::string("undefined"),
          ", expected all on one GPU; use .to(kCUDA)");
    inputs_.push_back(raw::empty_like(x));
    raw::copy_(inputs_.back(), x);
    inputs_.back().set_requires_grad(x.requires_grad());
  }
}

void StaticInputs::set(const Tensors& given) const {
  for (size_t i = 0; i < given.size(); ++i) {
    const Tensor &x = given[i], &sample = inputs_[i];
    const auto same = [&]<class E = ValueError>(bool holds, const char* what, const auto& found,
                                                const auto& expected) {
      check<E>(holds, "graphed function: input ", i + 1, " has ", what, " ", found,
               ", expected that of the sample, ", expected,
               "; make another graph for other inputs, or call the function itself");
    };
    check(x.defined(), "graphed function: input ", i + 1, " is undefined; give a tensor");
    same(x.sizes() == sample.sizes(), "shape", x.sizes(), sample.sizes());
    same.template operator()<TypeError>(x.dtype() == sample.dtype(), "dtype", x.scalar_type(),
                                        sample.scalar_type());
    same(x.device() == sample.device(), "device", x.device(), sample.device());
  }
  for (size_t i = 0; i < given.size(); ++i) {
    raw::copy_(inputs_[i], given[i]);
    inputs_[i].impl().storage->bump_version();
  }
}

}  // namespace gradus::cuda
