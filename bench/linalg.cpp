// Linear algebra at 512 and 2048, and in batches of 8 x 8.
#include "bench/turns.h"

namespace {

using torch::Tensor;
using turns::on, turns::time;

// Cases of matrices `a`, which are of full rank.
void factorizations(const std::string& size, const Tensor& a) {
  const Tensor turned = a.transpose(-2, -1);
  const Tensor symmetric = a + turned, one = torch::eye(a.size(-1), on);
  const Tensor positive = a.matmul(turned) + one * static_cast<double>(a.size(-1));
  const Tensor dominant = a + one * static_cast<double>(a.size(-1));
  time("solve, " + size, [&] { return torch::linalg_solve(dominant, a); });
  time("inv, " + size, [&] { return torch::linalg_inv(dominant); });
  time("cholesky, " + size, [&] { return torch::linalg_cholesky(positive); });
  time("qr, " + size, [&] { return std::get<0>(torch::linalg_qr(a)); });
  time("eigh, " + size, [&] { return std::get<0>(torch::linalg_eigh(symmetric)); });
  time("svd, " + size, [&] { return std::get<1>(torch::linalg_svd(a, false)); });
  time("det, " + size, [&] { return torch::linalg_det(a); });
}

}  // namespace

int main(int argc, char** argv) {
  turns::read_arguments(argc, argv);
  torch::manual_seed(1);
  const torch::NoGradGuard guard;
  for (const int64_t n : {512, 2048}) factorizations(std::to_string(n), torch::randn({n, n}, on));
  for (const int64_t batch : {100, 10000})
    factorizations(std::to_string(batch) + " x 8 x 8", torch::randn({batch, 8, 8}, on));
}
