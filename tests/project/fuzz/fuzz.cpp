// Any bytes given to the reader GRADUS_READER: an Error, or what the reader promises.
#include <algorithm>

#include "readers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  using gradus::readers::kReaders;
  static const auto* const reader = std::ranges::find_if(
      kReaders, [](const auto& r) { return std::string_view(r.name) == GRADUS_READER; });
  try {
    reader->read({bytes, count});
  } catch (const gradus::Error&) {
  }
  return 0;
}
