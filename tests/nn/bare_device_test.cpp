// Devices without an index: the current one, for every function that takes a device. One that is
// not there is an error.
#include <functional>
#include <sstream>

#include "tests/support.h"

namespace gradus {
namespace {

// The device of what a function makes on the device that it is given.
struct TakesDevice {
  const char* name;
  std::function<Device(Device)> f;
};
struct OnDevice : nn::Cloneable<OnDevice> {
  OnDevice() { reset(); }
  void reset() override { weight = register_parameter("weight", ones({2})); }
  Tensor weight;
};

std::string saved_tensor() {
  std::ostringstream out;
  save(ones({2}), out);
  return out.str();
}

const std::vector<TakesDevice> kTakers = {
    {"empty", [](Device d) { return empty({2}, d).device(); }},
    {"zeros", [](Device d) { return zeros({2}, d).device(); }},
    {"full", [](Device d) { return full({2}, 3, TensorOptions(kInt).device(d)).device(); }},
    {"tensor",
     [](Device d) {
       return tensor({1, 2}, d).device();
     }},
    {"arange", [](Device d) { return arange(3, d).device(); }},
    {"eye", [](Device d) { return eye(2, d).device(); }},
    {"linspace", [](Device d) { return linspace(0, 1, 3, d).device(); }},
    {"rand", [](Device d) { return rand({2}, d).device(); }},
    {"randn", [](Device d) { return randn({2}, d).device(); }},
    {"randint", [](Device d) { return randint(0, 3, {2}, d).device(); }},
    {"randperm", [](Device d) { return randperm(3, d).device(); }},
    {"hann_window", [](Device d) { return hann_window(3, d).device(); }},
    {"tril_indices",
     [](Device d) { return tril_indices(2, 2, 0, TensorOptions(kLong).device(d)).device(); }},
    {"fft_fftfreq", [](Device d) { return fft_fftfreq(3, 1.0, d).device(); }},
    {"zeros_like", [](Device d) { return zeros_like(ones({2}), d).device(); }},
    {"rand_like", [](Device d) { return rand_like(ones({2}), d).device(); }},
    {"new_full", [](Device d) { return ones({2}).new_full({3}, 1, d).device(); }},
    {"new_zeros", [](Device d) { return ones({2}).new_zeros({3}, d).device(); }},
    {"scalar_tensor", [](Device d) { return scalar_tensor(1, d).device(); }},
    {"to", [](Device d) { return ones({2}).to(d).device(); }},
    {"to, with a type", [](Device d) { return ones({2}).to(d, kDouble).device(); }},
    {"to, from another",
     [](Device d) { return d.is_cuda() ? ones({2}, Device(kCUDA, 0)).to(d).device() : d; }},
    {"to of options", [](Device d) { return ones({2}).to(TensorOptions().device(d)).device(); }},
    {"Module::to",
     [](Device d) {
       OnDevice m;
       m.to(d);
       return m.weight.device();
     }},
    {"Module::to, with a type",
     [](Device d) {
       OnDevice m;
       m.to(d, kDouble);
       return m.weight.device();
     }},
    {"Module::clone",
     [](Device d) {
       return std::static_pointer_cast<OnDevice>(OnDevice().clone(d))->weight.device();
     }},
    {"Sequential::clone",
     [](Device d) {
       nn::Sequential s(nn::Linear(1, 1));
       return std::static_pointer_cast<nn::SequentialImpl>(s->clone(d))->parameters()[0].device();
     }},
    {"load",
     [](Device d) {
       std::istringstream in(saved_tensor());
       Tensor x;
       load(x, in, d);
       return x.device();
     }},
    {"default_generator", [](Device d) { return default_generator(d).device(); }},
    {"rand by the default generator",
     [](Device d) { return rand({2}, default_generator(d), d).device(); }},
    {"DataParallel", [](Device d) { return nn::parallel::gather({ones({1}, d)}, d).device(); }},
    {"from_blob",
     [](Device d) {
       const Tensor x = ones({2}, d);
       return from_blob(x.data_ptr(), {2}, d).device();
     }},
    {"amp",
     [](Device d) {
       const Tensor x = amp::GradScaler().scale(ones({1}, d));
       return x.device();
     }},
};

TEST(BareDevice, IsTheCurrentOne) {
  for (const TakesDevice& row : kTakers) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(row.f(kCPU), Device(kCPU));
    if (!cuda::is_available()) {
      EXPECT_THROW(row.f(kCUDA), Error);
      continue;
    }
    for (DeviceIndex i = 0; i < static_cast<DeviceIndex>(cuda::device_count()); ++i) {
      const cuda::CUDAGuard guard(i);
      EXPECT_EQ(row.f(kCUDA), Device(kCUDA, i));
      EXPECT_EQ(row.f("cuda"), Device(kCUDA, i));
      EXPECT_EQ(row.f(Device(kCUDA, 0)), Device(kCUDA, 0));
    }
    EXPECT_THROW(row.f(Device(kCUDA, 50)), Error);
  }
}

}  // namespace
}  // namespace gradus
