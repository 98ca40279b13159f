// Fourier transforms of 10^7 numbers, in batches, of several dimensions and of awkward lengths.
#include "bench/turns.h"

namespace {

using torch::Tensor;
using turns::on, turns::time;

void transforms(const std::string& name, const Tensor& z) {
  time("fft, " + name, [&] { return torch::fft_fft(z); });
  const Tensor x = torch::real(z).contiguous();
  time("rfft, " + name, [&] { return torch::fft_rfft(x); });
}

}  // namespace

int main(int argc, char** argv) {
  turns::read_arguments(argc, argv);
  torch::manual_seed(1);
  const torch::NoGradGuard guard;
  for (const auto dtype : {torch::kComplexFloat, torch::kComplexDouble}) {
    const std::string suffix = dtype == torch::kComplexFloat ? ", complex64" : ", complex128";
    const auto options = on.dtype(dtype);
    transforms("10000000" + suffix, torch::randn({10000000}, options));
    transforms("1000 x 1024" + suffix, torch::randn({1000, 1024}, options));
    transforms("100000 x 16" + suffix, torch::randn({100000, 16}, options));
    transforms("1000 x 1009" + suffix, torch::randn({1000, 1009}, options));
    const Tensor images = torch::randn({16, 256, 256}, options);
    time("fft2, 16 x 256 x 256" + suffix, [&] { return torch::fft_fft2(images); });
  }
}
