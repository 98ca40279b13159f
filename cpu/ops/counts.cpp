// Random counts (CountOp), each drawn from random numbers of its own.
#include "gradus/tensor/math/counts.h"

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/draws.h"
#include "gradus/tensor/math/convert.h"

namespace gradus::cpu {

namespace {

// Elements that a thread takes at once: a count costs some hundred times an addition.
constexpr int64_t kElements = kGrain / 64, kAhead = philox::kElementsPerBlock;
static_assert(kAhead * kElements % kPiece == 0);

// Elements from `begin` to `end`. The first two numbers of each, which often are enough, are drawn
// for all of them at once. All that is called is inlined, so that these stay in registers.
template <CountOp op, class S, class... X>
__attribute__((flatten)) void count_run(PhiloxState state, uint64_t key, int64_t begin, int64_t end,
                                        S* out, const X*... x) {
  double ahead[kAhead * kElements];
  table_of<Draws>().random(Distribution::uniform, 0.0, 1.0,
                           {state, kAhead * begin, kAhead * (end - begin), kDouble,
                            reinterpret_cast<std::byte*>(ahead), nullptr});
  for (int64_t i = begin; i < end; ++i) {
    const double* const first = ahead + kAhead * (i - begin);
    counts::UniformPairs uniforms({first[0], first[1]}, key, i);
    out[i] = convert<S>(counts::draw<op>(uniforms, convert<double>(x[i])...));
  }
}

template <CountOp op, class S, class... X>
void count_all(PhiloxState state, const Tensor& out, const X*... x) {
  const uint64_t key = philox::words(state.seed, state.offset++, 0).joined();
  S* const to = static_cast<S*>(out.data_ptr());
  parallel_for(0, out.numel(), kElements, [=](int64_t begin, int64_t end) {
    count_run<op>(state, key, begin, end, to, x...);
  });
}

}  // namespace

void CpuBackend::count(CountOp op, PhiloxState state, const Tensor& x, const Tensor& y,
                       const Tensor& out) {
  visit(out.scalar_type(), [&]<class S>(TypeTag<S>) {
    if constexpr (isFloatingType(dtype_of<S>)) {
      const S* const numbers = static_cast<const S*>(x.data_ptr());
      if (op == CountOp::poisson)
        count_all<CountOp::poisson, S>(state, out, numbers);
      else
        count_all<CountOp::binomial, S>(state, out, numbers, static_cast<const S*>(y.data_ptr()));
    }
  });
}

}  // namespace gradus::cpu
