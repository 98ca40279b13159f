// PNG, where the build found no libpng.
#include "gradus/data/readers/image.h"

namespace gradus::data::detail {

Tensor decode_png(ArrayRef<uint8_t>, std::string_view name) {
  fail<NotImplementedError>(name, ": this build has no libpng; install libpng-dev and build again");
}

}  // namespace gradus::data::detail
