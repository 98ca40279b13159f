// out[i] = f(in[i]...) where neighbours of an input are not neighbours of out, as in x + x.t(). A
// thread takes a square. It reads the square along whichever dimension an operand has neighbours
// in, and turns it in its registers.
#pragma once

#include <utility>

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

// The side of a square: a vector of the widest type, and at most 8 elements, for the registers.
template <class... T>
inline constexpr int square_side = std::min(vector_width<T...>, 8);

// A block is kWarpsAcross x kWarpsDown warps of kLanesAcross x kLanesDown squares: operands that
// are turned are read 8 vectors at a time, others 4. Measured on an H100.
inline constexpr int kLanesAcross = 4, kLanesDown = 8;
inline constexpr int kWarpsAcross = 4, kWarpsDown = 2;
inline constexpr int kSquareThreads = 32 * kWarpsAcross * kWarpsDown;
inline constexpr int kSquaresAcross = kLanesAcross * kWarpsAcross;
inline constexpr int kSquaresDown = kLanesDown * kWarpsDown;

template <class T, int S>
struct Square {
  Vector<T, S> line[S];
};

// The lines of the square at `from`: its columns or, where it is turned, its rows.
template <int S, class T>
__device__ Square<T, S> load_square(const T* from, int64_t step) {
  Square<T, S> out;
#pragma unroll
  for (int k = 0; k < S; ++k) out.line[k] = load_vector<S>(from + k * step);
  return out;
}

// Stores like store_vector, of which nvcc makes stores of single elements here. `Bits`: as many
// bytes.
template <class Bits, class Line>
__device__ void store_bits(void* to, const Line& line) {
  static_assert(sizeof(Bits) == sizeof line);
  Bits bits;
  memcpy(&bits, &line, sizeof bits);
  __stcg(static_cast<Bits*>(to), bits);
}
template <int S, class T>
__device__ void store_line(T* to, const Vector<T, S>& line) {
  if constexpr (sizeof line == sizeof(uint4))
    store_bits<uint4>(to, line);
  else if constexpr (sizeof line == sizeof(uint2))
    store_bits<uint2>(to, line);
  else
    store_vector(to, line);
}

// Writes f of the squares line by line, `step` apart.
template <int S, class Turned, class F, class Out, size_t... I, class... In>
__device__ void apply_squares(const F& f, const Turned& turned, Out* out, int64_t step,
                              std::index_sequence<I...>, const Square<In, S>&... square) {
#pragma unroll
  for (int r = 0; r < S; ++r) {
    Vector<Out, S> line;
#pragma unroll
    for (int c = 0; c < S; ++c)
      line.at[c] = f((turned[I] ? square.line[c].at[r] : square.line[r].at[c])...);
    store_line(out + r * step, line);
  }
}

template <class Turned, class F, int N, size_t... I, class Out, class... In>
__device__ void start_squares(const F& f, const Turned& turned, const Strided<N>& walk,
                              const Offsets<N, int64_t>& at, std::index_sequence<I...> all,
                              Out* out, const In*... in) {
  constexpr int S = square_side<Out, In...>;
  const int last = walk.dims - 1;
  apply_squares<S>(
      f, turned, out + at.at[0], walk.stride[0][last - 1], all,
      load_square<S>(in + at.at[I + 1], walk.stride[I + 1][turned[I] ? last : last - 1])...);
}

// The last dimension of the walk is its columns, the one before its rows, all others matrices.
// Columns have stride 1 in out. Columns have stride 1 in an input, too, or rows do where turned[n].
// REQUIRES: pointers, all other strides and both sizes are multiples of S elements.
template <class Turned, class F, class Out, class... In>
__global__ void __launch_bounds__(kSquareThreads)
    elementwise_squares(F f, Turned turned, Strided<1 + sizeof...(In)> walk, Out* out,
                        const In*... in) {
  wait_for_earlier_kernels();
  constexpr int S = square_side<Out, In...>;
  const int last = walk.dims - 1, warp = static_cast<int>(threadIdx.x) / 32,
            lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int kAcross = S * kSquaresAcross, kDown = S * kSquaresDown;
  const int64_t rows = walk.size[last - 1], columns = walk.size[last];
  const int64_t across = (columns + kAcross - 1) / kAcross, down = (rows + kDown - 1) / kDown;
  const int64_t block = blockIdx.x, strip = block / across, matrix = strip / down;
  const int64_t column = (block - strip * across) * kAcross +
                         S * (warp % kWarpsAcross * kLanesAcross + lane % kLanesAcross);
  const int64_t row = (strip - matrix * down) * kDown +
                      S * (warp / kWarpsAcross * kLanesDown + lane / kLanesAcross);
  if (row >= rows || column >= columns) return;
  auto at = offsets_of(walk, last - 1, matrix);
#pragma unroll
  for (int n = 0; n < 1 + static_cast<int>(sizeof...(In)); ++n)
    at.at[n] += row * walk.stride[n][last - 1] + column * walk.stride[n][last];

  start_squares(f, turned, walk, at, std::index_sequence_for<In...>{}, out, in...);
}

}  // namespace gradus::cuda
