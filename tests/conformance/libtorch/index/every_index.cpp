// Indexing in all its forms.
#include <torch/torch.h>

#include <iostream>

using namespace torch::indexing;
using torch::Tensor;

static void show(const Tensor& x) {
  std::cout << x.sizes() << ":";
  auto flat = x.to(torch::kDouble).contiguous().view(-1);
  for (int64_t i = 0; i < flat.numel(); ++i) std::cout << " " << flat[i].item<double>();
  std::cout << "\n";
}

int main() {
  auto x = torch::arange(24).view({2, 3, 4});
  auto l = [](std::initializer_list<int64_t> values) {
    return torch::tensor(at::IntArrayRef(values));
  };
  auto mask = torch::tensor({true, false, true});
  show(x.index({0}));
  show(x.index({0, 1, 2}));
  show(x.index({Slice()}));
  show(x.index({None}));
  show(x.index({Ellipsis, -1}));
  show(x.index({"...", Slice(None, None, 2)}));
  show(x.index({0, None, Slice(1), None}));
  show(x.index({Slice(), 1}));
  show(x.index({Slice(1, None), Slice(None, -1), Slice(0, 4, 3)}));
  show(x.index({l({1, 0, 1})}));
  show(x.index({Slice(), l({0, 2})}));
  show(x.index({l({0, 1}), l({2, 0})}));
  show(x.index({l({0, 1}), Slice(), l({2, 0})}));
  show(x.index({Slice(), l({0, 1}), l({2, 0})}));
  show(x.index({l({0, 1}).unsqueeze(1), l({2, 0, 1})}));
  show(x.index({0, l({0, 1}), l({2, 0})}));
  show(x.index({l({-1}), Slice(), 0}));
  show(x.index({Slice(), mask}));
  show(x.index({Slice(), mask, 0}));
  show(x.index({x % 2 == 0}));

  show(x.index({true}));
  show(x.index({false}));
  show(x.index({torch::tensor(1)}));
  show(x.index({Slice(), torch::tensor(2), l({0, 1})}));
  show(x.index({mask.slice(0, 0, 2).to(torch::kUInt8)}));
  show(x[1][2][3]);
  show(x[torch::tensor(1)]);
  std::vector<TensorIndex> indices = {Slice(), 0};
  indices.push_back(Slice(None, 2));
  show(x.index(indices));

  auto y = torch::zeros({3, 4});
  y.index_put_({0}, 1);
  y.index_put_({Slice(), 1}, torch::arange(3.0));
  y.index_put_({Slice(None, None, 2), Slice(2)}, 7.5);
  show(y);
  y.index_put_({mask}, -1);
  show(y);
  y.index_put_({y < 0}, torch::tensor(9.0));
  show(y);
  y.index_put_({l({0, 0}), l({1, 1})}, torch::tensor({5.0, 5.0}));
  y.index_put_({Ellipsis, -1}, torch::ones({3, 1}).squeeze());
  show(y);
  y[0] = 3;
  y[1][2] = torch::tensor(4);
  y.index({2}) = torch::zeros({4});
  y.index({Slice(), 0}) += 10;
  y[0] *= 2;
  show(y);
  auto counts = torch::zeros({4});
  counts.index_put_({l({0, 1, 1, 3})}, torch::ones({4}), true);
  show(counts);
  show(counts.index_put({l({0})}, torch::tensor({8.f})));
  torch::index_put_(counts, {l({2})}, torch::tensor({8.f}));
  show(counts);

  show(x.index_select(2, l({3, 0})));
  show(x.gather(1, l({0, 2}).view({1, 2, 1}).expand({2, 2, 4})));
  show(torch::zeros({2, 3}).scatter(1, l({2, 0}).view({2, 1}), 5));
  show(torch::zeros({2, 3}).scatter_(1, l({2, 0}).view({2, 1}), torch::ones({2, 1})));
  show(torch::ones({3}).scatter_(0, l({1, 1}), torch::tensor({2.0f, 3.0f}), "add"));
  show(torch::ones({3}).scatter_(0, l({1, 2}), 4, "multiply"));
  show(torch::zeros({3}).scatter_add(0, l({1, 1, 0}), torch::ones({3})));
  show(torch::tensor({1.f, 2.f, 3.f})
           .scatter_reduce(0, l({0, 0, 2}), torch::tensor({5.f, 7.f, 1.f}), "mean"));
  show(torch::tensor({1.f, 2.f, 3.f})
           .scatter_reduce(0, l({0, 0, 2}), torch::tensor({5.f, 7.f, 1.f}), "amax", false));
  show(x.take(l({0, -1, 5})));
  show(x.take_along_dim(l({1}).view({1, 1, 1}), 2));
  show(x.masked_select(x > 20));
  show(x.masked_fill(x > 3, 0).sum());
  show(torch::zeros({4}).masked_scatter(torch::tensor({true, false, true, false}),
                                        torch::arange(3.0)));
  show(torch::where(x > 12, x, -x).sum({0}));
  show(torch::where(x > 12, 1, 0).sum());
  show(torch::where(x > 12, 1.5, 0.0).sum());
  show(torch::where(mask, 1, torch::zeros({3})));
  std::cout << torch::where(mask, 1, 0).dtype() << torch::where(mask, 1.0, 0.0).dtype()
            << torch::where(mask, torch::ones({3}), 0).dtype() << "\n";
  for (const auto& t : torch::where(x > 21)) show(t);
  show(torch::nonzero(x > 21));
  show(x.nonzero().slice(0, 0, 2));
  for (const auto& t : (x > 21).nonzero_numpy()) show(t);
  show(torch::argwhere(mask));
  show(torch::zeros({3}).index_fill(0, l({0, 2}), 3));
  show(torch::zeros({3}).index_add(0, l({0, 0}), torch::ones({2}), 2));
  show(torch::zeros({3, 2}).index_copy(0, l({2}), torch::ones({1, 2})));
  show(torch::zeros({3}).put_(l({1, 1}), torch::ones({2}), true));
  show(torch::zeros({2, 2}).fill_diagonal_(3));
  auto z = torch::arange(4.0).requires_grad_();
  z.index({l({1, 1, 3})}).sum().backward();
  show(z.grad());
  auto w = torch::zeros({3}, torch::requires_grad());
  auto c = w.clone();
  c.index_put_({l({1})}, z.index({l({2})}) * 3);
  (c * 2).sum().backward();
  show(w.grad());
  show(z.grad());
}
