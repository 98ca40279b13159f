// NVTX: loaded when needed, and told.
#include "gradus/cuda/nvtx.h"

#include "gradus/cuda/rtc/loaded_library.h"

namespace gradus::cuda::nvtx {

namespace {

struct Functions {
  int (*push)(const char* name);
  int (*pop)();
  void (*mark)(const char* name);
};

const Functions& functions() {
  static const Functions loaded = [] {
    const rtc::LoadedLibrary library(
        {"libnvToolsExt.so.1", "libnvToolsExt.so"}, "nvtx: ranges are told to",
        "; install it (Debian: libnvtoolsext1), or set LD_LIBRARY_PATH to the folder lib64 of a "
        "CUDA toolkit up to 12");
    Functions out{};
    library.load(out.push, "nvtxRangePushA");
    library.load(out.pop, "nvtxRangePop");
    library.load(out.mark, "nvtxMarkA");
    return out;
  }();
  return loaded;
}

}  // namespace

void check_available() { functions(); }
void range_push(const std::string& name) { functions().push(name.c_str()); }
void range_pop() { functions().pop(); }
void mark(const std::string& name) { functions().mark(name.c_str()); }

}  // namespace gradus::cuda::nvtx
