// Generators of one CUDA device, by its number.
#include "gradus/cuda/runtime/generator.h"

#include "gradus/cuda/runtime/context.h"

namespace gradus::cuda::detail {

Generator createCUDAGenerator(DeviceIndex index) {
  return make_generator<CUDAGeneratorImpl>(
      static_cast<DeviceIndex>(checked_device("createCUDAGenerator", index)));
}

const Generator& getDefaultCUDAGenerator(DeviceIndex index) {
  return default_generator(
      {kCUDA, static_cast<DeviceIndex>(checked_device("getDefaultCUDAGenerator", index))});
}

}  // namespace gradus::cuda::detail
