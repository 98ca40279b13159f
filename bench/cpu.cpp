// The CPU cases of the performance record, beside OpenBLAS itself. bench/cpu_peer.cpp runs the same
// in libtorch, where that is installed. With arguments: cases whose names contain one of them.
#ifdef GRADUS_BENCH_BLAS
#include <cblas.h>
#endif

#include <thread>

#include "bench/timer.h"
#include "bench/wanted.h"

namespace library = gradus;
#include "bench/cpu_models.h"
#include "bench/resnet.h"
#include "bench/small_models.h"

using namespace gradus;
using bench::wanted;

namespace {

// What a model returns first.
const Tensor& first(const Tensor& y) { return y; }
template <class State>
const Tensor& first(const std::tuple<Tensor, State>& y) {
  return std::get<0>(y);
}

template <class F>
void time(const char* name, const char* who, int rounds, int calls, double work, const char* unit,
          const F& f) {
  if (wanted(name)) bench::report(name, who, bench::host_seconds(f, rounds, calls), work, unit);
}

}  // namespace

int main(int argc, char** argv) {
  bench::read_wanted(argc, argv);
  manual_seed(1);
  {
    const NoGradGuard guard;
    const Tensor a = ones({1}), b = ones({1});
    time("a + b, one element", "gradus", 11, 100000, 1, "op", [&] { a + b; });
    const Tensor x = rand({10000000}), y = rand({10000000});
    time("a + b, 1e7", "gradus", 7, 3, 1, "op", [&] { x + y; });
    time("exp, 1e7", "gradus", 7, 3, 1, "op", [&] { x.exp(); });
    time("sum, 1e7", "gradus", 7, 3, 1, "op", [&] { x.sum(); });
    for (const int n : {256, 512, 1024, 2048}) {
      const Tensor p = randn({n, n}), q = randn({n, n});
      const double operations = 2.0 * n * n * n;
      const int calls = n <= 512 ? 20 : 3;
      char name[32];
      std::snprintf(name, sizeof name, "matmul %d", n);
      time(name, "gradus", 9, calls, operations, "FLOP", [&] { p.matmul(q); });
#ifdef GRADUS_BENCH_BLAS
      const auto blas = [&] {
        const Tensor out = empty({n, n});
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, p.data_ptr<float>(), n,
                    q.data_ptr<float>(), n, 0, out.data_ptr<float>(), n);
      };
      // Gradus limits OpenBLAS to one thread and divides the work itself. By itself OpenBLAS uses
      // all threads.
      openblas_set_num_threads(static_cast<int>(std::thread::hardware_concurrency()));
      time(name, "openblas", 9, calls, operations, "FLOP", blas);
      openblas_set_num_threads(1);
#endif
    }
  }
  {
    // A matrix times each of ten vectors: one after the other, batched, and written as one product.
    const NoGradGuard guard;
    const Tensor a = randn({150, 100}), x = randn({10, 100});
    const auto times = [&](const Tensor& each) { return a.matmul(each); };
    time("vmap (150, 100) x 10 vectors", "loop", 11, 2000, 1, "call", [&] {
      Tensors out;
      for (int64_t i = 0; i < x.size(0); ++i) out.push_back(times(x[i]));
      stack(out);
    });
    const auto batched = autograd::functional::vmap(times);
    time("vmap (150, 100) x 10 vectors", "vmap", 11, 2000, 1, "call", [&] { batched(x); });
    time("vmap (150, 100) x 10 vectors", "matmul", 11, 2000, 1, "call", [&] { x.matmul(a.t()); });
  }
  {
    // The gradients of each of 100 samples.
    const Tensors weights = {randn({64, 64}).requires_grad_(), randn({64}).requires_grad_(),
                             randn({10, 64}).requires_grad_(), randn({10}).requires_grad_()};
    const Tensor x = randn({100, 64}), y = randint(10, {100}, kLong);
    const auto gradients = [](const Tensors& in) {  // weights, x, y
      const Tensor hidden = linear(in[4], in[0], in[1]).tanh();
      const Tensor scores = linear(hidden, in[2], in[3]);
      const Tensor loss = nn::functional::cross_entropy(scores.unsqueeze(0), in[5].unsqueeze(0));
      return autograd::grad({loss}, {in[0], in[1], in[2], in[3]});
    };
    const auto with = [&](const Tensor& samples, const Tensor& classes) {
      return Tensors{weights[0], weights[1], weights[2], weights[3], samples, classes};
    };
    const char* const name = "gradients of each sample, MLP, 100 samples";
    time(name, "loop", 11, 5, 1, "call", [&] {
      std::vector<Tensors> all(weights.size());
      for (int64_t i = 0; i < x.size(0); ++i) {
        const Tensors of_sample = gradients(with(x[i], y[i]));
        for (size_t k = 0; k < all.size(); ++k) all[k].push_back(of_sample[k]);
      }
      for (const Tensors& each : all) stack(each);
    });
    const auto batched = autograd::functional::vmap(
        gradients, {std::nullopt, std::nullopt, std::nullopt, std::nullopt, 0, 0});
    time(name, "vmap", 11, 50, 1, "call", [&] { batched(with(x, y)); });
  }
  const auto time_conv = [](const char* name, const Tensor& x, const Tensor& weight,
                            int64_t stride) {
    const Tensor in = x.requires_grad_(), w = weight.requires_grad_();
    time(name, "gradus", 7, 2, 1, "call", [&] {
      conv2d(in, w, {}, {stride, stride}).sum().backward();
    });
  };
  time_conv("conv 16 x 16 patches, 8 x 3 x 224 x 224 to 384", randn({8, 3, 224, 224}),
            randn({384, 3, 16, 16}), 16);
  time_conv("conv 1 x 1, 4 x 256 x 56 x 56 to 64", randn({4, 256, 56, 56}), randn({64, 256, 1, 1}),
            1);
  time_conv("conv 1 x 1, 8 x 24 x 56 x 56 to 144", randn({8, 24, 56, 56}), randn({144, 24, 1, 1}),
            1);
  const auto time_step = [](const char* name, int calls, const auto& model, const Tensor& x,
                            const Tensor& y, auto loss) {
    optim::SGD sgd(model->parameters(), optim::SGDOptions(0.01).momentum(0.9));
    const auto step = [&] {
      sgd.zero_grad();
      loss(first(model->forward(x)), y).backward();
      sgd.step();
    };
    time(name, "gradus", 11, calls, 1, "step", step);
  };
  time_step("step Linear(10, 1) batch 64", 5000, nn::Linear(10, 1), randn({64, 10}), randn({64, 1}),
            nn::MSELoss());
  time_step("step MLP 784-512-10 batch 128", 50, bench::mlp(), randn({128, 784}),
            randint(10, {128}, kLong), nn::CrossEntropyLoss());
  time_step("step LeNet-5 batch 128", 20, bench::lenet(), randn({128, 1, 28, 28}),
            randint(10, {128}, kLong), nn::CrossEntropyLoss());
  time_step("step LSTM 256x2 64 x batch 32", 2, nn::LSTM(nn::LSTMOptions(256, 256).num_layers(2)),
            randn({64, 32, 256}), randn({64, 32, 256}), nn::MSELoss());
  time_step("step TransformerEncoderLayer 384 64 x batch 128", 1,
            nn::TransformerEncoderLayer(384, 6), randn({64, 128, 384}), randn({64, 128, 384}),
            nn::MSELoss());
  time_step("step ResNet-18 batch 32", 2, std::make_shared<bench::ResNet18>(10),
            randn({32, 3, 32, 32}), randint(10, {32}, kLong), nn::CrossEntropyLoss());
  bench::time_models(time_step, [](const char* name, int calls, const auto& f) {
    time(name, "gradus", 11, calls, 1, "call", f);
  });
}
