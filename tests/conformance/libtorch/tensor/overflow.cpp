// Numbers that a dtype does not hold.
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <iostream>

int main() {
  using torch::kUInt8, torch::kHalf, torch::kFloat, torch::kLong, torch::kInt8, torch::kBool,
      torch::kInt;
  auto b = torch::ones({1}, kUInt8), f = torch::ones({1}), h = torch::ones({1}, kHalf),
       i = torch::ones({1}, kInt);
  auto mask = torch::ones({1}, kBool), places = torch::zeros({1}, kLong);
  const auto d = [](torch::Tensor x) { return x.to(torch::kDouble).item<double>(); };
  const std::vector<std::pair<const char*, std::function<double()>>> cases = {
      {"full", [&] { return d(torch::full({1}, 300, kUInt8)); }},
      {"full -1", [&] { return d(torch::full({1}, -1, kUInt8)); }},
      {"full real", [&] { return d(torch::full({1}, 2.7, kUInt8)); }},
      {"full half", [&] { return d(torch::full({1}, 1e6, kHalf)); }},
      {"full float", [&] { return d(torch::full({1}, 1e300)); }},
      {"full inf", [&] { return d(torch::full({1}, INFINITY, kHalf)); }},
      {"full inf of integers", [&] { return d(torch::full({1}, INFINITY, kLong)); }},
      {"full nan of integers", [&] { return d(torch::full({1}, NAN, kLong)); }},
      {"full bool", [&] { return d(torch::full({1}, 7, kBool)); }},
      {"fill_", [&] { return d(b.clone().fill_(256)); }},
      {"fill_ int8", [&] { return d(torch::zeros({1}, kInt8).fill_(-129)); }},
      {"masked_fill", [&] { return d(b.masked_fill(mask, 300)); }},
      {"masked_fill half", [&] { return d(h.masked_fill(mask, -1e9)); }},
      {"masked_fill float", [&] { return d(f.masked_fill(mask, -1e300)); }},
      {"index_fill", [&] { return d(b.index_fill(0, places, 300)); }},
      {"index_put_", [&] { return d(b.clone().index_put_({places}, 300)); }},
      {"index_put_ all", [&] { return d(b.clone().index_put_({"..."}, 300)); }},
      {"scatter", [&] { return d(b.scatter(0, places, 300)); }},
      {"assignment",
       [&] {
         auto x = b.clone();
         x[0] = 300;
         return d(x);
       }},
      {"add", [&] { return d(b + 300); }},
      {"add -1", [&] { return d(b + -2); }},
      {"mul", [&] { return d(b * 1000); }},
      {"add float", [&] { return d(f + 1e300); }},
      {"mul half", [&] { return d(h * 1e6); }},
      {"eq", [&] { return d(b == 257); }},
      {"lt", [&] { return d(b < 300); }},
      {"gt -1", [&] { return d(b > -1); }},
      {"clamp", [&] { return d(b.clamp(300, 400)); }},
      {"clamp float", [&] { return d(f.clamp_max(1e300)); }},
      {"where", [&] { return d(torch::where(mask, b, 300)); }},
      {"tensor", [&] { return d(torch::tensor({300}, kUInt8)); }},
      {"tensor real", [&] { return d(torch::tensor({2.9}, kInt)); }},
      {"tensor half", [&] { return d(torch::tensor({1e6}, kHalf)); }},
      {"scalar_tensor", [&] { return d(torch::scalar_tensor(300, kUInt8)); }},
      {"conversion", [&] { return d(torch::tensor({300}).to(kUInt8)); }},
      {"conversion of -1.0", [&] { return d(torch::tensor({-1.0}).to(kUInt8)); }},
      {"conversion to half", [&] { return d(torch::tensor({1e6}).to(kHalf)); }},
      {"item to int8", [&] { return torch::tensor(200).item<int8_t>(); }},
      {"item -1 to uint8", [&] { return torch::tensor(-1).item<uint8_t>(); }},
      {"item -300 to uint8", [&] { return torch::tensor(-300).item<uint8_t>(); }},
      {"item of 3e9 to int", [&] { return torch::tensor(3e9).item<int>(); }},
      {"item of nan to int", [&] { return torch::tensor(NAN).item<int>(); }},
      {"item of nan to float",
       [&] { return double(std::isnan(torch::tensor(NAN).item<float>())); }},
      {"item of inf to float",
       [&] { return double(std::isinf(torch::tensor(INFINITY, torch::kDouble).item<float>())); }},
      {"item of 1e300 to float",
       [&] { return torch::tensor(1e300, torch::kDouble).item<float>(); }},
      {"item of 2.9 to int", [&] { return torch::tensor(2.9).item<int>(); }},
      {"item of 2.9 to bool", [&] { return torch::tensor(2.9).item<bool>(); }},
      {"item of 0.5 to bool", [&] { return torch::tensor(0.5).item<bool>(); }},
      {"toInt", [&] { return torch::Scalar(int64_t{1} << 40).toInt(); }},
      {"toLong", [&] { return torch::Scalar(1e30).toLong(); }},
      {"toFloat", [&] { return torch::Scalar(1e300).toFloat(); }},
      {"arange", [&] { return d(torch::arange(300, kUInt8)[299]); }},
      {"arange int8", [&] { return torch::arange(120, 140, kInt8).size(0); }},
      {"linspace", [&] { return d(torch::linspace(0, 300, 3, kUInt8)[2]); }},
      {"pad",
       [&] {
         return d(torch::constant_pad_nd(b, {1, 0}, 300)[0]);
       }},
      {"random_", [&] { return d(torch::zeros({1}, kUInt8).random_(300, 301)); }},
      {"uniform_", [&] { return d(torch::zeros({1}).uniform_(0, 1e300)); }},
      {"sum", [&] { return d(torch::full({2}, 200, kUInt8).sum()); }},
      {"cumsum", [&] { return d(torch::full({2}, 200, kUInt8).cumsum(0)[1]); }},
      {"sum of ints to uint8", [&] { return d(torch::full({2}, 200, kUInt8).sum(kUInt8)); }},
      {"abs of the least", [&] { return d(torch::full({1}, -128, kInt8).abs()); }},
      {"neg of uint8", [&] { return d(-b); }},
      {"one_hot", [&] { return torch::one_hot(torch::tensor({2})).size(-1); }},
      {"multiply int", [&] { return d(torch::full({1}, 2000000000, kInt) * 2); }},
      {"shift", [&] { return d(b.bitwise_left_shift(9)); }},
      {"floor_divide", [&] { return d(torch::tensor({-7}).floor_divide(2)); }},
      {"rsub", [&] { return d(1 - b * 2); }},
      {"add alpha real", [&] { return d(i.add(i, 1.5)); }}};
  for (const auto& [what, f] : cases) {
    std::cout << what << ": ";
    try {
      std::cout << f() << "\n";
    } catch (const std::exception&) {
      std::cout << "refused\n";
    }
  }
}
