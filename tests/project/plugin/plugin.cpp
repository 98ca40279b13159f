// A plugin that uses the library: it trains a layer, on each device that there is.
#include <gradus/gradus.h>

#include <cstdio>

using namespace gradus;

namespace {
float gradient(Device device) {
  nn::Linear layer(2, 1);
  layer->to(device);
  layer(ones({1, 2}).to(device)).sum().backward();
  const auto twice = vectorize(GRADUS_SCALAR((float x) { return x + x; }));  // compiled here
  return twice(layer->weight.grad()).sum().item<float>();
}
}  // namespace

// 0 where all is well.
extern "C" int run() {
  try {
    const bool good =
        gradient(kCPU) == 4 && (!cuda::is_available() || gradient(Device(kCUDA, 0)) == 4);
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 2;
  }
}
