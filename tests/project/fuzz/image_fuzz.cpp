// Any bytes as a picture: an Error, or a tensor of pixels.
#include "gradus/data/readers/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  try {
    gradus::data::decode_image({bytes, count}, "input", gradus::data::ImageMode::kRgb);
  } catch (const gradus::Error&) {
  }
  return 0;
}
