#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/philox.h"

namespace gradus::cpu {

namespace {

// A draw costs some ten times an addition.
constexpr int64_t kDrawGrain = kGrain / 8;

template <class T, class F>
void draw(const Tensor& out, PhiloxState state, F element) {
  T* const to = static_cast<T*>(out.data_ptr());
  parallel_for(0, out.numel(), kDrawGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      to[i] = element(philox::words(state.seed, state.offset, static_cast<uint64_t>(i)));
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
