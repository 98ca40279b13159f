// Conversions, literals and questions, as a test file of the tensor class puts them.
#include <torch/torch.h>

#include <iostream>
#include <numeric>

int failures = 0;
#define CHECK(...) \
  if (!(__VA_ARGS__)) ++failures, std::cout << __LINE__ << ": " #__VA_ARGS__ "\n"
template <typename T>
bool exactly_equal(at::Tensor left, T right) {
  return left.item<T>() == right;
}
template <typename T>
bool almost_equal(at::Tensor left, T right, double tolerance = 1e-4) {
  return std::abs(left.item<T>() - right) < tolerance;
}
#define REQUIRE_TENSOR_OPTIONS(device_, index_, type_, layout_)              \
  CHECK(tensor.device().type() == at::Device((device_), (index_)).type());   \
  CHECK(tensor.device().index() == at::Device((device_), (index_)).index()); \
  CHECK(tensor.dtype() == (type_));                                          \
  CHECK(tensor.layout() == (layout_))

struct Holder {
  torch::Tensor weight = torch::ones({2});
  c10::optional<torch::Tensor> bias;
  const torch::Tensor& get() const { return weight; }
  torch::Tensor& get() { return weight; }
};
static torch::Tensor& scaled(torch::Tensor& x) { return x.mul_(2); }
static torch::Tensor moved(torch::Tensor x) { return x; }
static std::tuple<at::Tensor, at::Tensor> split_in_two(const at::Tensor& x) {
  return std::make_tuple(x[0], x[1]);
}
static std::vector<at::Tensor> pieces(at::Tensor x) { return x.unbind(); }

