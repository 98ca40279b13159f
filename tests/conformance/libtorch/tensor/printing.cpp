// How tensors, types, devices, options and indices print.
#include <torch/torch.h>

#include <iostream>
#include <limits>
#include <sstream>

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

int main() {
  using namespace torch::indexing;
  const auto base = torch::arange(-3, 3).view({2, 3});
  for (auto dtype :
       {torch::kUInt8, torch::kInt8, torch::kInt16, torch::kInt32, torch::kInt64, torch::kFloat16,
        torch::kBFloat16, torch::kFloat32, torch::kFloat64, torch::kBool})
    std::cout << base.to(dtype) << "\n"
              << base.to(dtype)[0][1] << "\n"
              << torch::empty({0, 2}, dtype) << "\n";
  std::cout << torch::Tensor() << "\n";
  std::cout << torch::tensor({0.5, 1e-9, 12345.678}) << "\n";
  std::cout << torch::tensor({1e10, 1.0}) << "\n" << torch::tensor({1e-7, 2e-7}) << "\n";
  std::cout << torch::tensor({100000.0, 2.0}) << "\n" << torch::tensor({99999.0, 2.5}) << "\n";
  std::cout << torch::tensor({1.0, 2.0, 300.0}) << "\n" << torch::tensor({-1.5, 1000.25}) << "\n";
  const double inf = std::numeric_limits<double>::infinity();
  std::cout << torch::tensor({inf, 1.0}) << "\n" << torch::tensor({inf, -inf}) << "\n";
  std::cout << torch::tensor({std::nan(""), 1.5}) << "\n" << torch::tensor({std::nan("")}) << "\n";
  std::cout << torch::tensor({inf, 1e8, std::nan("")}) << "\n" << torch::tensor(inf) << "\n";
  std::cout << torch::zeros({2, 2}) << "\n" << torch::full({2}, 1e-3) << "\n";
  std::cout << torch::tensor(3.25) << "\n"
            << torch::tensor(7) << "\n"
            << torch::tensor(true) << "\n"
            << torch::tensor(1e20) << torch::tensor(123456789) << "\n";
  std::cout << torch::arange(24).view({2, 3, 4}) << "\n";
  std::cout << torch::arange(16.0).view({2, 1, 2, 4}) / 7 << "\n";
  std::cout << torch::ones({2, 0, 3}) << "\n" << torch::ones({0}) << "\n";
  std::cout << torch::arange(60).view({3, 20}) * 1000 << "\n";
  std::cout << torch::arange(60.0).view({2, 30}) / 3 << "\n";
  std::cout << torch::tensor({1000000, -5}) << "\n" << torch::tensor({-1, -10, 3}) << "\n";
  std::cout << torch::ones({2, 2}).t() << torch::arange(6).view({2, 3}).t() << "\n";
  std::cout << torch::ones({2}, torch::requires_grad()) << "\n"
            << torch::ones({2}, torch::requires_grad()) * 2 << "\n";
  torch::arange(4).print();
  torch::Tensor().print();
  torch::ones({2, 3}, torch::kDouble).print();
  torch::ones({}, torch::kBool).print();
  std::cout << torch::ones({2}).toString() << " " << torch::ones({2}, torch::kLong).toString()
            << " " << torch::ones({2}, torch::kBFloat16).toString() << "\n";
  torch::print(std::cout, torch::arange(30.0), 40);
  std::cout << "\n";
  torch::print(std::cout, torch::arange(24.0).view({2, 12}), 40);
  std::cout << "\n";

  std::cout << torch::kFloat << torch::kHalf << torch::kBool << torch::kByte << "\n"
            << torch::ones({1}).dtype() << " " << torch::ones({1}, torch::kHalf).dtype() << " "
            << torch::ones({1}, torch::kBool).dtype() << " "
            << torch::ones({1}, torch::kBFloat16).dtype() << " "
            << torch::ones({1}, torch::kByte).dtype() << " "
            << torch::ones({1}, torch::kChar).dtype() << "\n";
  std::cout << torch::Device("cpu") << torch::Device(torch::kCUDA, 1) << torch::kCPU << torch::kCUDA
            << torch::Device("cuda:2").str() << "\n";
  std::cout << torch::kStrided << " " << torch::ones({1}).suggest_memory_format() << "\n";
  std::cout << torch::TensorOptions() << "\n"
            << torch::TensorOptions().dtype(torch::kInt).requires_grad(true) << "\n"
            << torch::ones({1}, torch::kDouble).options() << "\n";
  std::cout << torch::IntArrayRef({1, 2}) << torch::IntArrayRef() << torch::ones({2}).sizes()
            << torch::ones({3, 1, 2}).strides() << "\n";
  std::cout << torch::Scalar(2) << torch::Scalar(2.5) << torch::Scalar(true) << torch::Scalar(1e10)
            << "\n";
  std::cout << Slice() << Slice(1, 5, 2) << Slice(None, 3) << Slice(2, None) << "\n";
  std::cout << TensorIndex(None) << TensorIndex(3) << TensorIndex("...") << TensorIndex(Slice(1, 2))
            << TensorIndex(true) << "\n";
  std::cout << text(torch::ones({2, 2})).size() << " " << c10::str("a", 1, 2.5, torch::kInt)
            << "\n";
}
