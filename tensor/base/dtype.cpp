// The names of dtypes, and the default dtype.
#include "gradus/tensor/base/dtype.h"

#include <atomic>
#include <ostream>

namespace gradus {

const char* toString(ScalarType dtype) {
  switch (dtype) {
#define DTYPE(name, type, short_name, kind, computed) \
  case ScalarType::name:                              \
    return #name;
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  }
  return "Undefined";
}

std::string_view short_name(ScalarType dtype) {
  switch (dtype) {
#define DTYPE(name, type, short_name, kind, computed) \
  case ScalarType::name:                              \
    return #short_name;
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  }
  return "undefined";
}

std::ostream& operator<<(std::ostream& out, Half x) { return out << static_cast<float>(x); }
std::ostream& operator<<(std::ostream& out, BFloat16 x) { return out << static_cast<float>(x); }
std::ostream& operator<<(std::ostream& out, ScalarType dtype) { return out << toString(dtype); }

namespace {
std::atomic<ScalarType> default_dtype{kFloat};
}

ScalarType get_default_dtype_as_scalartype() {
  return default_dtype.load(std::memory_order_relaxed);
}

void set_default_dtype(ScalarType dtype) {
  check<TypeError>(isFloatingType(dtype), "set_default_dtype: ", dtype,
                   " is not a floating point type; pass kFloat or kDouble");
  default_dtype.store(dtype, std::memory_order_relaxed);
}

}  // namespace gradus
