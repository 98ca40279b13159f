// Layers before the backends of devices.
#include "gradus/tensor/backend_layer.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "gradus/tensor/level.h"

namespace gradus {

namespace {
std::mutex layers_mutex;
std::vector<BackendLayer*>& layers(DeviceType type) {  // the outermost last
  static auto* const all = new std::vector<BackendLayer*>[kDeviceTypes];
  return all[static_cast<int>(type)];
}
}  // namespace

void BackendLayer::install(DeviceType type) {
  const std::lock_guard lock(layers_mutex);
  const batching::Scope outside(nullptr);
  type_ = type;
  inner_.store(&backend(type), std::memory_order_release);
  exchanged_ = exchange_backend(type, this);
  layers(type).push_back(this);
}

void BackendLayer::remove() {
  const std::lock_guard lock(layers_mutex);
  std::vector<BackendLayer*>& all = layers(type_);
  const auto here = std::ranges::find(all, this);
  if (here + 1 == all.end()) {
    exchange_backend(type_, exchanged_);
  } else {
    here[1]->inner_.store(inner_.load(), std::memory_order_release);
    here[1]->exchanged_ = exchanged_;
  }
  all.erase(here);
}

}  // namespace gradus
