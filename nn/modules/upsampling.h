// Upsample and F::interpolate: images of other sizes.
#pragma once

#include <vector>

#include "gradus/nn/layer.h"
#include "gradus/nn/nonlinearity.h"

namespace gradus {

// torch::kNearest, kNearestExact, kBilinear, kBicubic, kTrilinear, kArea; kLinear is also one.
enum class Interpolation : uint8_t {
  Nearest,
  NearestExact,
  Linear,
  Bilinear,
  Bicubic,
  Trilinear,
  Area
};
inline constexpr Interpolation kNearest = Interpolation::Nearest,
                               kNearestExact = Interpolation::NearestExact,
                               kBilinear = Interpolation::Bilinear,
                               kBicubic = Interpolation::Bicubic,
                               kTrilinear = Interpolation::Trilinear, kArea = Interpolation::Area;

namespace nn {

// One of these constants. Errors: ValueError for another one than kLinear of nonlinearity.h.
struct InterpolationMode {
  InterpolationMode(Interpolation mode) : value(mode) {}  // NOLINT: implicit
  InterpolationMode(Nonlinearity linear);                 // NOLINT: implicit
  bool operator==(const InterpolationMode&) const = default;
  // "kBilinear"
  const char* name() const;

  Interpolation value;
};

// Either size or scale_factor is given, with a number for each spatial dimension.
struct UpsampleOptions {
  GRADUS_OPTIONS(UpsampleOptions, OPTION(std::optional<std::vector<int64_t>>, size, {}),
                 OPTION(std::optional<std::vector<double>>, scale_factor, {}),
                 OPTION(InterpolationMode, mode, kNearest),
                 OPTION(std::optional<bool>, align_corners, {}));
};

namespace functional {

// align_corners, of the linear and cubic modes: the outermost pixels keep their centers. Otherwise
// the borders of the outermost pixels stay where they are.
// recompute_scale_factor: positions follow from the sizes, and not from scale_factor.
// antialias, of kBilinear and kBicubic: a smaller image averages over all pixels.
struct InterpolateFuncOptions {
  GRADUS_OPTIONS(InterpolateFuncOptions, OPTION(std::optional<std::vector<int64_t>>, size, {}),
                 OPTION(std::optional<std::vector<double>>, scale_factor, {}),
                 OPTION(InterpolationMode, mode, kNearest),
                 OPTION(std::optional<bool>, align_corners, {}),
                 OPTION(std::optional<bool>, recompute_scale_factor, {}),
                 OPTION(bool, antialias, false));
};

// (N, C, spatial dimensions) -> (N, C, other sizes); 1 to 3 spatial dimensions, of which kLinear
// takes 1, kBilinear and kBicubic 2, kTrilinear 3. Weights and positions are PyTorch's.
// Errors: ValueError for other inputs or options.
Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});

}  // namespace functional

// Shapes are those of F::interpolate.
// Errors: ValueError for an undefined input, and those of F::interpolate.
struct UpsampleImpl : Layer<UpsampleImpl, UpsampleOptions> {
  using Layer::Layer;
  // "Upsample(scale_factor=[2, 2], mode=kBilinear)"
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
GRADUS_MODULE(Upsample);

}  // namespace nn
}  // namespace gradus
