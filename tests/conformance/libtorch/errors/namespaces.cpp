// Code of one's own in libtorch's namespaces, and the small things that live in them.
#include <ATen/core/Reduction.h>
#include <c10/util/irange.h>
#include <torch/torch.h>

#include <iostream>
#include <vector>

namespace torch {
namespace mine {

struct Scale : nn::Module {
  Scale() : factor(register_parameter("factor", torch::full({1}, 3.0))) {}
  Tensor forward(const Tensor& x) { return x * factor; }
  Tensor factor;
};

Tensor twice(const Tensor& x) { return add(x, x); }

}  // namespace mine
}  // namespace torch

namespace at {
inline Tensor thrice(const Tensor& x) { return x * 3; }
}  // namespace at

namespace c10 {
inline int64_t area(IntArrayRef sizes) {
  int64_t out = 1;
  for (const auto i : irange(sizes.size())) out *= sizes[i];
  return out;
}
}  // namespace c10

using namespace torch;
using namespace torch::indexing;

int main() {
  std::cout << std::boolalpha;  // which printing an index leaves behind
  mine::Scale scale;
  std::cout << scale.forward(torch::ones({2})).sum().item<float>() << ' '
            << mine::twice(torch::ones({2})).sum().item<float>() << ' '
            << at::thrice(torch::ones({2})).sum().item<float>() << ' '
            << c10::area(torch::ones({2, 3}).sizes()) << '\n';
  {
    torch::nn::Linear layer(2, 1);
    namespace F = torch::nn::functional;
    std::cout << layer->weight.sizes() << F::relu(torch::full({1}, -1.0)).item<float>() << '\n';
  }

  const std::vector<TensorIndex> indices = {None, "...", 2, true, Slice(1, None, 2)};
  std::cout << indices << ' ' << c10::str(Slice(None, None, -1)) << ' '
            << c10::Join("-", std::vector<int>{1, 2, 3}) << ' ' << (Slice().stop() == INDEX_MAX)
            << '\n';
  for (const auto i : c10::irange(2, 5)) std::cout << i << ' ';
  for (const auto i : c10::irange(-2)) std::cout << i << '?';
  std::cout << '\n';

  const Tensor x = torch::arange(6.).view({2, 3});
  Tensor out = torch::empty({2, 1});
  at::linear_out(out, x, torch::ones({1, 3}), torch::ones({1}));
  std::cout << out.flatten() << '\n';
  at::pow_out(out, 2, x);
  std::cout << out.flatten() << '\n';
  std::cout << x.is_non_overlapping_and_dense() << x.t().is_non_overlapping_and_dense()
            << x.slice(1, 0, 2).is_non_overlapping_and_dense()
            << x.expand({2, 2, 3}).is_non_overlapping_and_dense()
            << x.slice(0, 0, 1).t().is_non_overlapping_and_dense() << '\n';
  std::cout << torch::empty({0}).resize_({2, 2}, torch::MemoryFormat::Contiguous).sizes()
            << torch::ones({2}, at::CPU(at::kDouble)).scalar_type()
            << at::scalar_to_tensor(2).scalar_type() << at::scalar_to_tensor(1.5).scalar_type()
            << at::scalar_to_tensor(true).scalar_type()
            << torch::TensorOptions(torch::kCUDA, 1).device() << '\n';
  Tensor y = torch::autograd::make_variable(x, true);
  std::cout << y.requires_grad() << y.is_leaf() << (y.data_ptr() == x.data_ptr()) << '\n';

  Tensor z = torch::zeros({2, 3});
  z.fill_(torch::tensor(7));
  try {
    z.fill_(torch::ones({1}));
  } catch (const c10::Error&) {
    std::cout << "fill_ takes a tensor without dimensions: " << z.sum().item<float>() << '\n';
  }
  const auto original = x.packed_accessor64<float, 2>();
  const auto transposed = original.transpose(0, 1);
  std::cout << transposed.size(0) << transposed.size(1) << (transposed[2][1] == original[1][2]);
  try {
    original.transpose(0, 2);
  } catch (const c10::IndexError&) {
    std::cout << " IndexError\n";
  }
  // libtorch's header brings assert along.
  assert(at::Reduction::Mean == 1);
  static_assert(at::Reduction::None == 0 && at::Reduction::Sum == 2 && at::Reduction::END == 3, "");
  at::DeprecatedTypeProperties& type = at::CPU(at::kFloat);
  std::cout << torch::ones({1}, type).item<float>() << '\n';
}
