// Convolutions of TF32 by tensor cores: a file of its own, as it takes long to compile.
#include "gradus/cuda/ops/windows/convolution_channels_last.cuh"

namespace gradus::cuda {

bool tf32_convolution(ConvolutionPass pass, const Convolution& shape, const Tensor& a,
                      const Tensor& b, const Tensor& bias, const Tensor& out) {
  return channels_last_convolution<float>(pass, shape, a, b, bias, out);
}

}  // namespace gradus::cuda
