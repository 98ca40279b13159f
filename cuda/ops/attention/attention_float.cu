// Attention of floats by tensor cores, exact or in TF32: a file of its own, as it takes long to
// compile.
#include "gradus/cuda/kernels/rows/attention_float.cuh"

#include "gradus/cuda/ops/attention/attention.cuh"
#include "gradus/cuda/ops/attention/attention_wgmma.h"
#include "gradus/cuda/ops/matmul/kernel.h"
#include "gradus/tensor/base/precision.h"

namespace gradus::cuda {

namespace {
template <bool kExact>
struct FloatFamily {
  // The fastest on an H100 of those tried (docs/notebook/attention.md).
  static constexpr int64_t kTallFrom = 1024;
  template <int W, int down>
  using Products = FloatProducts<W, kExact, down, 32, 16, W == 64 ? 2 : 1>;
};

template <class F>
bool of_precision(const F& f) {
  if (!has_tensor_cores()) return false;
  return gradus::detail::float32_matmul_precision() == Float32MatmulPrecision::HIGHEST
             ? f.template operator()<FloatFamily<true>>()
             : f.template operator()<FloatFamily<false>>();
}
}  // namespace

bool float_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                     const Tensor& mask, const Tensor& out, const Tensor& log_sums) {
  if (by_special_kernels(how, q, k, v, mask, out, log_sums)) return true;
  return of_precision(
      [&]<class Family>() { return tensor_attention<Family>(how, q, k, v, mask, out, log_sums); });
}

bool float_attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                          const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& out,
                          const Tensor& log_sums, ArrayRef<Tensor> grads) {
  if (wgmma_attention_grad(how, grad, q, k, v, mask, out, log_sums, grads)) return true;
  return of_precision([&]<class Family>() {
    return tensor_attention_grad<Family>(how, grad, q, k, v, mask, out, log_sums, grads);
  });
}

}  // namespace gradus::cuda
