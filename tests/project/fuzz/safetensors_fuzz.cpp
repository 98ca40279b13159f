// Any bytes as a safetensors file: an Error, or tensors that are written and read back the same.
#include <cstdlib>
#include <cstring>
#include <string>

#include "gradus/serialize/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count);

namespace {
gradus::serialize::SafetensorsContents read(const char* bytes, size_t size) {
  return gradus::serialize::read_safetensors(
      [&](uint64_t position, void* to, size_t count) {
        if (position > size || count > size - position) std::abort();
        std::memcpy(to, bytes + position, count);
      },
      size, "input");
}
}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  try {
    const auto first = read(reinterpret_cast<const char*>(bytes), count);
    std::string written;
    gradus::serialize::write_safetensors(
        [&](const void* from, size_t n) { written.append(static_cast<const char*>(from), n); },
        first.tensors, first.metadata);
    const auto second = read(written.data(), written.size());
    if (first.metadata != second.metadata || first.tensors.keys() != second.tensors.keys())
      std::abort();
    for (const auto& item : first.tensors) {
      const gradus::Tensor &a = item.value(), &b = second.tensors[item.key()];
      if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) std::abort();
      if (a.nbytes() > 0 && std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) != 0) std::abort();
    }
  } catch (const gradus::Error&) {
  }
  return 0;
}
