// Runs attention by wgmma: describes operands to the tensor memory accelerator.
#include "gradus/cuda/ops/attention/attention_wgmma.h"

// A compiler that does not optimize (-G) moves registers while products write them.
#if !defined(GRADUS_HOPPER) || defined(__CUDACC_DEBUG__)

namespace gradus::cuda {
bool wgmma_attention(const Attention&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                     const Tensor&, const Tensor&) {
  return false;
}
bool wgmma_attention_grad(const Attention&, const Tensor&, const Tensor&, const Tensor&,
                          const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                          ArrayRef<Tensor>) {
  return false;
}
}  // namespace gradus::cuda

#else

#include <algorithm>
#include <limits>
#include <vector>

#include "gradus/cuda/kernels/hopper/attention_wgmma.cuh"
#include "gradus/cuda/kernels/hopper/attention_wgmma_grad.cuh"
#include "gradus/cuda/ops/attention/attention.cuh"
#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/tensor_maps.h"
#include "gradus/tensor/base/precision.h"

namespace gradus::cuda {
namespace {

// Rows are contiguous, and begin where the accelerator and loads of 16 bytes may.
bool is_aligned(const Tensor& x) {
  const int64_t unit = 16 / static_cast<int64_t>(x.element_size());
  bool aligned =
      x.stride(3) == 1 && x.size(3) % 8 == 0 && reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0;
  for (int64_t d = 0; d < 3; ++d)
    aligned = aligned && (x.size(d) == 1 || (x.stride(d) > 0 && x.stride(d) % unit == 0));
  return aligned;
}

int planes_of(const Tensor& q) {
  if (q.dtype() != kFloat) return 1;
  return gradus::detail::float32_matmul_precision() == Float32MatmulPrecision::HIGHEST ? 3 : 2;
}

bool suits(const Attention& how, const Tensor& mask, std::initializer_list<Tensor> all) {
  const Tensor &q = *all.begin(), &k = *(all.begin() + 1);
  constexpr int64_t kMost = std::numeric_limits<int>::max() / 2;
  const int64_t widest = planes_of(q) == 1 ? 128 : 64;
  const auto fits = [&](const Tensor& x) {
    return is_aligned(x) && x.numel() > 0 && x.size(3) <= widest && x.size(2) <= kMost;
  };
  // A mask that is the same for all queries, of half types.
  const bool masks_queries =
      mask.defined() && (planes_of(q) > 1 || (mask.stride(2) != 0 && mask.size(2) > 1));
  if (!has_wgmma() || masks_queries || how.dropout > 0 || how.scale <= 0 ||
      q.size(0) * q.size(1) * (std::max(q.size(2), k.size(2)) / 64 + 1) > kMost ||
      !std::all_of(all.begin(), all.end(), fits))
    return false;
  // A sixteenth of the memory is what planes may take.
  return planes_of(q) == 1 || 8 * planes_of(q) * std::max(q.numel(), k.numel()) <=
                                  getDeviceProperties(current_device()).total_memory / 16;
}

// An operand as the accelerator reads it: itself, or planes of its floats.
template <int kPlanes>
Tensor operand_of(const Tensor& x) {
  if constexpr (kPlanes == 1) {
    return x;
  } else {
    const Tensor planes = raw::empty({kPlanes, x.size(0) * x.size(1), x.size(2), x.size(3)},
                                     kBFloat16, x.device(), "attention");
    AttentionPlanes from{static_cast<const float*>(x.data_ptr()),
                         {},
                         x.size(1),
                         x.size(2),
                         x.size(3),
                         x.numel() / 8};
    read_steps(from.step, x);
    launch_pdl(attention_planes<kPlanes>,
               {static_cast<unsigned>(ceil_div(from.units, int64_t{256})), 256}, from,
               static_cast<BFloat16*>(planes.data_ptr()));
    return planes;
  }
}

CUtensorMap boxes_of(const Tensor& x, int rows) {
  const auto step = [&](int64_t d) { return x.size(d) == 1 ? int64_t{8} : x.stride(d); };
  return map_of(
      Boxes{x.data_ptr(),
            x.dtype() == kHalf ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            2,
            {x.size(3), x.size(2), x.size(1), x.size(0)},
            {step(2), step(1), step(0)},
            {64, rows, 1, 1}},
      "attention", "a mask of zeros");
}

// Whether the busiest block has a tenth more to do than all have on average, where blocks take the
// tiles of head after head, to and fro, of which each of a head is smaller than the one before.
bool is_uneven(int64_t heads, int64_t tiles, int blocks) {
  constexpr int64_t kMost = 4096;  // so many tiles are counted in some microseconds
  if (heads * tiles > kMost) return false;
  std::vector<int64_t> work(static_cast<size_t>(blocks));
  for (int64_t i = 0; i < heads * tiles; ++i) {
    const int64_t turn = i / blocks, at = i % blocks;
    work[static_cast<size_t>(turn % 2 == 0 ? at : blocks - 1 - at)] += tiles - i % tiles;
  }
  const int64_t all = heads * tiles * (tiles + 1) / 2;
  return 10 * blocks * *std::max_element(work.begin(), work.end()) > 11 * all;
}

// A block for each multiprocessor. own and streams: operands.
template <class Tile, class T>
void run(void (*kernel)(AttentionWgmmaArgs<T>), AttentionWgmmaArgs<T> args, int64_t heads,
         std::initializer_list<Tensor> own, std::initializer_list<Tensor> streams) {
  std::transform(own.begin(), own.end(), args.own,
                 [](const Tensor& x) { return boxes_of(x, Tile::kRows); });
  std::transform(streams.begin(), streams.end(), args.streams,
                 [](const Tensor& x) { return boxes_of(x, Tile::kColumns); });
  args.own_rows = own.begin()->size(2), args.stream_rows = streams.begin()->size(2);
  args.items = static_cast<int>(heads * ceil_div(args.own_rows, int64_t{Tile::kRows}));
  const DeviceProperties& device = getDeviceProperties(current_device());
  const int blocks = std::min(args.items, device.multiprocessors);
  // Blocks read the streams of all heads by places, so the L2 cache must hold these all.
  const int64_t bytes = 2 * Tile::kPlanes * heads * args.stream_rows * Tile::kWidth * 2;
  args.by_place = args.of.causal && is_uneven(heads, args.items / heads, blocks) &&
                  (4 * heads <= blocks || bytes <= device.l2_bytes / 4 * 3);
  launch_pdl(kernel, {static_cast<unsigned>(blocks), Tile::kThreads, Tile::kSharedBytes}, args);
}

// f(whether there is a mask).
template <class F>
void with_mask(const Tensor& mask, const F& f) {
  mask.defined() ? f(Constant<true>{}) : f(Constant<false>{});
}

// f(type, the width of tiles, planes).
template <class F>
void of_tiles(const Tensor& q, const Tensor& v, const F& f) {
  const auto of_halves = [&]<class T>(TypeTag<T> type) {
    std::max(q.size(3), v.size(3)) > 64 ? f(type, Constant<128>{}, Constant<1>{})
                                        : f(type, Constant<64>{}, Constant<1>{});
  };
  if (q.dtype() == kHalf) return of_halves(TypeTag<Half>{});
  if (q.dtype() == kBFloat16) return of_halves(TypeTag<BFloat16>{});
  planes_of(q) == 3 ? f(TypeTag<float>{}, Constant<64>{}, Constant<3>{})
                    : f(TypeTag<float>{}, Constant<64>{}, Constant<2>{});
}
}  // namespace

bool wgmma_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                     const Tensor& mask, const Tensor& out, const Tensor& log_sums) {
  if (!suits(how, mask, {q, k, v, out})) return false;
  const Context context(out);
  of_tiles(q, v, [&]<class T, int W, int kPlanes>(TypeTag<T>, Constant<W>, Constant<kPlanes>) {
    using Tile = AttentionWgmmaTile<T, W, kPlanes == 3 ? 64 : 128, kPlanes, 1>;
    AttentionWgmmaArgs<T> args{{}, {}, attention_args<T, float>(how, q, k, v, mask)};
    read_steps(args.of.out_step, out);
    args.out = static_cast<T*>(out.data_ptr());
    args.log_sums = static_cast<float*>(log_sums.data_ptr());
    with_mask(mask, [&]<bool kMasked>(Constant<kMasked>) {
      // Floats have no masks here.
      run<Tile>(attention_wgmma < Tile, kMasked && kPlanes == 1 >, args, q.size(0) * q.size(1),
                {operand_of<kPlanes>(q)}, {operand_of<kPlanes>(k), operand_of<kPlanes>(v)});
    });
  });
  return true;
}

