// The CPU as a Backend. A function stands in the file of its name in ops/, but for fill and arange
// (copy.cpp), add_offsets (gather.cpp), count_nonzero and masked_select (nonzero.cpp), ternary
// (zip.cpp), median (select.cpp) and the forms with arg_ or _grad of others.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus::cpu {

class CpuBackend final : public Backend {
 public:
#define FUNCTION(result, name, called, parameters, ...) result name parameters override;
#define MEMORY(...) FUNCTION(__VA_ARGS__)
#define DEFAULT(...) FUNCTION(__VA_ARGS__)
#define DEFAULT_BUT_CPU(...) FUNCTION(__VA_ARGS__)
#include "gradus/tensor/table/backend.def"
};

}  // namespace gradus::cpu
