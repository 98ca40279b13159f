#include <cmath>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/draws.h"
#include "gradus/cpu/loops.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/philox.h"

namespace gradus::cpu {

namespace {

// A draw costs some ten times an addition.
constexpr int64_t kDrawGrain = kGrain / 8;
static_assert(kDrawGrain % kPiece == 0 && kPiece % philox::kElementsPerBlock == 0);

// f(first, bits, count): the bits of `count` elements from the first on.
template <class F>
void draw_pieces(const Tensor& out, PhiloxState state, F f) {
  const Draws& draws = draws_of(instruction_set());
  parallel_for(0, out.numel(), kDrawGrain, [&](int64_t begin, int64_t end) {
    uint64_t bits[kPiece];
    for (; begin < end; begin += kPiece) {
      const int64_t count = std::min(kPiece, end - begin);
      draws.bits(state.seed,
                 state.offset + static_cast<uint64_t>(begin / philox::kElementsPerBlock), bits);
      f(begin, bits, count);
    }
  });
}

template <class T, class F>
void draw(const Tensor& out, PhiloxState state, F element) {
  T* const to = static_cast<T*>(out.data_ptr());
  draw_pieces(out, state, [=](int64_t first, const uint64_t* bits, int64_t count) {
    for (int64_t i = 0; i < count; ++i) to[first + i] = element(bits[i]);
  });
}

// philox::normal, whose logarithms and cosines are vector code.
template <class T>
void draw_normal(const Tensor& out, PhiloxState state, double mean, double deviation) {
  T* const to = static_cast<T*>(out.data_ptr());
  const Draws& draws = draws_of(instruction_set());
  const Loop log = map_loop(UnaryOp::log, kDouble).loop;
  const Loop cos = map_loop(UnaryOp::cos, kDouble).loop;
  draw_pieces(out, state, [&](int64_t first, const uint64_t* bits, int64_t count) {
    double radius[kPiece], angle[kPiece];
    draws.polar(count, bits, radius, angle);
    const void* const radii[] = {radius};
    const void* const angles[] = {angle};
    log(count, radius, radii);
    cos(count, angle, angles);
    draws.project(count, radius, angle, mean, deviation, radius);
    for (int64_t i = 0; i < count; ++i) to[first + i] = static_cast<T>(radius[i]);
  });
}

}  // namespace

void CpuBackend::random(Distribution kind, const Scalar& a, const Scalar& b, PhiloxState state,
                        const Tensor& out) {
  switch (kind) {
    case Distribution::uniform:
      return visit_floating("uniform", out.dtype(), [&]<class T>(TypeTag<T>) {
        const T low = a.cast<T>(), high = b.cast<T>();
        draw<T>(out, state, [=](uint64_t bits) { return philox::uniform(bits, low, high); });
      });
    case Distribution::normal:
      return visit_floating("normal", out.dtype(), [&]<class T>(TypeTag<T>) {
        draw_normal<T>(out, state, a.cast<T>(), b.cast<T>());
      });
    case Distribution::randint:
      return visit_numbers("randint", out.dtype(), [&]<class T>(TypeTag<T>) {
        const uint64_t low = static_cast<uint64_t>(a.cast<int64_t>());
        const Remainder within(static_cast<uint64_t>(b.cast<int64_t>()) - low);
        draw<T>(out, state, [=](uint64_t bits) {  // philox::randint
          return static_cast<T>(static_cast<int64_t>(low + within(bits)));
        });
      });
  }
}

}  // namespace gradus::cpu
