// PixelShuffle and PixelUnshuffle: channels as pixels, and back. ChannelShuffle: channels in turns.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

struct PixelShuffleOptions {
  GRADUS_OPTIONS(PixelShuffleOptions, ARGUMENT(int64_t, upscale_factor));
};
struct PixelUnshuffleOptions {
  GRADUS_OPTIONS(PixelUnshuffleOptions, ARGUMENT(int64_t, downscale_factor));
};
struct ChannelShuffleOptions {
  GRADUS_OPTIONS(ChannelShuffleOptions, ARGUMENT(int64_t, groups));
};

namespace functional {
using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;
// (..., C r^2, H, W) -> (..., C, H r, W r) for a factor r
inline Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options) {
  return gradus::pixel_shuffle(input, options.upscale_factor());
}
// (..., C, H r, W r) -> (..., C r^2, H, W)
inline Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options) {
  return gradus::pixel_unshuffle(input, options.downscale_factor());
}
using ChannelShuffleFuncOptions = ChannelShuffleOptions;
// (N, C, ...) -> (N, C, ...): the first channel of each group, then the second of each, ...
inline Tensor channel_shuffle(const Tensor& input, const ChannelShuffleFuncOptions& options) {
  return gradus::channel_shuffle(input, options.groups());
}
}  // namespace functional

// Shapes are those of the functions.
// Errors: ValueError for an undefined input, and sizes that the factor or number of groups does not
// divide.
GRADUS_LAYER(PixelShuffle, FunctionLayer, PixelShuffleOptions, functional::pixel_shuffle);
GRADUS_LAYER(PixelUnshuffle, FunctionLayer, PixelUnshuffleOptions, functional::pixel_unshuffle);
GRADUS_LAYER(ChannelShuffle, FunctionLayer, ChannelShuffleOptions, functional::channel_shuffle);

}  // namespace gradus::nn
