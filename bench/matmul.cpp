// The matmul ladder beside cuBLAS on square products: one table of every kernel and size.
//
//   bench_matmul [--sizes 1024,4096] [--kernels vectorized,automatic] [--rounds 20]
//                [--dtype float32|bfloat16|float16] [--layouts NN,NT,TN]
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "bench/timer.h"
#include "gradus/cuda/ops/matmul.h"

using namespace gradus;

namespace {

// ||c - a b|| / ||a b|| against float64, on 64 rows spread over the product.
double relative_error(const Tensor& a, const Tensor& b, const Tensor& c) {
  constexpr int64_t kRows = 16;
  const Tensor exact_b = b.to(kDouble);
  double difference = 0, norm = 0;
  for (int part = 0; part < 4; ++part) {
    const int64_t start = (a.size(0) - kRows) * part / 3;
    const Tensor exact = a.narrow(0, start, kRows).to(kDouble).matmul(exact_b);
    difference += (c.narrow(0, start, kRows).to(kDouble) - exact).square().sum().item<double>();
    norm += exact.square().sum().item<double>();
  }
  return std::sqrt(difference / norm);
}

struct Result {
  double seconds, error;
};

Result measure(const std::string& kernel, const Tensor& a, const Tensor& b, int rounds) {
  Tensor product;
  cuda::set_matmul_kernel(kernel);
  const double seconds = bench::device_seconds([&] { product = a.matmul(b); }, rounds);
  cuda::set_matmul_kernel("automatic");
  return {seconds, relative_error(a, b, product)};
}

struct Options {
  std::vector<int64_t> sizes = {512, 1024, 2048, 4096, 8192};
  std::vector<std::string> kernels;
  std::vector<std::string> layouts = {"NN"};  // T: the transpose of what lies in memory
  ScalarType dtype = kFloat;
  int rounds = 20;
};

ScalarType dtype_of_name(const std::string& name) {
  for (const ScalarType dtype : {kFloat, kBFloat16, kHalf})
    if (name == std::string(short_name(dtype))) return dtype;
  fail<ValueError>("--dtype ", name, ": expected float32, bfloat16 or float16");
}

// Errors: ValueError that shows the flags.
Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    const bool numeric = flag == "--sizes" || flag == "--rounds";
    const bool known = numeric || flag == "--kernels" || flag == "--dtype" || flag == "--layouts";
    check(known && i + 1 < argc, "unexpected ", flag,
          "; use --sizes 1024,4096 --kernels tiled,vectorized --rounds 20 --dtype bfloat16 "
          "--layouts NN,NT");
    std::vector<std::string> values;
    std::istringstream list(argv[i + 1]);
    for (std::string value; std::getline(list, value, ',');) values.push_back(value);
    if (flag == "--kernels") options.kernels = values;
    if (flag == "--layouts") options.layouts = values;
    if (flag == "--dtype") options.dtype = dtype_of_name(values.at(0));
    if (!numeric) continue;
    std::vector<int64_t> numbers;
    for (const std::string& value : values) {
      numbers.push_back(std::atoll(value.c_str()));
      check(numbers.back() >= (flag == "--sizes" ? 16 : 10), flag, " ", value,
            ": expected sizes from 16 and rounds from 10 upwards");
    }
    if (flag == "--sizes")
      options.sizes = numbers;
    else
      options.rounds = static_cast<int>(numbers.at(0));
  }
  if (!options.kernels.empty()) return options;
  if (options.dtype != kFloat)
    options.kernels = {"tiled", "wgmma", "cublas", "automatic"};
  else
    for (const std::string_view name : cuda::matmul_kernels()) options.kernels.emplace_back(name);
  return options;
}

Tensor operand(int64_t size, char layout, ScalarType dtype) {
  const Tensor x = randn({size, size}, kCUDA).to(dtype);
  return layout == 'T' ? x.t() : x;
}

void run(const Options& options) {
  bench::print_config();
  std::printf("device: %s\n\n", cuda::getDeviceProperties(0).name.c_str());
  std::printf("| kernel | layout | size | ms | TFLOP/s | of cuBLAS | relative error |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const std::string& layout : options.layouts)
    for (const int64_t size : options.sizes) {
      const Tensor a = operand(size, layout.at(0), options.dtype);
      const Tensor b = operand(size, layout.at(1), options.dtype);
      const double operations = 2 * std::pow(static_cast<double>(size), 3);
      const double peer = measure("cublas", a, b, options.rounds).seconds;
      for (const std::string& kernel : options.kernels) {
        const Result result = measure(kernel, a, b, options.rounds);
        std::printf("| %s | %s | %lld | %.4f | %.2f | %.1f%% | %.2e |\n", kernel.c_str(),
                    layout.c_str(), static_cast<long long>(size), result.seconds * 1e3,
                    operations / result.seconds * 1e-12, 100 * peer / result.seconds, result.error);
        std::fflush(stdout);
      }
    }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    check<Error>(cuda::is_available(), cuda::why_unavailable());
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_matmul: %s\n", error.what());
    return 1;
  }
}
