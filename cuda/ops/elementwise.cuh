// The host side of kernels/elementwise.cuh: chooses the kernel, its grid and its block.
#pragma once

#include <array>
#include <bit>
#include <cstdlib>
#include <string>
#include <tuple>

#include "gradus/cuda/kernels/computed.cuh"
#include "gradus/cuda/kernels/converting.cuh"
#include "gradus/cuda/ops/row_function.cuh"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda {

// The limit is below 2^31 by what a block reaches past the end.
inline constexpr int64_t kMaxOffset = (int64_t{1} << 31) - (1 << 16);

// The dimension along which the walk reaches furthest in some tensor, and how far all of them do.
struct Reach {
  int dim = 0;
  bool fits_32_bits = true;
};
template <int N>
Reach reach_of(const Strided<N>& walk) {
  Reach out;
  int64_t furthest = -1;
  for (int n = 0; n < N; ++n) {
    int64_t total = 0;
    for (int d = 0; d < walk.dims; ++d) {
      const int64_t reach = (walk.size[d] - 1) * std::abs(walk.stride[n][d]);
      total += reach;
      if (reach > furthest) furthest = reach, out.dim = d;
    }
    if (total > kMaxOffset) out.fits_32_bits = false;
  }
  return out;
}

// Calls body(piece, start) for pieces of the walk whose numbers fit 32 bits; `start` is where each
// piece begins. Most walks are one piece.
template <int N, class Body>
void for_each_piece(const Strided<N>& walk, const Offsets<N, int64_t>& start, const Body& body) {
  const Reach reach = reach_of(walk);
  if (!reach.fits_32_bits) {
    const int64_t half = walk.size[reach.dim] / 2;
    Strided<N> part = walk;
    Offsets<N, int64_t> from = start;
    part.size[reach.dim] = half;
    part.numel = walk.numel / walk.size[reach.dim] * half;
    for_each_piece(part, from, body);
    part.size[reach.dim] = walk.size[reach.dim] - half;
    part.numel = walk.numel - part.numel;
    for (int n = 0; n < N; ++n) from.at[n] += half * walk.stride[n][reach.dim];
    return for_each_piece(part, from, body);
  }
  Strided<N, int32_t> piece{.dims = std::max(walk.dims, 1),
                            .numel = static_cast<int32_t>(walk.numel),
                            .size = {1},
                            .stride = {}};
  for (int d = 0; d < walk.dims; ++d) {
    piece.size[d] = static_cast<int32_t>(walk.size[d]);
    for (int n = 0; n < N; ++n) piece.stride[n][d] = static_cast<int32_t>(walk.stride[n][d]);
  }
  body(piece, start);
}

// Columns times rows of threads. An input that is not read along the last dimension is read one
// cache sector at a time by as many rows, so a block holds several of them.
template <int N>
dim3 strided_block(const Strided<N, int32_t>& walk) {
  const int last = walk.dims - 1;
  bool crosses = false;
  for (int n = 0; n < N; ++n) crosses |= walk.dims > 1 && std::abs(walk.stride[n][last]) > 1;
  return block_of_rows(crosses ? std::min(walk.size[last], 32) : walk.size[last],
                       kElementwiseThreads);
}

template <class F, size_t... I, class Out, class... In>
void launch_strided(const Context& context, const F& f,
                    const Strided<1 + sizeof...(In), int32_t>& piece,
                    const Offsets<1 + sizeof...(In), int64_t>& start, std::index_sequence<I...>,
                    Out* out, const In*... in) {
  const int32_t columns = piece.size[piece.dims - 1], rows = piece.numel / columns;
  const dim3 block = strided_block(piece);
  const auto across = static_cast<int32_t>(block.x), down = static_cast<int32_t>(block.y);
  const int32_t tiles = ceil_div(columns, across * kStridedParts);
  const int32_t row_blocks = ceil_div(rows, columns <= across ? down * kStridedParts : down);
  launch_pdl(elementwise_strided<F, Out, In...>,
             {dim3(static_cast<unsigned>(row_blocks * tiles)), block, 0, context.stream}, f, piece,
             rows, tiles, out + start.at[0], (in + start.at[I + 1])...);
}

