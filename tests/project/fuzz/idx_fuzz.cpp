// Any bytes as an IDX file, and as the contents of a gzip one: an Error, or an array whose sizes
// and bytes agree.
#include <cstdlib>

#include "gradus/data/datasets/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  try {
    const gradus::data::IdxArray array = gradus::data::parse_idx({bytes, count}, "input");
    if (gradus::checked_numel("fuzz", array.sizes) != static_cast<int64_t>(array.bytes.size()))
      std::abort();
  } catch (const gradus::Error&) {
  }
  return 0;
}
