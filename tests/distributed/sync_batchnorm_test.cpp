// SyncBatchNorm: ranks with parts of a batch compute what one rank computes with all of it.
#include <sstream>

#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;

// Rank r of `size` has the rows from r (r + 1) / 2 on: batches of 1, 2, 3 ... rows.
Tensor part_of(const Tensor& rows, int rank) {
  return rows.narrow(0, rank * (rank + 1) / 2, rank + 1).clone();
}

Tensor some(IntArrayRef sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return (arange(count, kDouble) * 1.7).sin().view(sizes) + 0.5;
}

struct Result {
  Tensor output, input_grad, weight_grad, bias_grad, running_mean, running_var, second;
};

// A training step on x, of the loss sum(output * scale), and the gradient of a gradient.
template <class Norm>
Result step(const Norm& norm, const Tensor& rows, const Tensor& scale) {
  const Tensor x = rows.clone().requires_grad_();
  norm->to(kDouble);
  {
    const NoGradGuard guard;
    norm->weight.copy_(arange(3, kDouble) + 1);
  }
  const Tensor y = norm(x);
  const Tensor grad = autograd::grad({(y * scale).sum()}, {x}, {}, true, true)[0];
  const Tensor second = autograd::grad({(grad * scale).sum()}, {x}, {}, true)[0];
  (y * scale).sum().backward();
  return {y.detach(),        x.grad(), norm->weight.grad(), norm->bias.grad(), norm->running_mean,
          norm->running_var, second};
}

TEST(SyncBatchNorm, IsBatchNormOfTheWholeBatch) {
  for (const int size : {1, 2, 3})
    for (const bool spatial : {false, true}) {
      const int64_t rows = size * (size + 1) / 2 + (size == 1 ? 1 : 0);
      const Tensor x = spatial ? some({rows, 3, 2, 2}) : some({rows, 3});
      const Tensor scale = some(x.sizes()).square();
      const auto options = nn::BatchNormOptions(3).momentum(0.3);
      const Result whole = spatial ? step(nn::BatchNorm2d(options), x, scale)
                                   : step(nn::BatchNorm1d(options), x, scale);
      std::vector<Result> own(static_cast<size_t>(size)), converted = own;
      dist::spawn_threads(size, [&](int rank) {
        const Tensor here = size == 1 ? x : part_of(x, rank);
        const Tensor there = size == 1 ? scale : part_of(scale, rank);
        const auto r = static_cast<size_t>(rank);
        own[r] = step(nn::SyncBatchNorm(nn::SyncBatchNormOptions(3).momentum(0.3)), here, there);
        converted[r] =
            spatial ? step(nn::convert_sync_batchnorm(nn::BatchNorm2d(options)), here, there)
                    : step(nn::convert_sync_batchnorm(nn::BatchNorm1d(options)), here, there);
      });
      for (const auto& ranks : {own, converted}) {
        const auto all = [&](Tensor Result::*what) {
          Tensors parts;
          for (const Result& rank : ranks) parts.push_back(rank.*what);
          return parts;
        };
        const auto expect_near = [](const Tensor& got, const Tensor& expected) {
          EXPECT_TRUE(allclose(got, expected, 1e-9, 1e-9)) << got << expected;
        };
        expect_near(cat(all(&Result::output)), whole.output);
        expect_near(cat(all(&Result::input_grad)), whole.input_grad);
        expect_near(cat(all(&Result::second)), whole.second);
        // DistributedDataParallel adds up gradients of parameters.
        expect_near(stack(all(&Result::weight_grad)).sum(0), whole.weight_grad);
        expect_near(stack(all(&Result::bias_grad)).sum(0), whole.bias_grad);
        for (const Result& rank : ranks) {
          expect_near(rank.running_mean, whole.running_mean);
          expect_near(rank.running_var, whole.running_var);
        }
      }
    }
}

TEST(SyncBatchNorm, IsBatchNormAfterEvalAndWithoutAJob) {
  const Tensor x = some({4, 3}).to(kFloat);
  const nn::SyncBatchNorm norm(3);
  const nn::BatchNorm1d plain(3);
  EXPECT_TRUE(allclose(norm(x), plain(x)));
  norm->eval(), plain->eval();
  EXPECT_TRUE(allclose(norm(x), plain(x)));
  EXPECT_EQ(norm->state_dict().keys(), plain->state_dict().keys());
  std::ostringstream out;
  out << nn::SyncBatchNorm(nn::SyncBatchNormOptions(3).momentum({}));
  EXPECT_EQ(out.str(),
            "gradus::nn::SyncBatchNorm(3, eps=1e-05, momentum=None, affine=true, "
            "track_running_stats=true)");
  expect_error<ValueError>(
      [&] {
        norm(ones({2, 4}));
      },
      "SyncBatchNorm: expected input (N, C, ...) with C = num_features = 3");
  expect_error<ValueError>([] { nn::SyncBatchNorm(0); }, "num_features must be 1 or more");
}

TEST(SyncBatchNorm, ConvertsWhatAModuleHoldsAndItsClones) {
  dist::spawn_threads(2, [](int rank) {
    nn::Sequential net(nn::Linear(3, 3), nn::Sequential(nn::BatchNorm1d(3)));
    nn::convert_sync_batchnorm(*net);
    const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone());
    for (const auto& each : {net.ptr(), copy}) {
      each->forward(some({2, 3}).to(kFloat) * (rank + 1));
      Tensor mean = each->named_buffers()["1.0.running_mean"].clone(), sum = mean.clone();
      dist::all_reduce(sum);
      EXPECT_TRUE(allclose(sum, 2 * mean));
    }
  });
}

}  // namespace
}  // namespace gradus
