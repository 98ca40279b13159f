// backward and grad, leaves and nodes.
#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::tensor({2.0, 3.0}, torch::requires_grad());
  auto y = torch::tensor({4.0, 5.0}, torch::requires_grad());
  auto z = x * y + x.pow(3);
  auto loss = z.sum();
  std::cout << z.grad_fn()->name() << " " << loss.grad_fn()->name() << " " << x.grad_fn() << " "
            << x.is_leaf() << z.is_leaf() << z.requires_grad() << "\n";
  for (const auto& edge : z.grad_fn()->next_edges())
    std::cout << edge.function->name() << " " << edge.input_nr << "\n";
  std::cout << loss.grad_fn()->num_inputs() << z.grad_fn()->next_edge(0).function->num_outputs()
            << "\n";
  z.retain_grad();
  loss.backward();
  std::cout << x.grad() << y.grad() << z.grad() << "\n";
  loss = (x * 2).sum();
  loss.backward();
  std::cout << x.grad() << "\n";  // added up
  x.mutable_grad().zero_();

  auto w = x * y;
  w.backward(torch::tensor({1.0, 10.0}), /*retain_graph=*/true);
  w.backward(torch::tensor({1.0, 10.0}));
  std::cout << x.grad() << "\n";

  auto u = torch::ones({2, 2}, torch::requires_grad());
  auto grads = torch::autograd::grad({(u * u).sum()}, {u});
  std::cout << grads[0] << u.grad().defined() << "\n";
  grads = torch::autograd::grad({u.exp()}, {u}, {torch::full({2, 2}, 2.0)});
  std::cout << grads[0] << "\n";
  auto unused = torch::ones({1}, torch::requires_grad());
  grads = torch::autograd::grad({u.sum()}, {u, unused}, {}, /*retain_graph=*/false,
                                /*create_graph=*/false,
                                /*allow_unused=*/true);
  std::cout << grads[1].defined() << "\n";
  torch::autograd::backward({(u * 3).sum(), (u * 4).sum()}, {});
  std::cout << u.grad() << "\n";

  auto d = (u * 2).detach();
  auto shared = u.detach();
  std::cout << d.requires_grad() << shared.is_leaf() << (shared.data_ptr() == u.data_ptr()) << "\n";
  auto frozen = torch::ones({2});
  frozen.set_requires_grad(true);
  auto broadcast = (torch::ones({3, 2}) * frozen).sum();
  broadcast.backward();
  std::cout << frozen.grad() << "\n";
  auto same = torch::ones({1}, torch::requires_grad());
  (same + same + same * same).backward();
  std::cout << same.grad() << "\n";
  torch::Tensor branch;
  for (int step = 0; step < 3; ++step) branch = step == 0 ? same * 2 : branch * same;
  branch.backward();
  std::cout << same.grad() << "\n";
}
