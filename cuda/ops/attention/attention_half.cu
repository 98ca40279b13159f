// Attention of half types by tensor cores: a file of its own, as it takes long to compile.
#include "gradus/cuda/kernels/rows/attention_half.cuh"

#include "gradus/cuda/ops/attention/attention.cuh"
#include "gradus/cuda/ops/attention/attention_wgmma.h"

namespace gradus::cuda {

namespace {
template <class T>
struct HalfFamily {
  // The fastest on an H100 of those tried (docs/notebook/attention.md).
  static constexpr int64_t kTallFrom = 2048;
  template <int W, int down>
  using Products =
      std::conditional_t<W == 64 && down == 1, HalfProducts<T, W, down, 32, 32, 32, 4, 3>,
                         HalfProducts<T, W, down, 64, 32, 16, 2, 2>>;
};

template <class F>
bool of_type(const Tensor& x, const F& f) {
  return x.dtype() == kHalf ? f.template operator()<HalfFamily<Half>>()
                            : f.template operator()<HalfFamily<BFloat16>>();
}
}  // namespace

bool half_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                    const Tensor& mask, const Tensor& out, const Tensor& log_sums) {
  if (by_special_kernels(how, q, k, v, mask, out, log_sums)) return true;
  return of_type(q, [&]<class Family>() {
    return tensor_attention<Family>(how, q, k, v, mask, out, log_sums);
  });
}

bool half_attention_grad(const Attention& how, const Tensor& grad, const Tensor& q, const Tensor& k,
                         const Tensor& v, const Tensor& mask, const Tensor& out,
                         const Tensor& log_sums, ArrayRef<Tensor> grads) {
  if (wgmma_attention_grad(how, grad, q, k, v, mask, out, log_sums, grads)) return true;
  return of_type(q, [&]<class Family>() {
    return tensor_attention_grad<Family>(how, grad, q, k, v, mask, out, log_sums, grads);
  });
}

}  // namespace gradus::cuda
