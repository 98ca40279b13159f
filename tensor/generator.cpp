// Generators, their states, and the default one of each device.
#include "gradus/tensor/generator.h"

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "gradus/tensor/generator_scope.h"
#include "gradus/tensor/math/philox.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {
// Reserves the numbers for so many elements.
PhiloxState take_from(GeneratorImpl& impl, int64_t elements) {
  const std::lock_guard lock(impl.guard);
  const PhiloxState out = impl.state;
  impl.state.offset +=
      (static_cast<uint64_t>(elements) + philox::kElementsPerBlock - 1) / philox::kElementsPerBlock;
  return out;
}
}  // namespace

uint64_t GeneratorImpl::random64() {
  const PhiloxState drawn = take_from(*this, 1);
  return philox::words(drawn.seed, drawn.offset, 0).joined();
}

GeneratorImpl& Generator::impl() const {
  check<Error>(defined(), "an undefined Generator was used; make one with make_generator()");
  return *impl_;
}

PhiloxState Generator::philox() const {
  const std::lock_guard lock(impl().guard);
  return impl_->state;
}

void Generator::set_philox(PhiloxState state) {
  const std::lock_guard lock(impl().guard);
  impl_->state = state;
}

PhiloxState Generator::take(int64_t elements) { return take_from(impl(), elements); }

uint64_t Generator::seed() {
  std::random_device source;
  const uint64_t seed = uint64_t{source()} << 32 | source();
  set_current_seed(seed);
  return seed;
}

Tensor Generator::get_state() const {
  const PhiloxState state = philox();
  const Tensor out = raw::empty({sizeof state}, kByte, kCPU);
  std::memcpy(out.data_ptr(), &state, sizeof state);
  return out;
}

void Generator::set_state(const Tensor& state) {
  check<TypeError>(state.dtype() == kByte && state.is_cpu(), "set_state: state has dtype ",
                   state.scalar_type(), " on ", state.device(),
                   "; expected uint8 on the CPU, as get_state() returns it");
  PhiloxState read;
  check(state.dim() == 1 && state.nbytes() == sizeof read, "set_state: state has shape ",
        state.sizes(), ", expected [", sizeof read, "]");
  std::memcpy(&read, raw::contiguous(state).data_ptr(), sizeof read);
  set_philox(read);
}

Generator Generator::clone() const {
  Generator copy = device().is_cpu() ? make_generator<CPUGeneratorImpl>()
                                     : make_generator<CUDAGeneratorImpl>(device().index());
  copy.set_philox(philox());
  return copy;
}

std::vector<Generator> Generator::split(int64_t num) {
  check(num >= 0, "Generator::split: num is ", num, ", expected a number of generators");
  const PhiloxState drawn = take(num * philox::kElementsPerBlock);  // a block for each
  std::vector<Generator> out;
  for (int64_t i = 0; i < num; ++i) {
    const uint64_t block = drawn.offset + static_cast<uint64_t>(i);
    out.push_back(clone());
    out.back().set_current_seed(philox::words(drawn.seed, block, 0).joined());
  }
  return out;
}

namespace {
// One for the CPU, one for each index a CUDA device can have.
std::vector<Generator>& generators() {
  static auto* all = [] {  // outlives static destructors
    auto* out = new std::vector<Generator>{make_generator<CPUGeneratorImpl>()};
    for (int i = 0; i <= INT8_MAX; ++i)
      out->push_back(make_generator<CUDAGeneratorImpl>(static_cast<DeviceIndex>(i)));
    return out;
  }();
  return *all;
}

thread_local constinit Generator* scope_generator = nullptr;  // of the CPU
}  // namespace

Generator& default_generator(Device device) {
  if (device.is_cpu()) return scope_generator ? *scope_generator : generators()[0];
  check(!device.is_meta(), "default_generator: meta has no generator, for nothing is drawn there; ",
        "give the CPU or a GPU");
  const DeviceIndex index = backend(device.type()).resolve(device).index();
  return generators()[1 + static_cast<size_t>(index)];
}

GeneratorScope::GeneratorScope(uint64_t seed)
    : own_(make_generator<CPUGeneratorImpl>(seed)), outer_(std::exchange(scope_generator, &own_)) {}
GeneratorScope::~GeneratorScope() { scope_generator = outer_; }

void manual_seed(uint64_t seed) {
  for (Generator& generator : generators()) generator.set_current_seed(seed);
}

}  // namespace gradus
