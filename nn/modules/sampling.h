// F::grid_sample and F::affine_grid: images read at any places.
#pragma once

#include "gradus/nn/modules/padding.h"
#include "gradus/nn/modules/upsampling.h"

namespace gradus::nn::functional {

// mode: kBilinear (trilinear in three dimensions), kNearest, or kBicubic in two dimensions.
// padding_mode, for places beyond the border: kZeros, kBorder or kReflection. align_corners: -1 and
// 1 are the centers of the outermost pixels, not their borders.
struct GridSampleFuncOptions {
  GRADUS_OPTIONS(GridSampleFuncOptions, OPTION(InterpolationMode, mode, kBilinear),
                 OPTION(PaddingMode, padding_mode, kZeros),
                 OPTION(std::optional<bool>, align_corners, {}));
};

// input (N, C, H, W), grid (N, h, w, 2) of places (x, y) from -1 to 1 -> (N, C, h, w); in three
// dimensions input (N, C, D, H, W), grid (N, d, h, w, 3) of places (x, y, z).
// Errors: ValueError for other shapes or modes.
Tensor grid_sample(const Tensor& input, const Tensor& grid,
                   const GridSampleFuncOptions& options = {});

// A grid for grid_sample: where theta, (N, 2, 3) or (N, 3, 4), maps the places of an image of this
// size, (N, C, H, W) or (N, C, D, H, W). Errors: ValueError for other shapes.
Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners = false);

}  // namespace gradus::nn::functional
