// The step of an optimizer on the CPU: one loop for all rows of optimizers.def.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/math/optimizers.h"

namespace gradus::cpu {

namespace {

template <UpdateOp op, int states, class T>
void step(const UpdatedParameter& one) {
  T* const parameter = static_cast<T*>(one.parameter.data_ptr());
  const T* const gradient = static_cast<const T*>(one.gradient.data_ptr());
  std::array<T*, kMostStates> state{};
  for (int k = 0; k < states; ++k) state[k] = static_cast<T*>(one.states[k].data_ptr());
  if (one.found_inf.defined() && *one.found_inf.data_ptr<double>() != 0) return;
  const double skipped = one.found_inf.defined() ? *one.skipped.data_ptr<double>() : 0;
  const auto coefficients =
      recounted<op, T>(coefficients_of<op, double>(one.coefficients), skipped);
  parallel_for(0, one.parameter.numel(), kGrain, [&](int64_t begin, int64_t end) {
    for (int k = 0; k < states; ++k)
      if (one.fresh >> k & 1) std::fill(state[k] + begin, state[k] + end, T(0));
    // Copies, which no store below can change, so that the loop becomes vector code.
    const auto c = coefficients;
    const std::array<T*, kMostStates> kept = state;
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      T s[kMostStates];
      for (int k = 0; k < states; ++k) s[k] = kept[k][i];
      UpdateFormula<op>::template step<states>(parameter[i], gradient[i], s, c);
      for (int k = 0; k < states; ++k) kept[k][i] = s[k];
    }
  });
}

}  // namespace

void CpuBackend::update(UpdateOp op, int states, ArrayRef<UpdatedParameter> parameters) {
  visit_update(op, states, [&](auto row, auto count) {
    for (const UpdatedParameter& one : parameters)
      visit_floating("update", one.parameter.dtype(),
                     [&]<class T>(TypeTag<T>) { step<row(), count(), T>(one); });
  });
}

}  // namespace gradus::cpu
