// Random tensors, and maps of tensors by random numbers.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/draws.h"
#include "gradus/tensor/math/philox.h"

namespace gradus::cpu {

namespace {

// A draw costs some ten times an addition.
constexpr int64_t kDrawGrain = kGrain / 8;
static_assert(kDrawGrain % kPiece == 0 && kPiece % philox::kElementsPerBlock == 0);

// draw(run) for parts of `out`, and of `in` where that is not null.
template <class Draw>
void draw_all(PhiloxState state, const void* in, const Tensor& out, Draw draw) {
  parallel_for(0, out.numel(), kDrawGrain, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * static_cast<int64_t>(out.element_size());
    draw(DrawnRun{state, begin, end - begin, out.scalar_type(),
                  static_cast<std::byte*>(out.data_ptr()) + at,
                  in ? static_cast<const std::byte*>(in) + at : nullptr});
  });
}

}  // namespace

void CpuBackend::random(Distribution kind, const Scalar& a, const Scalar& b, PhiloxState state,
                        const Tensor& out) {
  const auto random = table_of<Draws>().random;
  draw_all(state, nullptr, out, [&](const DrawnRun& run) { random(kind, a, b, run); });
}

void CpuBackend::random_map(RandomMap op, double number, PhiloxState state, const Tensor& x,
                            const Tensor& out) {
  const auto random_map = table_of<Draws>().random_map;
  draw_all(state, x.data_ptr(), out, [&](const DrawnRun& run) { random_map(op, number, run); });
}

}  // namespace gradus::cpu
