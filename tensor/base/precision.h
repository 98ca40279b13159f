// How exact products of float32 must be: torch.set_float32_matmul_precision.
#pragma once

#include <string>
#include <string_view>

namespace gradus {

enum class Float32MatmulPrecision { HIGHEST, HIGH, MEDIUM };

// "highest", the default: as exact as float32. "high" and "medium" let a GPU round the operands to
// TF32, which keeps 10 bits of the fraction; sums stay in float32. The setting holds for the whole
// process.
// Errors: ValueError for another name.
void set_float32_matmul_precision(std::string_view precision);
std::string get_float32_matmul_precision();

namespace detail {
Float32MatmulPrecision float32_matmul_precision();
void set_float32_matmul_precision(Float32MatmulPrecision precision);
// The same permission for convolutions; at first there is none.
bool allows_tf32_convolutions();
void allow_tf32_convolutions(bool allow);
}  // namespace detail

}  // namespace gradus
