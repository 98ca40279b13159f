// Padding, as a function (nn::functional).
#pragma once

#include <vector>

#include "gradus/tensor/base/option.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

// torch::kConstant, kReflect, kReplicate, kCircular: what stands beyond the border.
enum class PaddingMode : uint8_t { Constant, Reflect, Replicate, Circular };
inline constexpr PaddingMode kConstant = PaddingMode::Constant, kReflect = PaddingMode::Reflect,
                             kReplicate = PaddingMode::Replicate, kCircular = PaddingMode::Circular;

namespace nn::functional {

struct PadFuncOptions {
  // {before, after} of the last dimension, then of the one before it, ...; negative: cut off.
  // `value` is that of kConstant.
  GRADUS_OPTIONS(PadFuncOptions, ARGUMENT(std::vector<int64_t>, pad),
                 OPTION(PaddingMode, mode, kConstant), OPTION(double, value, 0));
};

// Errors: ValueError where pad does not fit the input, NotImplementedError where the mode is not
// made for so many dimensions.
Tensor pad(const Tensor& input, const PadFuncOptions& options);

}  // namespace nn::functional
}  // namespace gradus
