// One step of SGD.
#include "gradus/tensor/math/sgd.h"

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"

namespace gradus::cpu {

void CpuBackend::sgd(const SgdSettings& settings, ArrayRef<SgdParameter> parameters) {
  for (const SgdParameter& one : parameters)
    visit_floating("sgd", one.parameter.dtype(), [&]<class T>(TypeTag<T>) {
      const SgdCoefficients<T> coefficients(settings);
      T* const parameter = static_cast<T*>(one.parameter.data_ptr());
      const T* const gradient = static_cast<const T*>(one.gradient.data_ptr());
      T* const buffer = one.buffer.defined() ? static_cast<T*>(one.buffer.data_ptr()) : nullptr;
      parallel_for(0, one.parameter.numel(), kGrain, [&](int64_t begin, int64_t end) {
        // A copy, which no store below can change, and a loop each, so that both vectorise.
        const SgdCoefficients<T> c = coefficients;
        if (buffer)
          for (int64_t i = begin; i < end; ++i)
            sgd_update(parameter[i], gradient[i], buffer + i, c);
        else
          for (int64_t i = begin; i < end; ++i)
            sgd_update<T>(parameter[i], gradient[i], nullptr, c);
      });
    });
}

}  // namespace gradus::cpu
