// Which dtype comes out: every operator on every pair of dtypes, and what is refused.
#include <torch/torch.h>

#include <functional>
#include <iostream>

using torch::Tensor;

int main() {
  const std::vector<torch::ScalarType> types = {torch::kBool,     torch::kUInt8,   torch::kInt8,
                                                torch::kInt16,    torch::kInt32,   torch::kInt64,
                                                torch::kBFloat16, torch::kFloat32, torch::kFloat64};
  const std::vector<std::pair<const char*, std::function<Tensor(Tensor, Tensor)>>> binary = {
      {"add", [](Tensor a, Tensor b) { return a + b; }},
      {"sub", [](Tensor a, Tensor b) { return a - b; }},
      {"mul", [](Tensor a, Tensor b) { return a * b; }},
      {"div", [](Tensor a, Tensor b) { return a / b; }},
      {"floor_divide", [](Tensor a, Tensor b) { return a.floor_divide(b); }},
      {"trunc", [](Tensor a, Tensor b) { return a.div(b, "trunc"); }},
      {"remainder", [](Tensor a, Tensor b) { return a % b; }},
      {"fmod", [](Tensor a, Tensor b) { return a.fmod(b); }},
      {"pow", [](Tensor a, Tensor b) { return a.pow(b); }},
      {"eq", [](Tensor a, Tensor b) { return a == b; }},
      {"and", [](Tensor a, Tensor b) { return a & b; }},
      {"xor", [](Tensor a, Tensor b) { return a.logical_xor(b); }},
      {"max", [](Tensor a, Tensor b) { return torch::maximum(a, b); }},
      {"fmin", [](Tensor a, Tensor b) { return torch::fmin(a, b); }},
      {"atan2", [](Tensor a, Tensor b) { return a.atan2(b); }},
      {"hypot", [](Tensor a, Tensor b) { return a.hypot(b); }},
      {"gcd", [](Tensor a, Tensor b) { return a.gcd(b); }},
      {"where", [](Tensor a, Tensor b) { return torch::where(a > 0, a, b); }},
      {"cat",
       [](Tensor a, Tensor b) {
         return torch::cat({a, b});
       }},
      {"stack",
       [](Tensor a, Tensor b) {
         return torch::stack({a, b});
       }},
      {"scalar right", [](Tensor a, Tensor b) { return a * b[0]; }},
      {"scalar left", [](Tensor a, Tensor b) { return a[0] + b; }},
      {"add_", [](Tensor a, Tensor b) { return a.add_(b); }},
      {"copysign", [](Tensor a, Tensor b) { return a.copysign(b); }},
      {"xlogy", [](Tensor a, Tensor b) { return torch::xlogy(a, b); }},
      {"logaddexp", [](Tensor a, Tensor b) { return torch::logaddexp(a, b); }},
      {"shift", [](Tensor a, Tensor b) { return a.bitwise_left_shift(b); }},
      {"lerp", [](Tensor a, Tensor b) { return a.lerp(b, 0.5); }},
      {"matmul", [](Tensor a, Tensor b) { return a.matmul(b); }},
      {"outer", [](Tensor a, Tensor b) { return a.outer(b); }},
      {"isclose", [](Tensor a, Tensor b) { return a.isclose(b); }},
      {"ldexp", [](Tensor a, Tensor b) { return a.ldexp(b); }},
      {"dist", [](Tensor a, Tensor b) { return a.dist(b); }},
      {"index_put", [](Tensor a, Tensor b) { return a.index_put({torch::tensor({0})}, b[1]); }},
      {"masked_fill", [](Tensor a, Tensor b) { return a.masked_fill(a > 0, b[1]); }}};
  const std::vector<std::pair<const char*, std::function<Tensor(Tensor)>>> unary = {
      {"neg", [](Tensor a) { return -a; }},
      {"abs", [](Tensor a) { return a.abs(); }},
      {"exp", [](Tensor a) { return a.exp(); }},
      {"floor", [](Tensor a) { return a.floor(); }},
      {"round", [](Tensor a) { return a.round(); }},
      {"sign", [](Tensor a) { return a.sign(); }},
      {"not", [](Tensor a) { return ~a; }},
      {"logical_not", [](Tensor a) { return a.logical_not(); }},
      {"sum", [](Tensor a) { return a.sum(); }},
      {"mean", [](Tensor a) { return a.mean(); }},
      {"max", [](Tensor a) { return a.max(); }},
      {"any", [](Tensor a) { return a.any(); }},
      {"cumsum", [](Tensor a) { return a.cumsum(0); }},
      {"+1", [](Tensor a) { return a + 1; }},
      {"+1.5", [](Tensor a) { return a + 1.5; }},
      {"+true", [](Tensor a) { return a + true; }},
      {"2-", [](Tensor a) { return 2 - a; }},
      {"pow 2", [](Tensor a) { return a.pow(2); }},
      {"2 pow", [](Tensor a) { return torch::pow(2, a); }},
      {"pow .5", [](Tensor a) { return a.pow(0.5); }},
      {"sqrt", [](Tensor a) { return a.sqrt(); }},
      {"square", [](Tensor a) { return a.square(); }},
      {"reciprocal", [](Tensor a) { return a.reciprocal(); }},
      {"clamp", [](Tensor a) { return a.clamp(0, 1.5); }},
      {"relu", [](Tensor a) { return a.relu(); }},
      {"softmax", [](Tensor a) { return a.softmax(0); }},
      {"isnan", [](Tensor a) { return a.isnan(); }},
      {"std", [](Tensor a) { return a.std(); }},
      {"norm", [](Tensor a) { return a.norm(); }},
      {"median", [](Tensor a) { return a.median(); }},
      {"sort", [](Tensor a) { return std::get<0>(a.sort()); }},
      {"argmax", [](Tensor a) { return a.argmax(); }},
      {"trunc", [](Tensor a) { return a.trunc(); }},
      {"frac", [](Tensor a) { return a.frac(); }},
      {"sigmoid", [](Tensor a) { return a.sigmoid(); }},
      {"deg2rad", [](Tensor a) { return a.deg2rad(); }},
      {"signbit", [](Tensor a) { return a.signbit(); }},
      {"logsumexp", [](Tensor a) { return a.logsumexp(0); }},
      {"diff", [](Tensor a) { return a.diff(); }},
      {"var", [](Tensor a) { return a.var(0); }},
      {"nansum", [](Tensor a) { return a.nansum(); }},
      {"positive", [](Tensor a) { return a.positive(); }},
      {"sgn", [](Tensor a) { return a.sgn(); }},
      {"erf", [](Tensor a) { return a.erf(); }},
      {"exp2", [](Tensor a) { return a.exp2(); }},
      {"tril", [](Tensor a) { return a.unsqueeze(0).tril(); }},
      {"ceil_", [](Tensor a) { return a.ceil_(); }},
      {"exp_", [](Tensor a) { return a.exp_(); }},
      {"rand_like", [](Tensor a) { return torch::rand_like(a); }},
      {"randn_like", [](Tensor a) { return torch::randn_like(a); }},
      {"histc", [](Tensor a) { return a.histc(2); }},
      {"bincount", [](Tensor a) { return a.bincount(); }}};
  const auto result = [](auto f) -> std::string {
    try {
      return torch::toString(f().scalar_type()) + std::string(" ");
    } catch (const std::exception&) {
      return "- ";
    }
  };
  for (const auto& [name, f] : unary) {
    std::cout << name << ": ";
    for (auto t : types) std::cout << result([&] { return f(torch::tensor({1, 2}).to(t)); });
    std::cout << "\n";
  }
  for (const auto& [name, f] : binary) {
    std::cout << name << ":\n";
    for (auto t : types) {
      std::cout << "  " << t << ": ";
      for (auto s : types)
        std::cout << result([&] {
          return f(torch::tensor({1, 2}).to(t), torch::tensor({1, 1}).to(s));
        });
      std::cout << "\n";
    }
  }
  for (auto t : types)
    for (auto s : types)
      std::cout << torch::promote_types(t, s) << torch::can_cast(t, s)
                << torch::result_type(torch::ones({1}, t), torch::ones({}, s)) << " ";
  std::cout << "\n";
}
