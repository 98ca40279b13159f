// Element types: names, sizes, conversions and promotion.
#include <torch/torch.h>

#include <iostream>

int main() {
  const torch::ScalarType types[] = {torch::kBool,  torch::kUInt8,   torch::kInt8,
                                     torch::kInt16, torch::kInt32,   torch::kInt64,
                                     torch::kHalf,  torch::kFloat32, torch::kFloat64};
  for (const auto type : types) {
    const torch::Tensor x = torch::ones({2}, type);
    std::cout << x.scalar_type() << " " << x.element_size() << " " << x.is_floating_point() << " "
              << c10::isIntegralType(type, false) << " " << (x.dtype() == type) << "\n";
  }

  // Every pair, by tensors with dimensions.
  for (const auto a : types) {
    for (const auto b : types) std::cout << torch::promote_types(a, b) << " ";
    std::cout << "\n";
  }

  // Numbers and tensors without dimensions decide only by their category.
  const auto i = torch::tensor({1, 2, 3}, torch::kInt);
  const auto f = torch::tensor({1.0, 2.0}, torch::kFloat);
  std::cout << (i + 1).scalar_type() << " " << (i + 1.5).scalar_type() << " "
            << (i + true).scalar_type() << " " << (i / 2).scalar_type() << "\n";
  std::cout << (f + torch::tensor(2.0, torch::kDouble)).scalar_type() << " "
            << (f + torch::ones({2}, torch::kDouble)).scalar_type() << " "
            << (i + torch::tensor(2.5)).scalar_type() << " "
            << (i + torch::tensor(7L)).scalar_type() << "\n";
  std::cout << torch::result_type(i, 2.5) << " " << torch::result_type(i, f.sum()) << " "
            << torch::can_cast(torch::kFloat, torch::kInt) << " "
            << torch::can_cast(torch::kInt, torch::kFloat) << "\n";

  const auto x = torch::tensor({-1.7, 0.0, 2.5, 300.0});
  std::cout << x.to(torch::kInt) << "\n" << x.to(torch::kBool) << "\n";
  std::cout << x.to(torch::kHalf).to(torch::kFloat) << "\n" << x.toType(torch::kLong) << "\n";
  std::cout << i.to(torch::kDouble) << "\n" << x.to(i.options()) << "\n";
  std::cout << torch::tensor({250, 10}, torch::kUInt8) + torch::tensor({10, 10}, torch::kUInt8)
            << "\n";

  torch::set_default_dtype(caffe2::TypeMeta::fromScalarType(torch::kDouble));
  std::cout << torch::ones({1}).scalar_type() << " " << (i / 2).scalar_type() << "\n";
}