// False, and nothing launched, unless all operands are contiguous and aligned for vectors.
template <class F, class Out, class... In>
bool launch_contiguous(const Context& context, const F& f, const Strided<1 + sizeof...(In)>& walk,
                       Out* out, const In*... in) {
  constexpr int V = vector_width<Out, In...>;
  if (!walk.contiguous() || !is_aligned<V>(out) || !(is_aligned<V>(in) && ...)) return false;
  const int64_t blocks = ceil_div(walk.numel, contiguous_tile<Out, In...>);
  launch_pdl(elementwise_contiguous<F, Out, In...>,
             {dim3(static_cast<unsigned>(blocks)), kElementwiseThreads, 0, context.stream}, f,
             walk.numel, out, in...);
  return true;
}

// The same for any strides.
template <class F, class Out, class... In>
void launch_pieces(const Context& context, const F& f, const Strided<1 + sizeof...(In)>& walk,
                   Out* out, const In*... in) {
  for_each_piece(walk, {}, [&](const auto& piece, const auto& start) {
    launch_strided(context, f, piece, start, std::index_sequence_for<In...>{}, out, in...);
  });
}

template <class F, class Out, class... In>
void launch_elementwise(const Context& context, const F& f, const Strided<1 + sizeof...(In)>& walk,
                        Out* out, const In*... in) {
  if (!launch_contiguous(context, f, walk, out, in...)) launch_pieces(context, f, walk, out, in...);
}

inline Elements elements_of(const Tensor& t) {
  return {t.data_ptr(), t.scalar_type(), static_cast<int>(t.element_size())};
}
// The same where elements are of any types, while f takes In and gives Out.
template <class In, class Out, class F, class... Inputs>
void launch_converting(const Context& context, const F& f,
                       const Strided<1 + sizeof...(Inputs)>& walk, const Elements& out,
                       const Inputs&... in) {
  for_each_piece(walk, {}, [&](const auto& piece, const auto& start) {
    const int32_t columns = piece.size[piece.dims - 1], rows = piece.numel / columns;
    const dim3 block = block_of_rows(ceil_div(columns, 2 * kPairs), kElementwiseThreads);
    const int32_t tiles = ceil_div(columns, static_cast<int32_t>(block.x) * 2 * kPairs);
    const int32_t row_blocks = ceil_div(rows, static_cast<int32_t>(block.y));
    [&]<size_t... I>(std::index_sequence<I...>) {
      launch_pdl(elementwise_converting<F, Out, In, Inputs...>,
                 {dim3(static_cast<unsigned>(row_blocks * tiles)), block, 0, context.stream}, f,
                 piece, rows, tiles, out.from(start.at[0]), in.from(start.at[I + 1])...);
    }
    (std::index_sequence_for<Inputs...>{});
  });
}

// The tensors' walk, with `in` broadcast to out's shape.
template <class... Tensors>
Strided<1 + sizeof...(Tensors)> walk_over(const Tensor& out, const Tensors&... in) {
  return collapse<1 + sizeof...(in)>(
      out.sizes(),
      {out.strides(), broadcast_strides("zip", in.sizes(), in.strides(), out.sizes())...});
}

// out[i] = f(in[i]...), any strides. REQUIRES: one device; `in` broadcast to out's shape; out is of
// type Out, all of `in` of type In.
template <class Out, class In, class F, class... Tensors>
void elementwise(const F& f, const Tensor& out, const Tensors&... in) {
  if (out.numel() == 0) return;
  launch_elementwise(Context(out), f, walk_over(out, in...), static_cast<Out*>(out.data_ptr()),
                     static_cast<const In*>(in.data_ptr())...);
}

// Whether all tensors are of one half type.
template <class... Tensors>
bool are_halves(const Tensor& x, const Tensors&... others) {
  return (x.dtype() == kHalf || x.dtype() == kBFloat16) &&
         ((others.scalar_type() == x.scalar_type()) && ...);
}

// out[i] = f(in[i]...) for a function f of floats and tensors of one half type. Returns false, and
// launches nothing, for other types, and where launch_contiguous says so.
template <class F, class... Tensors>
bool launch_halves(const F& f, const Tensor& out, const Tensors&... in) {
  return are_halves(out, in...) &&
         launch_contiguous(Context(out), OfHalves<F>{f, out.dtype() == kBFloat16},
                           walk_over(out, in...), static_cast<uint16_t*>(out.data_ptr()),
                           static_cast<const uint16_t*>(in.data_ptr())...);
}

