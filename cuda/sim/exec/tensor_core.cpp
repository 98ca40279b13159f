// Computes the products of fragments, as tensor cores do.
#include <sim/tensor_core.h>
#include <sim/wmma.h>

#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

namespace {
// Tensor cores ignore the last 13 bits of a float.
double tf32(uint32_t bits) { return value_of<float>(bits & 0xffffe000u); }
}  // namespace

// c += a b of the whole warp. `lanes` are the addresses of their Fragments.
void multiply_fragments(const uint64_t (&lanes)[kWarp]) {
  double a[16][8], b[8][8];
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const Fragments& from = *value_of<const Fragments*>(lanes[lane]);
    const unsigned group = lane / 4, member = lane % 4;
    for (unsigned i = 0; i < 4; ++i) a[group + i % 2 * 8][member + i / 2 * 4] = tf32(from.a[i]);
    for (unsigned i = 0; i < 2; ++i) b[member + i * 4][group] = tf32(from.b[i]);
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    Fragments& to = *value_of<Fragments*>(lanes[lane]);
    for (unsigned i = 0; i < 4; ++i) {
      double sum = static_cast<double>(to.c[i]);
      for (unsigned k = 0; k < 8; ++k)
        sum += a[lane / 4 + i / 2 * 8][k] * b[k][lane % 4 * 2 + i % 2];
      to.c[i] = static_cast<float>(sum);
    }
  }
}

// c += a b of the whole warp. `lanes` are the addresses of their MatrixFragments.
void multiply_matrices(const uint64_t (&lanes)[kWarp]) {
  double a[16][16], b[16][16];
  const auto put = [](double(&to)[16][16], FragmentPlace place, bool of_columns, float x) {
    (of_columns ? to[place.at][place.line] : to[place.line][place.at]) = static_cast<double>(x);
  };
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const auto& from = *value_of<const MatrixFragments*>(lanes[lane]);
    for (unsigned i = 0; i < 8; ++i) {
      const FragmentPlace place = fragment_place(lane, i, 2);
      put(a, place, from.a_of_columns, from.a[i]);
      put(b, place, from.b_of_columns, from.b[i]);
    }
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    auto& to = *value_of<MatrixFragments*>(lanes[lane]);
    for (unsigned i = 0; i < 8; ++i) {
      const FragmentPlace place = fragment_place(lane, i, to.c_bytes);
      double sum = static_cast<double>(to.c[i]);
      for (unsigned k = 0; k < 16; ++k) sum += a[place.line][k] * b[k][place.at];
      to.c[i] = static_cast<float>(sum);
    }
  }
}

}  // namespace gradus::cuda::sim
