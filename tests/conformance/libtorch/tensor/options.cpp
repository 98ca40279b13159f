// TensorOptions and what a tensor says of itself.
#include <torch/torch.h>

#include <iostream>

int main() {
  auto options = torch::TensorOptions().dtype(torch::kInt32).device(torch::kCPU);
  torch::Tensor x = torch::zeros({2, 3, 4}, options);
  std::cout << x.sizes() << " " << x.strides() << " " << x.dim() << " " << x.ndimension() << " "
            << x.numel() << " " << x.size(-1) << " " << x.stride(0) << "\n";
  std::cout << x.device() << " " << x.is_cuda() << " " << x.device().is_cpu() << " " << x.dtype()
            << " " << x.layout() << "\n";
  std::cout << x.nbytes() << " " << x.itemsize() << " " << x.is_contiguous() << " "
            << x.transpose(0, 1).is_contiguous() << " " << x.storage_offset() << " "
            << x[1].storage_offset() << "\n";

  torch::Tensor y = torch::ones({2}, torch::dtype(torch::kFloat64).requires_grad(true));
  torch::Tensor z = torch::full({2}, 7, torch::kDouble);
  torch::Tensor w = torch::rand({3}, torch::requires_grad());
  torch::Tensor v = torch::empty({0, 3}, torch::device(torch::kCPU).dtype(torch::kByte));
  std::cout << y.requires_grad() << z.requires_grad() << w.requires_grad() << " " << w.is_leaf()
            << " " << (w * 2).is_leaf() << " " << v.sizes() << " " << v.dtype() << "\n";

  torch::TensorOptions from = y.options();
  std::cout << (from.dtype() == torch::kDouble) << " " << from.device() << " "
            << torch::zeros({1}, from.dtype(torch::kLong)).dtype() << "\n";
  std::cout << torch::typeMetaToScalarType(y.dtype()) << " " << torch::toString(torch::kLong) << " "
            << torch::elementSize(torch::kDouble) << "\n";

  torch::Tensor none;
  std::cout << none.defined() << " " << x.defined() << " " << x.is_same(x) << " "
            << x.is_same(x.clone()) << "\n";
  c10::optional<int64_t> maybe = c10::nullopt;
  std::cout << maybe.has_value() << " " << maybe.value_or(5) << "\n";

  at::Tensor scalar = torch::scalar_tensor(2.5);
  std::cout << scalar.dim() << " " << scalar.item<float>() << " " << scalar.item().toDouble() << " "
            << torch::tensor(4).item<int64_t>() << " " << torch::tensor(true).item().isBoolean()
            << "\n";
  torch::Scalar s = 3;
  std::cout << s.isIntegral(false) << s.isFloatingPoint() << " " << s.to<double>() << " "
            << s.toInt() << " " << torch::Scalar(2.5).toFloat() << "\n";
  for (int64_t size : x.sizes()) std::cout << size << ",";
  std::vector<int64_t> shape = x.sizes().vec();
  std::cout << shape.size() << " " << x.sizes().equals({2, 3, 4}) << " "
            << (x.sizes() == torch::IntArrayRef({2, 3, 4})) << " " << x.sizes().back() << "\n";
}
