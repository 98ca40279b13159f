// The loops around the products of Winograd's convolutions for one instruction set. The points of
// the tile d and the weight g are B^T d B and G g G^T. The output is A^T (their products) A. The
// gradient of g is bilinear in the same way: G^T ((A y A^T) (B^T d B)) G.
#include "gradus/cpu/simd/winograd_loops.h"

#include <utility>

#include "gradus/cpu/simd/set.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

constexpr int kTileLanes = GRADUS_VECTOR / static_cast<int>(sizeof(float));
typedef float Tiles __attribute__((vector_size(GRADUS_VECTOR), aligned(sizeof(float)), may_alias));
using TileLanes = std::make_integer_sequence<int, kTileLanes>;

GRADUS_TARGET inline Tiles load_tiles(const float* x) { return *reinterpret_cast<const Tiles*>(x); }
GRADUS_TARGET inline void store_tiles(float* x, const Tiles& v) {
  *reinterpret_cast<Tiles*>(x) = v;
}

// Every second lane of a and b, from the first or the second one on.
template <int first, int... lane>
GRADUS_TARGET inline Tiles every_second(const Tiles& a, const Tiles& b,
                                        std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(a, b, (2 * lane + first)...);
}
// Lanes of a and b in turns, from lane `first` on.
template <int first, int... lane>
GRADUS_TARGET inline Tiles in_turns(const Tiles& a, const Tiles& b,
                                    std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(a, b, (first + lane / 2 + lane % 2 * kTileLanes)...);
}

// A line of a transformation: three or four elements to four, or back.
GRADUS_TARGET inline void by_b(const Tiles (&d)[4], Tiles (&out)[4]) {
  out[0] = d[0] - d[2], out[1] = d[1] + d[2], out[2] = d[2] - d[1], out[3] = d[1] - d[3];
}
GRADUS_TARGET inline void by_g(const Tiles (&g)[3], Tiles (&out)[4]) {
  const Tiles ends = g[0] + g[2];
  out[0] = g[0], out[1] = (ends + g[1]) * 0.5f, out[2] = (ends - g[1]) * 0.5f, out[3] = g[2];
}
GRADUS_TARGET inline void by_a(const Tiles (&y)[2], Tiles (&out)[4]) {
  out[0] = y[0], out[1] = y[0] + y[1], out[2] = y[0] - y[1], out[3] = -y[1];
}
GRADUS_TARGET inline void back_by_a(const Tiles (&m)[4], Tiles (&out)[2]) {
  out[0] = m[0] + m[1] + m[2], out[1] = m[1] - m[2] - m[3];
}
GRADUS_TARGET inline void back_by_g(const Tiles (&u)[4], Tiles (&out)[3]) {
  const Tiles sum = (u[1] + u[2]) * 0.5f;
  out[0] = u[0] + sum, out[1] = (u[1] - u[2]) * 0.5f, out[2] = sum + u[3];
}

// The same for the columns of a square, and then for its lines.
template <int from, int to>
GRADUS_TARGET __attribute__((always_inline)) inline void on_both_sides(
    void (*const line)(const Tiles (&)[from], Tiles (&)[to]), const Tiles (&x)[from][from],
    Tiles (&out)[to][to]) {
  Tiles half[from][to];
  for (int i = 0; i < from; ++i) line(x[i], half[i]);
  for (int j = 0; j < to; ++j) {
    Tiles column[from], all[to];
    for (int i = 0; i < from; ++i) column[i] = half[i][j];
    line(column, all);
    for (int i = 0; i < to; ++i) out[i][j] = all[i];
  }
}

GRADUS_TARGET inline void store_points(const Tiles (&x)[4][4], float* out, int64_t point) {
#pragma GCC unroll 16
  for (int t = 0; t < 16; ++t) store_tiles(out + t * point, x[t / 4][t % 4]);
}

// Neighbours of a line from `from` on: those at even places, and those at odd ones.
GRADUS_TARGET inline void load_halves(const float* from, Tiles& even, Tiles& odd) {
  const Tiles a = load_tiles(from), b = load_tiles(from + kTileLanes);
  even = every_second<0>(a, b, TileLanes()), odd = every_second<1>(a, b, TileLanes());
}

