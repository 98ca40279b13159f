// The type of a tensor, as older programs ask for it, and make tensors by it.
#include <torch/torch.h>

#include <iostream>

namespace {

void describe(at::DeprecatedTypeProperties& type) {
  std::cout << type.toString() << " " << type.scalarType() << " " << type.typeMeta() << " "
            << type.is_cuda() << type.is_sparse() << " " << (type.backend() == at::Backend::CPU)
            << (type.device_type() == at::kCPU) << (type.layout() == at::kStrided) << "\n";
}

void sum_of(const at::Tensor& x) {
  AT_DISPATCH_ALL_TYPES(x.type(), "sum_of", [&] {
    scalar_t sum = 0;
    for (int64_t i = 0; i < x.numel(); ++i) sum += x.data_ptr<scalar_t>()[i];
    std::cout << "sum of " << x.toString() << ": " << sum << "\n";
  });
}

}  // namespace

int main() {
  describe(at::CPU(at::kFloat));
  describe(at::CPU(at::kLong));
  describe(at::CPU(at::kHalf).toScalarType(at::kBool));
  const at::Tensor x = torch::arange(6, torch::kInt).view({2, 3});
  describe(x.type());
  std::cout << x.type() << " " << (x.type() == at::CPU(at::kInt)) << (x.type() != at::CPU(at::kInt))
            << (&x.type() == &x.clone().type()) << "\n";
  describe(x.to(torch::kDouble).type().cpu());

  at::DeprecatedTypeProperties& type = at::CPU(at::kDouble);
  std::cout << at::ones({2, 2}, type) << "\n"
            << at::zeros({3}, type.options()) << "\n"
            << at::randperm(4, x.type()).sum() << "\n"
            << at::empty({0}, type).resize_({2, 3}).sizes() << "\n";
  sum_of(x);
  sum_of(torch::ones({5}));

  const at::Tensor none;
  std::cout << none.toString() << " " << none.dim() << " " << none.sizes() << " " << none.numel()
            << " " << none.defined() << " [" << x.name() << "]\n";
}
