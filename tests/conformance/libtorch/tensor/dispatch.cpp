// Kernels written by hand: dispatch over dtypes, accessors, raw pointers, from_blob.
#include <torch/torch.h>

#include <cstring>
#include <iostream>
#include <limits>
#include <numeric>

template <typename scalar_t>
void saxpy_kernel(const scalar_t* x, scalar_t* y, scalar_t a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = y[i] + a * x[i];
}

at::Tensor saxpy(const at::Tensor& x, const at::Tensor& y, double a) {
  TORCH_CHECK(x.sizes() == y.sizes(), "sizes ", x.sizes(), " and ", y.sizes(), " differ");
  TORCH_INTERNAL_ASSERT(x.dim() == y.dim());
  auto out = y.contiguous().clone();
  const auto in = x.contiguous();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "saxpy", [&] {
    saxpy_kernel<scalar_t>(in.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(),
                           static_cast<scalar_t>(a), in.numel());
  });
  return out;
}

template <typename T>
void describe() {
  using limits = std::numeric_limits<T>;
  std::cout << double(limits::max()) << " " << double(limits::lowest()) << " "
            << double(limits::min()) << " " << double(limits::epsilon()) << " " << limits::digits
            << " " << limits::is_integer << "\n";
}

int main() {
  std::cout << saxpy(torch::arange(3.0), torch::ones({3}), 2) << "\n"
            << saxpy(torch::arange(3, torch::kDouble), torch::ones({3}, torch::kDouble), 0.5)
            << "\n";
  try {
    saxpy(torch::arange(3), torch::arange(3), 1);
  } catch (const c10::Error& error) {
    std::cout << "not for Long: " << (std::string(error.what()).find("saxpy") != std::string::npos)
              << "\n";
  }
  try {
    saxpy(torch::ones({3}), torch::ones({2}), 1);
  } catch (const c10::Error& error) {
    std::cout << error.msg() << "\n";
  }
  for (auto type : {at::kByte, at::kShort, at::kLong, at::kFloat, at::kDouble})
    AT_DISPATCH_ALL_TYPES(type, "width", ([&] { std::cout << sizeof(scalar_t) << " "; }));
  for (auto type : {at::kHalf, at::kFloat})
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, "width",
                                        [&] { std::cout << sizeof(scalar_t) << " "; });
  for (auto type : {at::kInt, at::kBool})
    AT_DISPATCH_ALL_TYPES_AND(at::kBool, type, "width",
                              [&] { std::cout << sizeof(scalar_t) << " "; });
  for (auto type : {at::kInt, at::kBFloat16, at::kBool, at::kHalf})
    AT_DISPATCH_ALL_TYPES_AND3(at::kBool, at::kHalf, at::kBFloat16, type, "width",
                               [&] { std::cout << sizeof(scalar_t) << " "; });
  AT_DISPATCH_INTEGRAL_TYPES(at::kShort, "width", [&] { std::cout << sizeof(scalar_t) << "\n"; });
  const auto largest = AT_DISPATCH_INTEGRAL_TYPES(
      at::kInt, "largest", [&]() -> int64_t { return std::numeric_limits<scalar_t>::max(); });
  std::cout << largest << "\n";

  auto matrix = torch::arange(6.0).view({2, 3});
  auto access = matrix.accessor<float, 2>();
  float trace = 0;
  for (int64_t i = 0; i < access.size(0); ++i)
    for (int64_t j = 0; j < access.size(1); ++j)
      if (i == j) trace += access[i][j];
  auto row = access[1];
  row[2] = 40;
  std::cout << trace << " " << matrix[1][2].item<float>() << access.sizes() << access.strides()
            << row.size(0) << row.stride(0) << *access.data() << "\n";
  auto turned = matrix.t();
  auto packed = turned.packed_accessor64<float, 2>();
  std::cout << packed[2][1] << packed.size(0) << packed.stride(0) << "\n";

  std::vector<float> values(6);
  std::iota(values.begin(), values.end(), 1.f);
  auto blob = torch::from_blob(values.data(), {2, 3});
  values[0] = 10;
  blob[1][2] = 60;
  std::cout << blob << values[5] << "\n";
  int freed = 0;
  {
    auto owned = torch::from_blob(
        new int32_t[2]{4, 5}, {2},
        [&](void* p) {
          delete[] static_cast<int32_t*>(p);
          ++freed;
        },
        torch::kInt32);
    auto view = owned.slice(0, 1);
    owned = torch::Tensor();
    std::cout << freed << view << "\n";
  }
  std::cout << freed << "\n";
  double grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
  std::cout << torch::from_blob(grid, {3, 2}, {1, 3}, torch::kFloat64) << "\n";
  std::vector<int64_t> longs = {3, 1, 2};
  auto tensor = torch::tensor(longs);
  auto copied =
      torch::from_blob(longs.data(), {3}, torch::TensorOptions().dtype(torch::kInt64)).clone();
  longs[0] = 9;
  std::cout << tensor << copied << torch::tensor(at::ArrayRef<double>({1, 2})).dtype()
            << torch::tensor(std::vector<float>{1}).dtype()
            << torch::tensor({1, 2}, torch::kFloat).dtype() << torch::tensor({true}).dtype()
            << torch::tensor(std::vector<uint8_t>{1}).dtype() << "\n";
  std::vector<float> back(matrix.data_ptr<float>(), matrix.data_ptr<float>() + matrix.numel());
  std::memcpy(matrix.data_ptr(), std::vector<float>(6, 2.f).data(), matrix.nbytes());
  std::cout << back[5] << matrix.sum().item<double>() << "\n";

  std::cout << (matrix[1].storage().data() == matrix.storage().data()) << "\n";

  at::Half half = 1.5f;
  c10::BFloat16 brain = 3.14159f;
  half += 1;
  std::cout << half << " " << float(brain) << " " << half * half << " " << (half < at::Half(3))
            << " " << static_cast<double>(-half) << " " << float(half / 2) << "\n";
  std::cout << torch::full({1}, half).dtype() << torch::tensor(half).dtype()
            << torch::ones({1}, torch::kHalf).item<at::Half>() << "\n";
  describe<at::Half>();
  describe<at::BFloat16>();
  describe<float>();
}