GRADUS_TARGET void input_points(int64_t tiles, const float* x, const TileLines& at, float* out,
                                int64_t point) {
  for (int64_t tile = 0; tile < tiles; tile += kTileLanes) {
    Tiles seen[4][4], points[4][4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const float* const line = x + i % 2 * at.odd + i / 2 * at.below + 2 * tile;
      load_halves(line, seen[i][0], seen[i][1]);
      load_halves(line + at.right, seen[i][2], seen[i][3]);
    }
    on_both_sides<4, 4>(by_b, seen, points);
    store_points(points, out + tile, point);
  }
}

GRADUS_TARGET void grad_points(int64_t tiles, const float* x, const TileLines& at, float* out,
                               int64_t point) {
  for (int64_t tile = 0; tile < tiles; tile += kTileLanes) {
    Tiles seen[2][2], points[4][4];
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      load_halves(x + i * at.odd + 2 * tile, seen[i][0], seen[i][1]);
    }
    on_both_sides<2, 4>(by_a, seen, points);
    store_points(points, out + tile, point);
  }
}

GRADUS_TARGET void output_of_points(int64_t tiles, const float* from, int64_t point, float bias,
                                    float* x, int64_t row) {
  for (int64_t at = 0; at < tiles; at += kTileLanes) {
    Tiles points[4][4], out[2][2];
#pragma GCC unroll 16
    for (int t = 0; t < 16; ++t) points[t / 4][t % 4] = load_tiles(from + t * point + at);
    on_both_sides<4, 2>(back_by_a, points, out);
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      float* const line = x + i * row + 2 * at;
      const Tiles a = out[i][0] + bias, b = out[i][1] + bias;
      store_tiles(line, in_turns<0>(a, b, TileLanes()));
      store_tiles(line + kTileLanes, in_turns<kTileLanes / 2>(a, b, TileLanes()));
    }
  }
}

GRADUS_TARGET void weight_points(int64_t count, const float* weight, int64_t step, bool turned,
                                 float* out, int64_t point) {
  for (int64_t at = 0; at < count; at += kTileLanes) {
    const int64_t some = count - at < kTileLanes ? count - at : kTileLanes;
    float taps[3][3][kTileLanes] = {};
    for (int64_t l = 0; l < some; ++l)
      for (int k = 0; k < 9; ++k)
        taps[k / 3][k % 3][l] = weight[(at + l) * step + (turned ? 8 - k : k)];
    Tiles seen[3][3], points[4][4];
    for (int k = 0; k < 9; ++k) seen[k / 3][k % 3] = load_tiles(taps[k / 3][k % 3]);
    on_both_sides<3, 4>(by_g, seen, points);
    if (some == kTileLanes) {
      store_points(points, out + at, point);
    } else {
      for (int t = 0; t < 16; ++t)
        for (int64_t l = 0; l < some; ++l) out[t * point + at + l] = points[t / 4][t % 4][l];
    }
  }
}

GRADUS_TARGET void weight_grad_of_points(int64_t count, const float* from, int64_t point,
                                         int64_t parts, int64_t part, float* weight) {
  for (int64_t at = 0; at < count; at += kTileLanes) {
    const int64_t some = count - at < kTileLanes ? count - at : kTileLanes;
    Tiles points[4][4] = {}, out[3][3];
    for (int64_t p = 0; p < parts; ++p)
      for (int t = 0; t < 16; ++t)
        points[t / 4][t % 4] += load_tiles(from + p * part + t * point + at);
    on_both_sides<4, 3>(back_by_g, points, out);
    for (int64_t l = 0; l < some; ++l)
      for (int k = 0; k < 9; ++k) weight[(at + l) * 9 + k] = out[k / 3][k % 3][l];
  }
}

}  // namespace
}  // namespace GRADUS_SET

const WinogradLoops& WinogradLoops::GRADUS_SET() {
  namespace set = cpu::GRADUS_SET;
  static constexpr WinogradLoops loops = {set::input_points, set::grad_points,
                                          set::output_of_points, set::weight_points,
                                          set::weight_grad_of_points};
  return loops;
}

}  // namespace gradus::cpu
