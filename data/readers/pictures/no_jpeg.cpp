// JPEG, where the build found no libjpeg-turbo.
#include "gradus/data/readers/image.h"

namespace gradus::data::detail {

Tensor decode_jpeg(ArrayRef<uint8_t>, std::string_view name) {
  fail<NotImplementedError>(
      name, ": this build has no libjpeg-turbo; install libjpeg-dev and build again");
}

}  // namespace gradus::data::detail
