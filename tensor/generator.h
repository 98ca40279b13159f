// Random numbers: the state of a Philox generator (tensor/math/philox.h), and the one of each
// device.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gradus/tensor/base/device.h"

namespace gradus {

class Tensor;

// Draws of a counter-based generator; see tensor/math/philox.h.
struct PhiloxState {
  uint64_t seed;
  uint64_t offset;
};

inline constexpr uint64_t default_rng_seed_val = 67280421310721;

struct GeneratorImpl {
  explicit GeneratorImpl(Device of, uint64_t seed = default_rng_seed_val)
      : device(of), state{seed, 0} {}

  // The next 32 or 64 random bits: those of a draw of one element.
  uint32_t random() { return static_cast<uint32_t>(random64() >> 32); }
  uint64_t random64();

  const Device device;
  std::mutex mutex_;  // what Generator::mutex() hands out
  std::mutex guard;   // of the state
  PhiloxState state;
};
struct CPUGeneratorImpl final : GeneratorImpl {
  explicit CPUGeneratorImpl(uint64_t seed = default_rng_seed_val) : GeneratorImpl(kCPU, seed) {}
  static constexpr DeviceType device_type() { return kCPU; }
};
struct CUDAGeneratorImpl final : GeneratorImpl {
  explicit CUDAGeneratorImpl(DeviceIndex index = -1) : GeneratorImpl(Device(kCUDA, index)) {}
  static constexpr DeviceType device_type() { return kCUDA; }
};

// A handle: copies share one stream. May be used by several threads at once.
class Generator {
 public:
  Generator() = default;  // undefined: defined() is false
  explicit Generator(std::shared_ptr<GeneratorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  Device device() const { return impl().device; }
  void set_current_seed(uint64_t seed) { set_philox({seed, 0}); }
  uint64_t current_seed() const { return philox().seed; }
  // Seeds the generator with a new number each time, and returns the number.
  uint64_t seed();
  // Seed and position, as 16 bytes of a tensor on the CPU.
  Tensor get_state() const;
  // Errors: ValueError, TypeError for what get_state() does not return.
  void set_state(const Tensor& state);
  // A generator of its own in the same state.
  Generator clone() const;
  // `num` generators of this device with seeds of their own, drawn from this one: the same ones for
  // the same state, and others at the next call (JAX's split of a key). Errors: ValueError where
  // num is negative.
  std::vector<Generator> split(int64_t num = 2);
  // Lock it to keep several calls together.
  std::mutex& mutex() { return impl().mutex_; }
  friend bool operator==(const Generator&, const Generator&) = default;
  // The state itself. REQUIRES: Impl is that of the device.
  template <class Impl>
  Impl* get() const {
    return static_cast<Impl*>(impl_.get());
  }

  PhiloxState philox() const;
  void set_philox(PhiloxState state);
  // Reserves the numbers for `elements` elements and returns the state to draw them with.
  PhiloxState take(int64_t elements);

 private:
  GeneratorImpl& impl() const;
  std::shared_ptr<GeneratorImpl> impl_;
};

template <class Impl, class... Args>
Generator make_generator(Args&&... args) {
  return Generator(std::make_shared<Impl>(std::forward<Args>(args)...));
}

// The generator that random factories use on a device; kCUDA: on the current one.
// Errors: Error where there is no such device; ValueError for meta, where nothing is drawn.
Generator& default_generator(Device device);

// Seeds the default generator of every device.
void manual_seed(uint64_t seed);

namespace detail {
inline Generator createCPUGenerator(uint64_t seed = default_rng_seed_val) {
  return make_generator<CPUGeneratorImpl>(seed);
}
inline const Generator& getDefaultCPUGenerator() { return default_generator(kCPU); }
}  // namespace detail

}  // namespace gradus