// out[i] = f(in[i]...) for tensors of type T, where out is of type Out. Half stands for either half
// type, whose numbers f takes and gives as floats. Returns false, and launches nothing, for others.
template <class T, class Out, class F, class... Tensors>
bool elementwise_alike(const F& f, const Tensor& out, const Tensors&... in) {
  if constexpr (is_half<T>) {
    constexpr bool gives_bool = std::is_same_v<Out, bool>;
    if (!are_halves(in...) || !(gives_bool ? out.dtype() == kBool : are_halves(out, in...)))
      return false;
    if (out.numel() == 0) return true;
    const Context context(out);
    const OfHalves<F> of_halves{f, std::get<0>(std::tie(in...)).dtype() == kBFloat16};
    const auto walk = walk_over(out, in...);
    auto* const to = static_cast<std::conditional_t<gives_bool, bool, uint16_t>*>(out.data_ptr());
    // One kernel serves comparisons.
    if constexpr (gives_bool)
      launch_pieces(context, of_halves, walk, to, static_cast<const uint16_t*>(in.data_ptr())...);
    else
      launch_elementwise(context, of_halves, walk, to,
                         static_cast<const uint16_t*>(in.data_ptr())...);
  } else {
    if (out.scalar_type() != dtype_of<Out> || ((in.scalar_type() != dtype_of<T>) || ...))
      return false;
    elementwise<Out, T>(f, out, in...);
  }
  return true;
}

// Errors: TypeError, where a caller breaks the contract of backend.def.
template <class... Tensors>
[[noreturn]] void fail_of_several_types(const Tensor& out, const Tensors&... in) {
  std::string text;
  ((text += ' ', text += short_name(in.scalar_type())), ...);
  fail<TypeError>("an elementwise function of CUDA: operands of dtypes", text, " for a result of ",
                  short_name(out.scalar_type()), "; convert them to one dtype");
}

// The same for a row's function; int64 stands for any integer type that all tensors have.
template <class T, class Out, class F, class... Tensors>
void elementwise_of(const F& row, const Tensor& out, const Tensors&... in) {
  const auto f = row_function<Out, std::conditional_t<true, Computed<T>, Tensors>...>(row);
  if (elementwise_alike<T, Out>(f, out, in...) || out.numel() == 0) return;
  if constexpr (std::is_same_v<T, int64_t>)
    launch_converting<T, Out>(Context(out), f, walk_over(out, in...), elements_of(out),
                              elements_of(in)...);
  else
    fail_of_several_types(out, in...);
}

// The type as which lines of small elements are moved.
struct alignas(kAccessBytes) Wide {
  uint64_t at[kAccessBytes / sizeof(uint64_t)];
};

// Makes units of V neighbours out of the elements of the tensors that `moves` names; the others are
// the same all along the last dimension. False where lines do not consist of such units.
// REQUIRES: the data of these tensors are aligned to units.
template <int N>
bool widen(Strided<N>& walk, int V, const std::array<bool, N>& moves) {
  const int last = walk.dims - 1;
  if (last < 0 || walk.size[last] % V != 0) return false;
  for (int n = 0; n < N; ++n) {
    if (walk.stride[n][last] != (moves[static_cast<size_t>(n)] ? 1 : 0)) return false;
    for (int d = 0; d < last; ++d)
      if (moves[static_cast<size_t>(n)] && walk.stride[n][d] % V != 0) return false;
  }
  for (int n = 0; n < N; ++n)
    for (int d = 0; d < last; ++d)
      if (moves[static_cast<size_t>(n)]) walk.stride[n][d] /= V;
  walk.size[last] /= V;
  walk.numel /= V;
  return true;
}

// A number as the bits of an element of dtype, which has as many.
template <class Bits>
Bits bits_of(const Scalar& number, ScalarType dtype) {
  return visit(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (sizeof(T) == sizeof(Bits))
      return std::bit_cast<Bits>(number.cast<T>());
    else
      return Bits{};
  });
}

}  // namespace gradus::cuda
