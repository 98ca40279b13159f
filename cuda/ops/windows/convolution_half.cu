// Convolutions of half types by tensor cores: a file of its own, as it takes long to compile.
#include "gradus/cuda/ops/windows/convolution_channels_last.cuh"

namespace gradus::cuda {

bool half_convolution(ConvolutionPass pass, const Convolution& shape, const Tensor& a,
                      const Tensor& b, const Tensor& bias, const Tensor& out) {
  return a.dtype() == kHalf ? channels_last_convolution<Half>(pass, shape, a, b, bias, out)
                            : channels_last_convolution<BFloat16>(pass, shape, a, b, bias, out);
}

}  // namespace gradus::cuda