bool wgmma_attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                          const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& out,
                          const Tensor& log_sums, ArrayRef<Tensor> grads) {
  if (!suits(how, mask, {q, k, v, out, grad, grads[0], grads[1], grads[2]})) return false;
  const Context context(out);
  of_tiles(q, v, [&]<class T, int W, int kPlanes>(TypeTag<T>, Constant<W>, Constant<kPlanes>) {
    using OfQueries = AttentionWgmmaTile<T, W, W == 64 && kPlanes == 1 ? 128 : 64, kPlanes, 2>;
    using OfKeys = AttentionWgmmaTile<T, W, 64, kPlanes, 2, true>;
    const auto at = [](const Tensor& x) { return static_cast<T*>(x.data_ptr()); };
    AttentionWgmmaArgs<T> args{{}, {}, attention_args<T, float>(how, q, k, v, mask)};
    read_steps(args.of.out_step, out), read_steps(args.of.grad_step, grad);
    read_steps(args.of.q_grad_step, grads[0]), read_steps(args.of.k_grad_step, grads[1]);
    read_steps(args.of.v_grad_step, grads[2]);
    args.grad_q = at(grads[0]), args.grad_k = at(grads[1]), args.grad_v = at(grads[2]);
    const int64_t heads = q.size(0) * q.size(1);
    args.pitch = ceil_div(q.size(2), int64_t{128}) * 128;
    const int64_t count = heads * args.pitch;
    const Tensor lines = raw::empty({count, 2}, kFloat, q.device(), "attention");
    args.lines = static_cast<float2*>(lines.data_ptr());
    launch_pdl(attention_lines<T, W>,
               {static_cast<unsigned>(ceil_div(count * (W / 8), int64_t{256})), 256}, args.of,
               at(grad), at(out), static_cast<const float*>(log_sums.data_ptr()), args.pitch, count,
               args.lines);
    const Tensor operands[] = {operand_of<kPlanes>(q), operand_of<kPlanes>(k),
                               operand_of<kPlanes>(v), operand_of<kPlanes>(grad)};
    with_mask(mask, [&]<bool kHas>(Constant<kHas>) {
      constexpr bool kMasked = kHas && kPlanes == 1;  // floats have no masks here
      run<OfQueries>(attention_wgmma_grad_q<OfQueries, kMasked>, args, heads,
                     {operands[0], operands[3]}, {operands[1], operands[2]});
      run<OfKeys>(attention_wgmma_grad_kv<OfKeys, kMasked>, args, heads, {operands[1], operands[2]},
                  {operands[0], operands[3]});
    });
  });
  return true;
}

}  // namespace gradus::cuda

#endif
