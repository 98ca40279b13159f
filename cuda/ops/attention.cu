// Attention: the kernels for widths up to 128, where their tiles fit into shared memory; else the
// default of Backend.
#include "gradus/cuda/kernels/attention.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/kernels/rows/attention_half.cuh"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

template <class T, class Sum = T>
AttentionArgs<T, Sum> attention_args(const Attention& how, const Tensor& q, const Tensor& k,
                                     const Tensor& v, const Tensor& mask) {
  if (how.dropout > 0) check_draw(how.state);
  AttentionArgs<T, Sum> args({draw::Chance(how.dropout), static_cast<Sum>(1 / (1 - how.dropout))});
  const auto read = [](const T*& data, auto& steps, const Tensor& x) {
    data = static_cast<const T*>(x.data_ptr());
    std::copy_n(x.strides().begin(), std::size(steps), steps);
  };
  read(args.q, args.q_step, q), read(args.k, args.k_step, k), read(args.v, args.v_step, v);
  if (mask.defined()) read(args.mask, args.mask_step, mask);
  args.heads = q.size(1), args.queries = q.size(2), args.keys = k.size(2);
  args.width = static_cast<int>(q.size(3)), args.values = static_cast<int>(v.size(3));
  args.scale = static_cast<Sum>(how.scale);
  args.causal = how.causal, args.drops = how.dropout > 0;
  args.state = how.state;
  return args;
}

template <class T, int W>
constexpr size_t shared_bytes(int tiles) {
  return static_cast<size_t>(kAttentionTile * (tiles * kTileRow<W> + kScoreRow)) * sizeof(T);
}

int64_t blocks_for(const Tensor& x) {
  return x.size(0) * x.size(1) * ceil_div(x.size(2), int64_t{kAttentionTile});
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

// The same for half types: f(type, the width of tiles).
template <class F>
bool with_half_tiles(int tiles, const Tensor& q, const Tensor& v, const F& f) {
  const int64_t widest = std::max(q.size(3), v.size(3));
  int most = 0;
  check_cuda(
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, q.device().index()),
      "attention");
  const auto bytes = [&](int width) { return tiles * kAttentionTile * (width + 8) * 2; };
  if (widest > 128 || bytes(widest > 64 ? 128 : 64) > most) return false;
  const auto start = [&]<class T>(TypeTag<T> type) {
    widest > 64 ? f(type, Constant<128>{}, static_cast<size_t>(bytes(128)))
                : f(type, Constant<64>{}, static_cast<size_t>(bytes(64)));
  };
  q.dtype() == kHalf ? start(TypeTag<Half>{}) : start(TypeTag<BFloat16>{});
  return true;
}

bool is_of_halves(const Tensor& x) { return x.dtype() == kHalf || x.dtype() == kBFloat16; }
Tensor in_float(const Tensor& x) { return x.defined() ? raw::to(x, kFloat) : x; }

LaunchConfig half_config(const Context& context, const Tensor& rows, size_t bytes) {
  return {dim3(static_cast<unsigned>(blocks_for(rows))), kHalfAttentionThreads, bytes,
          context.stream};
}

void half_attention(Backend& backend, const Attention& how, const Tensor& q, const Tensor& k,
                    const Tensor& v, const Tensor& mask, const Tensor& out,
                    const Tensor& log_sums) {
  const Context context(out);
  const bool done =
      with_half_tiles(3, q, v, [&]<class T, int W>(TypeTag<T>, Constant<W>, size_t bytes) {
        launch_pdl(half_attention_kernel<T, W>, half_config(context, q, bytes),
                   attention_args<T, float>(how, q, k, v, mask), out.data_ptr<T>(),
                   log_sums.data_ptr<float>());
      });
  if (done) return;
  const Tensor wide = raw::empty(out.sizes(), kFloat, out.device());
  backend.attention(how, in_float(q), in_float(k), in_float(v), in_float(mask), wide, log_sums);
  backend.copy(wide, out);
}

