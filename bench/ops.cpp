// Operations at 1e3, 1e5 and 1e7 elements.
#include "bench/turns.h"

#include <cmath>

namespace {

using torch::Tensor;
using turns::on, turns::time;

void elementwise(const std::string& size, int64_t n) {
  const Tensor x = torch::rand({n}, on) + 0.5, y = torch::rand({n}, on) + 0.5;
  time("x + y, " + size, [&] { return x + y; });
  time("x * y, " + size, [&] { return x * y; });
  time("x * 2, " + size, [&] { return x * 2; });
  time("relu, " + size, [&] { return torch::relu(x); });
  time("exp, " + size, [&] { return torch::exp(x); });
  time("log, " + size, [&] { return torch::log(x); });
  time("sin, " + size, [&] { return torch::sin(x); });
  time("tanh, " + size, [&] { return torch::tanh(x); });
  time("sigmoid, " + size, [&] { return torch::sigmoid(x); });
  time("gelu, " + size, [&] { return torch::gelu(x); });
  time("sqrt, " + size, [&] { return torch::sqrt(x); });
  time("x < y, " + size, [&] { return x < y; });
}

// A matrix of about as many rows as columns.
void matrices(const std::string& size, int64_t n) {
  const auto rows = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  const Tensor x = torch::rand({rows, n / rows}, on), row = torch::rand({n / rows}, on);
  time("x + row, " + size, [&] { return x + row; });
  time("x.t() + x.t() * 1, " + size, [&] { return x.t() + x.t(); });
  time("copy of x.t(), " + size, [&] { return x.t().contiguous(); });
  time("sum, " + size, [&] { return x.sum(); });
  time("sum of columns, " + size, [&] { return x.sum(0); });
  time("sum of rows, " + size, [&] { return x.sum(1); });
  time("mean of rows, " + size, [&] { return x.mean(1); });
  time("amax, " + size, [&] { return x.amax(); });
  time("amax of columns, " + size, [&] { return x.amax(0); });
  time("max of rows with indices, " + size, [&] { return std::get<0>(x.max(1)); });
  time("argmax of columns, " + size, [&] { return x.argmax(0); });
  time("softmax of rows, " + size, [&] { return x.softmax(1); });
  time("log_softmax of columns, " + size, [&] { return x.log_softmax(0); });
}

void indexing(const std::string& size, int64_t n) {
  const auto rows = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  const int64_t columns = n / rows;
  const Tensor x = torch::rand({rows, columns}, on), mask = x > 0.5;
  const Tensor some = torch::randint(0, rows, {rows}, on.dtype(torch::kLong));
  const Tensor places = torch::randint(0, columns, {rows, columns}, on.dtype(torch::kLong));
  time("cat of rows, " + size, [&] { return torch::cat({x, x}, 0); });
  time("cat of columns, " + size, [&] { return torch::cat({x, x}, 1); });
  time("index_select of rows, " + size, [&] { return x.index_select(0, some); });
  time("x.index({rows}), " + size, [&] { return x.index({some}); });
  time("gather along rows, " + size, [&] { return x.gather(1, places); });
  time("x.index({mask}), " + size, [&] { return x.index({mask}); });
  time("masked_fill, " + size, [&] { return x.masked_fill(mask, 0); });
  time("where, " + size, [&] { return torch::where(mask, x, x); });
}

void products() {
  for (const int64_t n : {128, 256, 512, 1024, 2048}) {
    const Tensor x = torch::randn({n, n}, on), y = torch::randn({n, n}, on);
    time("matmul " + std::to_string(n), [&] { return x.matmul(y); });
  }
}

// The cost of the graph: one operation is recorded, and its tensor freed.
void recording() {
  const Tensor x = torch::rand({1}, on.requires_grad(true)), y = torch::rand({1}, on);
  time("x + y recorded, 1 element", [&] { return x + y; });
  time("x * y recorded, 1 element", [&] { return x * y; });
  time("exp recorded, 1 element", [&] { return x.exp(); });
}

}  // namespace

int main(int argc, char** argv) {
  turns::read_arguments(argc, argv);
  torch::manual_seed(1);
  for (const auto& [size, n] : {std::pair{"1e3", 1000}, {"1e5", 100000}, {"1e7", 10000000}}) {
    const torch::NoGradGuard guard;
    elementwise(size, n);
    matrices(size, n);
    indexing(size, n);
  }
  products();
  recording();
}
