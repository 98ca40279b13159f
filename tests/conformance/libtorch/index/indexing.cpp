// Basic indexing: numbers, slices, None and Ellipsis; assignment through views.
#include <torch/torch.h>

#include <iostream>

using namespace torch::indexing;

int main() {
  torch::Tensor x = torch::arange(24).view({2, 3, 4});
  std::cout << x[1] << "\n" << x[1][2][3] << "\n" << x[-1][0] << "\n";
  std::cout << x.index({0}) << "\n" << x.index({1, 2}) << "\n" << x.index({Slice(), 1}) << "\n";
  std::cout << x.index({Slice(), Slice(1, None), Slice(None, None, 2)}) << "\n";
  std::cout << x.index({"...", 0}) << "\n" << x.index({Ellipsis, Slice(-2, None)}) << "\n";
  std::cout << x.index({None, 1}).sizes() << x.index({Slice(), None, 0, "..."}).sizes()
            << x.index({true}).sizes() << x.index({Slice(5, 9)}).sizes() << "\n";
  std::cout << x.select(2, 1) << "\n" << x.narrow(1, 1, 2).sizes() << x.slice(2, 0, 4, 3) << "\n";

  torch::Tensor y = torch::zeros({3, 4});
  y.index_put_({1, Slice(1, 3)}, 5);
  y.index_put_({Slice(), 0}, torch::tensor({1.0, 2.0, 3.0}));
  y[2] = 9;
  y[0][3] = torch::tensor(-1.0);
  y.index({Slice(0, 2), 2}) = torch::tensor({7.0, 8.0});
  y.index({Slice(), -1}) += 0.5;
  y[1] *= 2;
  std::cout << y << "\n";
  y.slice(1, 0, 2).fill_(0);
  y.select(0, 0).copy_(torch::arange(4));
  y.t()[0].add_(100);
  std::cout << y << "\n";

  torch::Tensor diagonal = y.index({Slice(0, 3), Slice(0, 3)}).diagonal();
  diagonal.zero_();
  std::cout << y << "\n" << y.diagonal(1) << "\n" << torch::diag(torch::tensor({1, 2})) << "\n";
  std::cout << y.is_view() << x.index({0}).is_view() << " " << x.as_strided({2, 2}, {1, 5}, 3)
            << "\n";

  const auto refused = [](auto f) {
    try {
      f();
      std::cout << "taken\n";
    } catch (const c10::Error&) {
      std::cout << "refused\n";
    }
  };
  refused([&] { x.index({2}); });
  refused([&] { x.index({0, 0, 0, 0}); });
  refused([&] { x.index({"...", -5}); });
  refused([&] { x.narrow(0, 1, 2); });
  refused([&] { x.as_strided({100}, {1}); });
  refused([&] { y.index_put_({0}, torch::ones({3})); });
}