void half_attention_grad(Backend& backend, const Attention& how, const Tensor& grad,
                         const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                         const Tensor& out, const Tensor& log_sums, ArrayRef<Tensor> grads) {
  const Context context(out);
  const bool done =
      with_half_tiles(4, q, v, [&]<class T, int W>(TypeTag<T>, Constant<W>, size_t bytes) {
        const auto args = attention_args<T, float>(how, q, k, v, mask);
        const Tensor means = raw::empty(log_sums.sizes(), kFloat, log_sums.device());
        launch_pdl(half_attention_grad_q_kernel<T, W>, half_config(context, q, bytes), args,
                   grad.data_ptr<T>(), out.data_ptr<T>(), log_sums.data_ptr<float>(),
                   means.data_ptr<float>(), grads[0].data_ptr<T>());
        launch_pdl(half_attention_grad_kv_kernel<T, W>, half_config(context, k, bytes), args,
                   grad.data_ptr<T>(), log_sums.data_ptr<float>(), means.data_ptr<float>(),
                   grads[1].data_ptr<T>(), grads[2].data_ptr<T>());
      });
  if (done) return;
  Tensors wide;
  for (const Tensor& each : grads) wide.push_back(raw::empty(each.sizes(), kFloat, each.device()));
  backend.attention_grad(how, in_float(grad), in_float(q), in_float(k), in_float(v), in_float(mask),
                         in_float(out), log_sums, wide[0], wide[1], wide[2]);
  for (size_t i = 0; i < wide.size(); ++i) backend.copy(wide[i], grads[i]);
}

}  // namespace

// Half types are taken too, with log_sums of Float.
void CudaBackend::attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                            const Tensor& mask, const Tensor& out, const Tensor& log_sums) {
  if (is_of_halves(q)) return half_attention(*this, how, q, k, v, mask, out, log_sums);
  const Context context(out);
  const bool done = with_tiles(2, q, v, [&]<class T, int W>(TypeTag<T>, Constant<W>) {
    launch_pdl(attention_kernel<T, W>,
               {dim3(static_cast<unsigned>(blocks_for(q))), kAttentionThreads,
                shared_bytes<T, W>(2), context.stream},
               attention_args<T>(how, q, k, v, mask), static_cast<T*>(out.data_ptr()),
               static_cast<T*>(log_sums.data_ptr()));
  });
  if (!done) Backend::attention(how, q, k, v, mask, out, log_sums);
}

void CudaBackend::attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                                 const Tensor& k, const Tensor& v, const Tensor& mask,
                                 const Tensor& out, const Tensor& log_sums, const Tensor& grad_q,
                                 const Tensor& grad_k, const Tensor& grad_v) {
  if (is_of_halves(q))
    return half_attention_grad(*this, how, grad, q, k, v, mask, out, log_sums,
                               {grad_q, grad_k, grad_v});
  const Context context(out);
  const bool done = with_tiles(4, q, v, [&]<class T, int W>(TypeTag<T>, Constant<W>) {
    const auto at = [](const Tensor& x) { return static_cast<T*>(x.data_ptr()); };
    const AttentionArgs<T> args = attention_args<T>(how, q, k, v, mask);
    const Tensor means = raw::empty(log_sums.sizes(), log_sums.dtype(), log_sums.device());
    launch_pdl(row_products_kernel<T>, linear_launch(context, means.numel()), means.numel(),
               args.values, at(grad), at(out), at(means));
    const auto config = [&](const Tensor& x, int tiles) {
      return LaunchConfig(dim3(static_cast<unsigned>(blocks_for(x))), kAttentionThreads,
                          shared_bytes<T, W>(tiles), context.stream);
    };
    launch_pdl(attention_grad_q_kernel<T, W>, config(q, 3), args, at(grad), at(log_sums), at(means),
               at(grad_q));
    launch_pdl(attention_grad_kv_kernel<T, W>, config(k, 4), args, at(grad), at(log_sums),
               at(means), at(grad_k), at(grad_v));
  });
  if (!done)
    Backend::attention_grad(how, grad, q, k, v, mask, out, log_sums, grad_q, grad_k, grad_v);
}

}  // namespace gradus::cuda
