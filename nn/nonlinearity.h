// The names of functions that follow a layer, as options and nn::init take them.
#pragma once

#include <cstdint>

namespace gradus {

// torch::kLinear, kReLU, ...; the linear ones stand for the layers of that name.
enum class Nonlinearity : uint8_t {
  Linear,
  Conv1D,
  Conv2D,
  Conv3D,
  ConvTranspose1D,
  ConvTranspose2D,
  ConvTranspose3D,
  Sigmoid,
  Tanh,
  ReLU,
  LeakyReLU,
  GELU,
};
inline constexpr Nonlinearity kLinear = Nonlinearity::Linear, kConv1D = Nonlinearity::Conv1D,
                              kConv2D = Nonlinearity::Conv2D, kConv3D = Nonlinearity::Conv3D,
                              kConvTranspose1D = Nonlinearity::ConvTranspose1D,
                              kConvTranspose2D = Nonlinearity::ConvTranspose2D,
                              kConvTranspose3D = Nonlinearity::ConvTranspose3D,
                              kSigmoid = Nonlinearity::Sigmoid, kTanh = Nonlinearity::Tanh,
                              kReLU = Nonlinearity::ReLU, kLeakyReLU = Nonlinearity::LeakyReLU,
                              kGELU = Nonlinearity::GELU;

}  // namespace gradus
