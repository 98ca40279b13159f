// Any bytes as an array of NumPy, and as an archive of several: an Error, or tensors.
#include "gradus/data/readers/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  try {
    gradus::data::parse_npy({bytes, count}, "input");
  } catch (const gradus::Error&) {
  }
  try {
    gradus::data::parse_npz({bytes, count}, "input");
  } catch (const gradus::Error&) {
  }
  return 0;
}
