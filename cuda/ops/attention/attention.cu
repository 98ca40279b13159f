// Attention: tensor cores' kernels for half types and floats; others for widths up to 128, where
// their tiles fit into shared memory; else the default of Backend.
#include "gradus/cuda/kernels/attention.cuh"

#include <algorithm>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/attention/attention.cuh"
#include "gradus/cuda/runtime/check.h"

namespace gradus::cuda {

namespace {

template <class T, int W>
constexpr size_t shared_bytes(int tiles) {
  return static_cast<size_t>(kAttentionTile * (tiles * kTileRow<W> + kScoreRow)) * sizeof(T);
}

// f(type, the width of tiles) where a block has shared memory for so many tiles, which it returns.
template <class F>
bool with_tiles(int tiles, const Tensor& q, const Tensor& v, const F& f) {
  const int64_t widest = std::max(q.size(3), v.size(3));
  if (widest > 128) return false;
  int most = 0;
  check_cuda(
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, q.device().index()),
      "attention");
  bool fits = false;
  const auto start = [&]<class T, int W>(TypeTag<T> type, Constant<W> width) {
    fits = shared_bytes<T, W>(tiles) <= static_cast<size_t>(most);
    if (fits) f(type, width);
  };
  visit_floating("attention", q.dtype(), [&]<class T>(TypeTag<T> type) {
    widest > 64 ? start(type, Constant<128>{}) : start(type, Constant<64>{});
  });
  return fits;
}

bool is_of_halves(const Tensor& x) { return x.dtype() == kHalf || x.dtype() == kBFloat16; }
Tensor in_float(const Tensor& x) { return x.defined() ? raw::to(x, kFloat) : x; }
Tensor contiguous_like(const Tensor& x, ScalarType dtype) {
  return raw::empty(x.sizes(), dtype, x.device());
}

}  // namespace

void CudaBackend::attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                            const Tensor& mask, const Tensor& out, const Tensor& log_sums) {
  if (is_of_halves(q)) {
    if (half_attention(how, q, k, v, mask, out, log_sums)) return;
    const Tensor wide = contiguous_like(out, kFloat);
    attention(how, in_float(q), in_float(k), in_float(v), in_float(mask), wide, log_sums);
    return copy(wide, out);
  }
  if (q.dtype() == kFloat && float_attention(how, q, k, v, mask, out, log_sums)) return;
  if (!out.is_contiguous()) {
    const Tensor result = contiguous_like(out, out.scalar_type());
    attention(how, q, k, v, mask, result, log_sums);
    return copy(result, out);
  }
  const Context context(out);
  const bool done = with_tiles(2, q, v, [&]<class T, int W>(TypeTag<T>, Constant<W>) {
    launch_pdl(
        attention_kernel<T, W>,
        attention_config(context, q, kAttentionTile, kAttentionThreads, shared_bytes<T, W>(2)),
        attention_args<T>(how, q, k, v, mask), static_cast<T*>(out.data_ptr()),
        static_cast<T*>(log_sums.data_ptr()));
  });
  if (!done) Backend::attention(how, q, k, v, mask, out, log_sums);
}

void CudaBackend::attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                                 const Tensor& k, const Tensor& v, const Tensor& mask,
                                 const Tensor& out, const Tensor& log_sums, const Tensor& grad_q,
                                 const Tensor& grad_k, const Tensor& grad_v) {
  const Tensor grads[] = {grad_q, grad_k, grad_v};
  if (is_of_halves(q)) {
    if (half_attention_grad(how, grad, q, k, v, mask, out, log_sums, grads)) return;
    Tensors wide;
    for (const Tensor& x : grads) wide.push_back(contiguous_like(x, kFloat));
    attention_grad(how, in_float(grad), in_float(q), in_float(k), in_float(v), in_float(mask),
                   in_float(out), log_sums, wide[0], wide[1], wide[2]);
    for (size_t i = 0; i < wide.size(); ++i) copy(wide[i], grads[i]);
    return;
  }
  if (q.dtype() == kFloat && float_attention_grad(how, grad, q, k, v, mask, out, log_sums, grads))
    return;
  const auto lies = [](const Tensor& x) { return x.is_contiguous(); };
  if (!lies(grad) || !lies(out) || !std::all_of(std::begin(grads), std::end(grads), lies)) {
    Tensors results;
    for (const Tensor& x : grads) results.push_back(contiguous_like(x, x.scalar_type()));
    attention_grad(how, raw::contiguous(grad), q, k, v, mask, raw::contiguous(out), log_sums,
                   results[0], results[1], results[2]);
    for (size_t i = 0; i < results.size(); ++i) copy(results[i], grads[i]);
    return;
  }
  const Context context(out);
  const bool done = with_tiles(4, q, v, [&]<class T, int W>(TypeTag<T>, Constant<W>) {
    const auto at = [](const Tensor& x) { return static_cast<T*>(x.data_ptr()); };
    const AttentionArgs<T> args = attention_args<T>(how, q, k, v, mask);
    const Tensor means = raw::empty(log_sums.sizes(), log_sums.dtype(), log_sums.device());
    launch_pdl(row_products_kernel<T>, linear_launch(context, means.numel()), means.numel(),
               args.values, at(grad), at(out), at(means));
    const auto config = [&](const Tensor& x, int tiles) {
      return attention_config(context, x, kAttentionTile, kAttentionThreads,
                              shared_bytes<T, W>(tiles));
    };
    launch_pdl(attention_grad_q_kernel<T, W>, config(q, 3), args, at(grad), at(log_sums), at(means),
               at(grad_q));
    launch_pdl(attention_grad_kv_kernel<T, W>, config(grad_k, 4), args, at(grad), at(log_sums),
               at(means), at(grad_k), at(grad_v));
  });
  if (!done)
    Backend::attention_grad(how, grad, q, k, v, mask, out, log_sums, grad_q, grad_k, grad_v);
}

}  // namespace gradus::cuda
