// The ways to compute a convolution on the CPU.
#pragma once

#include "gradus/tensor/base/windows.h"

namespace gradus::cpu {

// One way. bias may be null. Errors: OutOfMemoryError. Without `weight` that gradient is summed in place.
template <class T>
struct ConvolutionWay {
  void (*output)(const Convolution&, const T* input, const T* weight, const T* bias, T* out);
  void (*input)(const Convolution&, const T* grad, const T* weight, T* out);
  void (*weight)(const Convolution&, const T* grad, const T* input, T* out);
};

// Null for shapes that another way takes faster, or that this one cannot take.
const ConvolutionWay<float>* winograd_way(const Convolution& shape);  // winograd.cpp
template <class T>
const ConvolutionWay<T>* unfolded_way(const Convolution& shape);  // im2col.cpp
// The way for shapes whose padded image would be far larger than input and windows.
template <class T>
const ConvolutionWay<T>* direct_way(const Convolution& shape);  // direct.cpp

}  // namespace gradus::cpu
