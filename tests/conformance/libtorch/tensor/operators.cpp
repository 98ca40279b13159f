// Operators on tensors and numbers.
#include <torch/torch.h>

#include <iostream>

int main() {
  auto a = torch::tensor({1, 2, 3}), b = torch::tensor({3, 2, 1});
  auto x = torch::tensor({0.5, -1.5, 2.0});
  std::cout << a + b << a - b << a * b << a / b << a % b << -x << +1 + a << "\n";
  std::cout << a + 1 << 10 - a << a * 2.5 << 6 / x << x / 2 << 1 / x << a % 2 << "\n";
  std::cout << (a < b) << (a <= 2) << (2 < a) << (a == b) << (a != 2) << (x > 0) << (x >= 0.5)
            << "\n";
  std::cout << (a & 1) << (a | b) << (a ^ b) << ~a << (x > 0).logical_not()
            << torch::bitwise_left_shift(a, 2) << torch::bitwise_right_shift(a, b) << "\n";
  std::cout << (torch::tensor({true, false}) & torch::tensor({true, true}))
            << ~torch::tensor({true, false}) << (torch::tensor({true}) + true) << "\n";

  auto y = torch::ones({2, 3});
  y += 1;
  y *= x;
  y -= torch::ones({3});
  y /= 2;
  std::cout << y << "\n";
  y[0] += 10;
  y[1] *= -1;
  y[0][2] -= 5;
  y.select(1, 1) /= 4;
  std::cout << y << "\n";
  auto m = torch::tensor({6, 5, 4});
  m &= torch::tensor(4);
  std::cout << m << "\n";
  m |= torch::tensor({1, 2, 3});
  m ^= torch::tensor(1);
  std::cout << m << "\n";
  m.bitwise_left_shift_(torch::tensor(2));
  m.bitwise_right_shift_(1);
  std::cout << m << "\n";

  const auto refused = [](const char* what, auto f) {
    try {
      f();
      std::cout << what << " is taken\n";
    } catch (const c10::Error&) {
      std::cout << what << " is refused\n";
    }
  };
  refused("int += float", [&] { a += 1.5; });
  refused("int += float tensor", [&] { a += x; });
  refused("int /= int", [&] { a /= 2; });
  refused("int *= bool", [&] { a *= true; });
  refused("float += int", [&] { x += 1; });
  refused("bool - bool", [&] { torch::tensor({true}) - torch::tensor({true}); });
  refused("-bool", [&] { -torch::tensor({true}); });
  refused("float & float", [&] { x& x; });
  refused("[3] + [2]", [&] { x + torch::ones({2}); });
  refused("[3] += [2, 3]", [&] { x += torch::ones({2, 3}); });
  std::cout << a << x << "\n";

  torch::Tensor w = torch::tensor({2.0, 3.0}).requires_grad_();
  auto loss = (2 * w * w - 3 / w + w / (w + 1) - (1 - w) * 5).sum();
  loss.backward();
  std::cout << loss.item<float>() << " " << w.grad() << "\n";
  std::cout << loss.item().toDouble() + 1 << " " << (loss > 0).item<bool>() << "\n";
}
