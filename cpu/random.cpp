#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/philox.h"

namespace gradus::cpu {

namespace {

// A draw costs some ten times an addition.
constexpr int64_t kDrawGrain = kGrain / 8;
// Elements whose bits are drawn before the first is made of them, so that both become vector code.
constexpr int64_t kPiece = 256;
static_assert(kDrawGrain % kPiece == 0 && kPiece % philox::kElementsPerBlock == 0);

template <class T, class F>
void draw(const Tensor& out, PhiloxState state, F element) {
  T* const to = static_cast<T*>(out.data_ptr());
  parallel_for(0, out.numel(), kDrawGrain, [&](int64_t begin, int64_t end) {
    uint64_t bits[kPiece];
    for (; begin < end; begin += kPiece) {
      constexpr int kEach = philox::kElementsPerBlock;
      const uint64_t counter = state.offset + static_cast<uint64_t>(begin / kEach);
      const int64_t count = std::min(kPiece, end - begin);
      for (int64_t i = 0; i < divide_up(count, kEach); ++i) {
        const philox::Block block = philox::block(state.seed, counter + static_cast<uint64_t>(i));
        for (int lane = 0; lane < kEach; ++lane) bits[i * kEach + lane] = words(block, lane);
      }
      for (int64_t i = 0; i < count; ++i) to[begin + i] = element(bits[i]);
    }
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
        const T mean = a.cast<T>(), deviation = b.cast<T>();
        draw<T>(out, state, [=](uint64_t bits) { return philox::normal(bits, mean, deviation); });
      });
    case Distribution::randint:
      return visit_numbers("randint", out.dtype(), [&]<class T>(TypeTag<T>) {
        const int64_t low = a.cast<int64_t>(), high = b.cast<int64_t>();
        draw<T>(out, state,
                [=](uint64_t bits) { return static_cast<T>(philox::randint(bits, low, high)); });
      });
  }
}

}  // namespace gradus::cpu
