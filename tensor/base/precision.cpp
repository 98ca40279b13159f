// The precision of float32 products and convolutions.
#include "gradus/tensor/base/precision.h"

#include <array>
#include <atomic>

#include "gradus/tensor/base/error.h"

namespace gradus {

namespace {
constexpr std::array<std::string_view, 3> kPrecisions = {"highest", "high", "medium"};
std::atomic<Float32MatmulPrecision> matmul_precision = Float32MatmulPrecision::HIGHEST;
std::atomic<bool> tf32_convolutions = false;
}  // namespace

namespace detail {
Float32MatmulPrecision float32_matmul_precision() { return matmul_precision; }
void set_float32_matmul_precision(Float32MatmulPrecision precision) {
  matmul_precision = precision;
}
bool allows_tf32_convolutions() { return tf32_convolutions; }
void allow_tf32_convolutions(bool allow) { tf32_convolutions = allow; }
}  // namespace detail

void set_float32_matmul_precision(std::string_view precision) {
  for (size_t i = 0; i < kPrecisions.size(); ++i)
    if (kPrecisions[i] == precision)
      return detail::set_float32_matmul_precision(static_cast<Float32MatmulPrecision>(i));
  fail<ValueError>("set_float32_matmul_precision: precision is '", precision,
                   "'; expected highest, high or medium");
}
std::string get_float32_matmul_precision() {
  return std::string(kPrecisions[static_cast<size_t>(detail::float32_matmul_precision())]);
}

}  // namespace gradus
