// Everything that makes tensors, by shape, dtype and (where not random) value.
#include <torch/torch.h>

#include <iostream>

static void show(const char* what, const torch::Tensor& x) {
  std::cout << what << ": " << x.sizes() << " " << x.dtype() << " " << x.requires_grad() << " "
            << x.device() << " |";
  auto flat = x.to(torch::kDouble).contiguous().view(-1);
  for (int64_t i = 0; i < std::min<int64_t>(flat.numel(), 8); ++i)
    std::cout << " " << flat[i].item<double>();
  std::cout << "\n";
}
static void shape(const char* what, const torch::Tensor& x, double low, double high) {
  std::cout << what << ": " << x.sizes() << " " << x.dtype() << " "
            << (x.ge(low) & x.le(high)).all().item<bool>() << "\n";
}

int main() {
  using torch::kDouble, torch::kLong, torch::kInt, torch::kBool, torch::kHalf;
  show("zeros", torch::zeros({2, 3}));
  show("zeros of a vector", torch::zeros(std::vector<int64_t>{2}));
  show("zeros of one", torch::zeros(3));
  show("no dimensions", torch::ones({}));
  show("full", torch::full({2}, 1.5));
  show("full of integers", torch::full({2}, 3));
  show("full of bools", torch::full({2}, true));
  show("full as double", torch::full({2}, 3, kDouble));
  show("eye", torch::eye(2, 3));
  show("eye of integers", torch::eye(2, kInt));
  show("arange", torch::arange(5));
  show("arange of doubles", torch::arange(2.5));
  show("arange of a range", torch::arange(1, 6, 2));
  show("arange down", torch::arange(3, 0, -1));
  show("arange by halves", torch::arange(0, 1, 0.25));
  show("arange as", torch::arange(0, 3, torch::TensorOptions().dtype(torch::kFloat64)));
  show("range", torch::range(1, 3, 1));
  show("linspace", torch::linspace(0, 1, 5));
  show("linspace of one", torch::linspace(2, 3, 1));
  show("logspace", torch::logspace(0, 2, 3));
  show("logspace by 2", torch::logspace(0, 3, 4, 2));
  show("tensor", torch::tensor({1, 2, 3}));
  show("tensor of floats", torch::tensor({1.f, 2.f}));
  show("tensor of doubles", torch::tensor({1.0, 2.0}));
  show("tensor as double", torch::tensor({1.0, 2.0}, kDouble));
  show("nested", torch::tensor({{1, 2}, {3, 4}}));
  show("deeply nested", torch::tensor({{{1.5}, {2.5}}}));
  show("bools", torch::tensor({true, false}));
  show("one number", torch::tensor(5));
  show("nothing", torch::tensor(std::vector<float>{}));
  show("requires grad", torch::tensor({1.0}, torch::requires_grad()));
  show("one_hot", torch::one_hot(torch::tensor({1, 0, 2})));
  show("tril_indices", torch::tril_indices(3, 3));
  show("triu_indices", torch::triu_indices(2, 4, -1, kInt));
  auto like = torch::ones({2, 1}, kDouble);
  show("zeros_like", torch::zeros_like(like));
  show("ones_like", torch::ones_like(like, torch::kLong));
  show("full_like", torch::full_like(like, 7));
  show("full_like as", torch::full_like(like, 7, kInt));
  show("new_full", like.new_full({3}, 2));
  show("new_ones", like.new_ones({1, 2}, torch::dtype(kBool)));
  shape("rand", torch::rand({3, 4}), 0, 1);
  shape("rand_like", torch::rand_like(like), 0, 1);
  shape("randn", torch::randn({2, 2}, kDouble), -20, 20);
  shape("randn_like", torch::randn_like(like, torch::dtype(torch::kFloat)), -20, 20);
  shape("randint", torch::randint(5, {3}), 0, 4);
  shape("randint of a range", torch::randint(-2, 3, {2, 2}), -2, 2);
  shape("randint as", torch::randint(0, 10, {2}, kInt), 0, 9);
  shape("randint_like", torch::randint_like(like, 4), 0, 3);
  shape("randperm", torch::randperm(6), 0, 5);
  shape("randperm as", torch::randperm(4, torch::dtype(kInt)), 0, 3);
  shape("normal", torch::normal(2.0, 0.0, {2}), 2, 2);
  shape("bernoulli", torch::bernoulli(torch::full({5}, 0.5)), 0, 1);
  shape("bernoulli p", torch::bernoulli(torch::empty({2, 2}), 1.0), 1, 1);
  shape("multinomial", torch::multinomial(torch::tensor({0.0, 1.0, 1.0}), 2), 1, 2);
  shape("multinomial rows", torch::multinomial(torch::ones({3, 4}), 5, true), 0, 3);
  shape("uniform_", torch::empty({3}).uniform_(2, 3), 2, 3);
  shape("normal_", torch::empty({3}).normal_(5, 0), 5, 5);
  shape("random_", torch::empty({3}, kLong).random_(10), 0, 9);
  shape("random_ range", torch::empty({3}).random_(3, 5), 3, 4);
  shape("bernoulli_", torch::empty({3}).bernoulli_(0.0), 0, 0);
  shape("exponential_", torch::empty({3}).exponential_(), 0, 1e9);
  shape("geometric_", torch::empty({3}).geometric_(0.5), 1, 1e9);
  shape("log_normal_", torch::empty({3}).log_normal_(), 0, 1e9);
  shape("dropout", torch::dropout(torch::ones({10}), 0.5, true), 0, 2);

  torch::manual_seed(3);
  auto a = torch::rand({4}), b = torch::randn({4});
  torch::manual_seed(3);
  std::cout << torch::equal(a, torch::rand({4})) << torch::equal(b, torch::randn({4})) << "\n";
  auto generator = torch::make_generator<at::CPUGeneratorImpl>(7);
  auto other = at::detail::createCPUGenerator(7);
  std::cout << torch::equal(torch::rand({3}, generator), torch::rand({3}, other))
            << torch::equal(torch::randperm(9, generator), torch::randperm(9, other))
            << torch::equal(torch::randint(0, 99, {3}, generator),
                            torch::randint(0, 99, {3}, other))
            << generator.current_seed() << "\n";
  generator.set_current_seed(7);
  auto first = torch::randn({3}, generator);
  auto state = generator.get_state();
  auto second = torch::randn({3}, generator);
  generator.set_state(state);
  std::cout << torch::equal(second, torch::randn({3}, generator)) << torch::equal(first, second)
            << state.dtype() << "\n";
  auto& standard = at::globalContext().defaultGenerator(at::kCPU);
  std::cout << standard.device() << (at::detail::getDefaultCPUGenerator() == standard) << "\n";
  {
    std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(1);
  }
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  show("double by default", torch::ones({1}));
  show("literals too", torch::tensor({1.5}));
  std::cout << torch::get_default_dtype() << "\n";
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat));
  auto out = torch::empty({0});
  torch::arange_out(out, 3);
  torch::zeros_out(out, {2});
  show("out", out);
  auto [x, y] = std::make_tuple(torch::meshgrid({torch::arange(2), torch::arange(3)}, "ij")[0],
                                torch::meshgrid({torch::arange(2), torch::arange(3)})[1]);
  show("grid", x);
  show("grid", y);
}
