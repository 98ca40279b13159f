// Shapes: views and what they share.
#include <torch/torch.h>

#include <iostream>

int main() {
  torch::Tensor x = torch::arange(12);
  std::cout << x.view({3, 4}) << "\n"
            << x.view({-1, 6}).sizes() << x.reshape({2, 2, 3}).sizes() << "\n";
  torch::Tensor m = x.view({3, 4});
  m[0][0] = 100;
  std::cout << x[0].item<int64_t>() << " " << m.t().sizes() << m.t().strides() << "\n";
  std::cout << m.flatten() << "\n"
            << m.view({3, 2, 2}).flatten(1).sizes() << m.unflatten(1, {2, 2}).sizes() << "\n";
  const auto y = torch::zeros({2, 3, 4});
  std::cout << y.permute({2, 0, 1}).sizes() << y.transpose(0, 2).sizes() << y.movedim(0, -1).sizes()
            << y.swapaxes(0, 1).sizes() << torch::movedim(y, {0, 1}, {1, 2}).sizes()
            << y.mT().sizes() << "\n";
  const auto z = torch::zeros({1, 3, 1});
  std::cout << z.squeeze().sizes() << z.squeeze(0).sizes() << z.squeeze(1).sizes()
            << z.unsqueeze(-1).sizes() << z.unsqueeze(0).sizes() << "\n";
  std::cout << torch::tensor({{1}, {2}}).expand({2, 3}) << "\n"
            << torch::tensor({1, 2}).expand({3, -1}).strides() << "\n"
            << torch::broadcast_to(torch::tensor({1, 2, 3}), {2, 3}) << "\n";
  const auto both = torch::broadcast_tensors({torch::ones({2, 1}), torch::ones({3})});
  std::cout << both[0].sizes() << both[1].sizes() << z.expand_as(torch::ones({2, 3, 5})).sizes()
            << "\n";
  std::cout << m.t().is_contiguous() << m.t().contiguous().is_contiguous()
            << (m.data_ptr() == m.contiguous().data_ptr()) << (m.data_ptr() == m.clone().data_ptr())
            << "\n";
  std::cout << x.view_as(m).sizes() << x.reshape_as(m).sizes() << x.ravel().sizes() << "\n";
  std::cout << x.as_strided({3, 3}, {1, 2}) << "\n" << x.unfold(0, 4, 3) << "\n";
  std::cout << m.diagonal() << "\n" << torch::atleast_2d(torch::tensor(3)).sizes() << "\n";
  torch::Tensor w = torch::ones({2, 3});
  w.squeeze_().t_();
  std::cout << w.sizes() << w.unsqueeze_(0).sizes() << w.transpose_(0, 1).sizes() << "\n";
  int refused = 0;
  const auto tries = [&](auto f) {
    try {
      f();
    } catch (const std::exception&) {
      ++refused;
    }
  };
  tries([&] { x.view({5, -1}); });
  tries([&] { x.view({-1, -1}); });
  tries([&] { m.t().view({12}); });
  tries([&] { y.permute({0, 0, 1}); });
  tries([&] { y.transpose(0, 3); });
  tries([&] { z.expand({2, 2, 2}); });
  tries([&] { torch::zeros({-1}); });
  std::cout << refused << "\n";
}
