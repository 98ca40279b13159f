// The Backend on CUDA devices. The file ops/NAME.cu holds the function NAME. Exceptions: where,
// gather and add_offsets (index.cu), arange and linspace (fill.cu), count_nonzero, run_starts,
// distinct, masked_select and masked_scatter (nonzero.cu), variance, norm and aminmax (reduce.cu),
// median and mode (select.cu), and names with arg_ or _grad, which stand beside the name without.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus::cuda {

class CudaBackend final : public Backend {
 public:
#define ROW(result, name, called, parameters, ...) result name parameters override;
#define DEFAULT_BUT_CPU(...)
#include "gradus/tensor/table/backend.def"
};

}  // namespace gradus::cuda
