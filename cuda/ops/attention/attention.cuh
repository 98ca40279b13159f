// How attention's kernels are started, for attention*.cu.
#pragma once

#include "gradus/cuda/kernels/rows/attention_tiles.cuh"
#include "gradus/cuda/ops/attention/attention.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

inline void read_steps(int64_t (&steps)[3], const Tensor& x) {
  std::copy_n(x.strides().begin(), 3, steps);
}

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
  args.heads = q.size(1), args.sharing = q.size(1) / k.size(1);
  args.queries = q.size(2), args.keys = k.size(2);
  args.width = static_cast<int>(q.size(3)), args.values = static_cast<int>(v.size(3));
  args.scale = static_cast<Sum>(how.scale);
  args.causal = how.causal, args.drops = how.dropout > 0;
  args.alike = gradus::detail::batch_invariant();
  args.state = how.state;
  return args;
}

inline LaunchConfig attention_config(const Context& context, const Tensor& rows, int tile,
                                     int threads, size_t bytes) {
  const int64_t blocks = rows.size(0) * rows.size(1) * ceil_div(rows.size(2), int64_t{tile});
  return {dim3(static_cast<unsigned>(blocks)), static_cast<unsigned>(threads), bytes,
          context.stream};
}

// f.operator()<P, kPlain>() for what suits of a family, whose Products<W, down> are types P of
// attention_tiles.cuh. False for what these do not do.
template <class Family, class F>
bool with_tensor_tiles(const Attention& how, const Tensor& q, const Tensor& v, const Tensor& mask,
                       const F& f) {
  const bool plain = !mask.defined() && how.dropout == 0 && how.scale > 0;
  const auto start = [&]<class P, bool kPlain>() {
    if (AttentionMemory<P>::kBytes > static_cast<size_t>(most_shared_bytes())) return false;
    f.template operator()<P, kPlain>();
    return true;
  };
  const auto either = [&]<class P>() {
    return plain ? start.template operator()<P, true>() : start.template operator()<P, false>();
  };
  const int64_t widest = std::max(q.size(3), v.size(3));
  constexpr int64_t kMostRows = 1 << 30;  // they are counted in int
  if (widest > 128 || std::max(q.size(2), v.size(2)) > kMostRows) return false;
  if (widest > 64) return either.template operator()<typename Family::template Products<128, 1>>();
  using Tall = typename Family::template Products<64, 2>;
  if (plain && q.size(2) >= Family::kTallFrom && !gradus::detail::batch_invariant() &&
      start.template operator()<Tall, true>())
    return true;
  return either.template operator()<typename Family::template Products<64, 1>>();
}

template <class Family>
bool tensor_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                      const Tensor& mask, const Tensor& out, const Tensor& log_sums) {
  const Context context(out);
  return with_tensor_tiles<Family>(how, q, v, mask, [&]<class P, bool kPlain>() {
    using T = typename P::Element;
    using Memory = AttentionMemory<P>;
    auto args = attention_args<T, float>(how, q, k, v, mask);
    read_steps(args.out_step, out);
    launch_pdl(
        tensor_attention_kernel<P, kPlain>,
        attention_config(context, q, Memory::kRows, kTensorAttentionThreads, Memory::kForwardBytes),
        args, static_cast<T*>(out.data_ptr()), static_cast<float*>(log_sums.data_ptr()));
  });
}

template <class Family>
bool tensor_attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                           const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& out,
                           const Tensor& log_sums, ArrayRef<Tensor> grads) {
  const Context context(out);
  return with_tensor_tiles<Family>(how, q, v, mask, [&]<class P, bool kPlain>() {
    using T = typename P::Element;
    using Memory = AttentionMemory<P>;
    const auto at = [](const Tensor& x) { return static_cast<T*>(x.data_ptr()); };
    const auto config = [&](const Tensor& rows) {
      return attention_config(context, rows, Memory::kRows, kTensorAttentionThreads,
                              Memory::kBytes);
    };
    auto args = attention_args<T, float>(how, q, k, v, mask);
    read_steps(args.out_step, out), read_steps(args.grad_step, grad);
    read_steps(args.q_grad_step, grads[0]), read_steps(args.k_grad_step, grads[1]);
    read_steps(args.v_grad_step, grads[2]);
    const Tensor lines = raw::empty({log_sums.numel(), 2}, kFloat, log_sums.device());
    const auto of_lines = static_cast<float2*>(lines.data_ptr());
    launch_pdl(tensor_attention_grad_q_kernel<P, kPlain>, config(q), args, at(grad), at(out),
               static_cast<const float*>(log_sums.data_ptr()), of_lines, at(grads[0]));
    launch_pdl(tensor_attention_grad_kv_kernel<P, kPlain>, config(grads[1]), args, at(grad),
               static_cast<const float2*>(of_lines), at(grads[1]), at(grads[2]));
  });
}

}  // namespace gradus::cuda
