// The CPU cases of the performance record, beside OpenBLAS itself. bench/cpu_peer.cpp runs the same
// in libtorch, where that is installed.
#ifdef GRADUS_BENCH_BLAS
#include <cblas.h>
#endif

#include <thread>

#include "bench/timer.h"

using namespace gradus;
using bench::host_seconds, bench::report;

int main() {
  manual_seed(1);
  {
    const NoGradGuard guard;
    const Tensor a = ones({1}), b = ones({1});
    report("a + b, one element", "gradus", host_seconds([&] { a + b; }, 11, 100000), 1, "op");
    const Tensor x = rand({10000000}), y = rand({10000000});
    report("a + b, 1e7", "gradus", host_seconds([&] { x + y; }, 7, 3), 1, "op");
    report("exp, 1e7", "gradus", host_seconds([&] { x.exp(); }, 7, 3), 1, "op");
    report("sum, 1e7", "gradus", host_seconds([&] { x.sum(); }, 7, 3), 1, "op");
    for (const int n : {256, 512, 1024, 2048}) {
      const Tensor p = randn({n, n}), q = randn({n, n});
      const double operations = 2.0 * n * n * n;
      const int calls = n <= 512 ? 20 : 3;
      char name[32];
      std::snprintf(name, sizeof name, "matmul %d", n);
      report(name, "gradus", host_seconds([&] { p.matmul(q); }, 9, calls), operations, "FLOP");
#ifdef GRADUS_BENCH_BLAS
      const auto blas = [&] {
        const Tensor out = empty({n, n});
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, p.data_ptr<float>(), n,
                    q.data_ptr<float>(), n, 0, out.data_ptr<float>(), n);
      };
      // Gradus keeps OpenBLAS to one thread and cuts up its work itself; alone it uses all.
      openblas_set_num_threads(static_cast<int>(std::thread::hardware_concurrency()));
      report(name, "openblas", host_seconds(blas, 9, calls), operations, "FLOP");
      openblas_set_num_threads(1);
#endif
    }
  }
  nn::Linear fc(10, 1);
  optim::SGD sgd(fc->parameters(), optim::SGDOptions(0.01).momentum(0.9));
  nn::MSELoss loss;
  const Tensor x = randn({64, 10}), y = randn({64, 1});
  const auto step = [&] {
    sgd.zero_grad();
    loss(fc(x), y).backward();
    sgd.step();
  };
  report("step Linear(10, 1) batch 64", "gradus", host_seconds(step, 11, 5000), 1, "step");
}