int main() {
  auto tensor = at::empty({3, 4});
  REQUIRE_TENSOR_OPTIONS(at::kCPU, -1, at::kFloat, at::kStrided);
  tensor = tensor.to(at::kInt);
  REQUIRE_TENSOR_OPTIONS(at::kCPU, -1, at::kInt, at::kStrided);
  tensor = tensor.to(at::kDouble, /*non_blocking=*/true);
  CHECK(tensor.dtype() == at::kDouble);
  tensor = tensor.to(at::TensorOptions(at::kChar))
               .to(torch::device(at::kCPU))
               .to(torch::dtype(at::kByte));
  CHECK(tensor.scalar_type() == at::ScalarType::Byte);
  CHECK(tensor.to(at::kCPU, at::kLong).dtype() == at::kLong && tensor.to("cpu").is_same(tensor));
  CHECK(tensor.to(at::ones({1}, at::kHalf)).dtype() == at::kHalf &&
        tensor.toType(at::kFloat).dtype() == at::kFloat);
  CHECK(tensor.type_as(at::ones({1})).scalar_type() == at::kFloat);
  CHECK(!tensor.to(tensor.dtype(), false, /*copy=*/true).is_same(tensor) &&
        tensor.to(tensor.options()).is_same(tensor));
  CHECK(tensor.to(torch::kFloat32).to(torch::kCPU).cpu().dtype().name() == "float");

  tensor = torch::tensor({1, 2, 3});
  CHECK(tensor.numel() == 3 && tensor.dtype() == at::kLong && exactly_equal(tensor[0], int64_t{1}));
  tensor = torch::tensor(std::vector<int>({1, 2, 3}));
  CHECK(tensor.dtype() == at::kLong && exactly_equal(tensor[2], int64_t{3}));
  tensor = torch::tensor(at::ArrayRef<double>({1.5, 2.5}));
  CHECK(tensor.dtype() == at::kFloat && almost_equal(tensor[1], 2.5f));
  tensor = torch::tensor({1.5, 2.5}, at::dtype(at::kInt));
  CHECK(tensor.dtype() == at::kInt && exactly_equal(tensor[1], 2));
  tensor = torch::tensor({{1, 2}, {3, 4}}, torch::dtype(torch::kFloat).requires_grad(true));
  CHECK(tensor.sizes() == std::vector<int64_t>({2, 2}) && tensor.requires_grad() &&
        almost_equal(tensor[1][0], 3.f));
  tensor = torch::tensor({{{{{{1.0}}}}}});
  CHECK(tensor.dim() == 6 && tensor.numel() == 1);
  tensor = torch::tensor({{}, {}});
  CHECK(tensor.sizes() == torch::IntArrayRef({2, 0}));
  tensor = torch::tensor(3.5f);
  CHECK(tensor.dim() == 0 && tensor.item<double>() == 3.5 && tensor.item().to<int>() == 3);
  CHECK(torch::tensor(true).item<bool>() && torch::tensor(int8_t{3}).dtype() == torch::kInt8);
  CHECK(torch::tensor({true, false, true}).dtype() == torch::kBool);

  at::Scalar scalar = torch::tensor(123).item();
  CHECK(scalar.to<int>() == 123 && scalar.isIntegral(false) && scalar.type() == torch::kLong);
  scalar = torch::tensor(123.25).item();
  CHECK(scalar.to<float>() == 123.25f && scalar.isFloatingPoint());
  CHECK((torch::ones({2}) * scalar).sum().item<float>() == 246.5f);

  at::Tensor undefined;
  CHECK(!undefined.defined() && !torch::Tensor{}.defined() && undefined.is_same(at::Tensor()));
  auto x = torch::arange(6).view({2, 3});
  CHECK(x.dim() == 2 && x.ndimension() == 2 && x.size(0) == 2 && x.size(-1) == 3 &&
        x.stride(0) == 3 && x.numel() == 6);
  CHECK(x.sizes().vec() == std::vector<int64_t>({2, 3}) && x.sizes() == x.clone().sizes() &&
        x.sizes().size() == 2u);
  CHECK(x.is_contiguous() && !x.t().is_contiguous() && x.t().contiguous().is_contiguous());
  CHECK(x.element_size() == 8 && x.itemsize() == 8u && x.nbytes() == 48u &&
        !x.is_floating_point() && x.is_signed());
  CHECK(x.is_cpu() && !x.is_cuda() && !x.is_sparse() && !x.is_complex() && !x.is_quantized() &&
        x.get_device() == -1);
  CHECK(x.use_count() == 1u);
  auto alias = x;
  CHECK(x.use_count() == 2u && alias.is_same(x) && alias.data_ptr() == x.data_ptr() &&
        x.is_alias_of(x[1]));
  CHECK(x[1].data_ptr<int64_t>() == x.data_ptr<int64_t>() + 3);
  CHECK(torch::equal(x, x.clone()) && !torch::equal(x, x + 1) && x.equal(x) &&
        torch::allclose(x * 1.0, x + 1e-9));
  CHECK(x.ne(x + 1).all().item<bool>() && (x == x).all().item().toBool() &&
        x.eq(3).any().item<bool>());
  CHECK(x.sum().item<int>() == 15 && x.max().item<int64_t>() == 5 && *x.data_ptr<int64_t>() == 0);
  CHECK(bool((x < 10).all().item<bool>()) && torch::is_nonzero(x[0][1]) && x[0][1].is_nonzero());

  Holder holder;
  holder.get()[0] = 5;
  const Holder& constant = holder;
  CHECK(constant.get()[0].item<float>() == 5 && !holder.bias.has_value());
  holder.bias = torch::zeros({2});
  CHECK(holder.bias->numel() == 2 && holder.bias.value().sum().item<float>() == 0);
  auto y = torch::ones({2});
  scaled(scaled(y)).add_(1);
  CHECK(y[0].item<int>() == 5 && moved(std::move(y)).defined() && !y.defined());
  torch::Tensor a, b;
  std::tie(a, b) = split_in_two(x);
  auto [c, d] = split_in_two(x);
  CHECK(torch::equal(a, c) && torch::equal(b, d) && pieces(x).size() == 2u);
  std::vector<torch::Tensor> list{a, b};
  list.emplace_back(c);
  list.push_back(d.clone());
  CHECK(torch::stack(list).size(0) == 4 && torch::cat({list[0], list[1]}).numel() == 6 &&
        at::cat(list, 0).dim() == 1);
  std::swap(a, b);
  CHECK(torch::equal(a, d));
  a = b = x;
  CHECK(a.is_same(b));
  for (int64_t i = 0; i < x.size(0); ++i)
    for (int64_t j = 0; j < x.size(1); ++j) CHECK(x[i][j].item<int64_t>() == i * 3 + j);
  const auto& size = x.sizes();
  CHECK(std::accumulate(size.begin(), size.end(), int64_t{1}, std::multiplies<int64_t>()) ==
        x.numel());
  x.reset();
  CHECK(!x.defined() && torch::typeMetaToScalarType(torch::ones({1}).dtype()) == torch::kFloat);
  static_assert(std::is_same<at::Tensor, torch::Tensor>::value, "one class");
  static_assert(!std::is_constructible<bool, torch::Tensor>::value || true, "");
  torch::set_num_threads(1);
  CHECK(torch::get_num_threads() == 1);
  CHECK(torch::cuda::is_available() == (torch::cuda::device_count() > 0));
  std::cout << failures << " failures\n";
}
