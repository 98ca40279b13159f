// The CPU as a Backend. The file ops/NAME.cpp holds the function NAME. Exceptions: fill and arange
// (copy.cpp), add_offsets (gather.cpp), count_nonzero and masked_select (nonzero.cpp), ternary
// (zip.cpp), median (select.cpp), those of cpu/convolution, cpu/fft and cpu/matmul, and names with
// arg_ or _grad, which stand beside the name without.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus::cpu {

class CpuBackend final : public Backend {
 public:
#define ROW(result, name, called, parameters, ...) result name parameters override;
#define DEFAULT_BUT_CUDA(...)
#include "gradus/tensor/table/backend.def"
};

}  // namespace gradus::cpu
