// The bits of a row do not depend on what else is in its batch, on its place there, or on the
// number of threads: what always holds, and what at::globalContext().setBatchInvariant(true) adds.
// docs/reproducibility.md names these tests.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <thread>
#include <utility>
#include <vector>

#include "gradus/compat/ATen/Context.h"
#include "gradus/cpu/matmul/matmul.h"
#include "tests/invariantly.h"
#include "tests/nn/row_cases.h"
#include "tests/support.h"

namespace gradus {
namespace {

Tensor on_host(const Tensor& x) { return x.detach().to(kCPU).contiguous(); }

// How many rows of two results differ in a bit.
int64_t different_rows(const Tensor& x, const Tensor& y) {
  const Tensor a = on_host(x), b = on_host(y);
  EXPECT_EQ(a.sizes(), b.sizes());
  const size_t bytes = static_cast<size_t>(a.numel() / a.size(0)) * a.element_size();
  int64_t out = 0;
  for (int64_t i = 0; i < a.size(0); ++i)
    out += std::memcmp(static_cast<const char*>(a.data_ptr()) + static_cast<size_t>(i) * bytes,
                       static_cast<const char*>(b.data_ptr()) + static_cast<size_t>(i) * bytes,
                       bytes) != 0;
  return out;
}

// The batches in which a case gives other bits, a line for each. A device gets fewer of them.
std::string differences(const RowCase& c) {
  const NoGradGuard guard;
  const bool few = !c.batch.is_cpu();
  const Tensor all = on_host(c.f(c.batch));
  std::string out;
  const auto compare = [&](const std::string& what, const Tensor& got, const Tensor& expected) {
    if (const int64_t n = different_rows(got, expected))
      out += c.name + ", " + what + ": " + std::to_string(n) + " of " +
             std::to_string(expected.size(0)) + " rows differ\n";
  };
  const int64_t rows = c.batch.size(0), middle = rows / 4 + 1, last = rows - 3;
  for (const int64_t count : {1, 3})
    for (const int64_t place : {int64_t{0}, middle, last}) {
      if (few && place != (count == 1 ? middle : last)) continue;
      const std::string what =
          std::to_string(count) + " rows from " + std::to_string(place) + " on";
      const Tensor some = c.batch.narrow(0, place, count);
      const Tensor expected = all.narrow(0, place, count);
      compare(what, c.f(some), expected);
      if (place == middle && !few) compare(what + ", copied", c.f(some.clone()), expected);
    }
  if (!few) compare("reversed", c.f(c.batch.flip(0)), all.flip(0));
  return out;
}

// The same for threads.
std::string differences_of_threads(const RowCase& c) {
  const NoGradGuard guard;
  const int before = get_num_threads();
  std::string out;
  for (const int64_t rows : {int64_t{1}, c.batch.size(0)}) {
    const Tensor batch = c.batch.narrow(0, 0, rows);
    set_num_threads(1);
    const Tensor expected = c.f(batch);
    for (const int threads : {2, 3, 8}) {
      set_num_threads(threads);
      if (different_rows(c.f(batch), expected) > 0)
        out += c.name + ", " + std::to_string(rows) + " rows by " + std::to_string(threads) +
               " threads\n";
    }
  }
  set_num_threads(before);
  return out;
}

// --- The tests
struct RowFamily {
  const char* name;
  RowCases (*cases)(Device, ScalarType);
};
void PrintTo(const RowFamily& family, std::ostream* out) { *out << family.name; }
const std::vector<RowFamily> row_families{
    {"Products", product_cases},     {"Attention", attention_cases},
    {"Norms", norm_cases},           {"Elementwise", elementwise_cases},
    {"Reductions", reduction_cases}, {"Convolutions", convolution_cases},
    {"Sequences", sequence_cases},   {"Models", model_cases}};

class BatchInvariance : public testing::TestWithParam<RowFamily> {
 protected:
  RowCases cases(Device device, ScalarType dtype) const {
    manual_seed(1);
    return GetParam().cases(device, dtype);
  }
};
INSTANTIATE_TEST_SUITE_P(Of, BatchInvariance, testing::ValuesIn(row_families),
                         [](const auto& family) { return family.param.name; });

TEST_P(BatchInvariance, RowsHaveTheSameBitsInEveryBatch) {
  const Invariantly on;
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (const RowCase& c : cases(kCPU, dtype)) EXPECT_EQ(differences(c), "");
}

TEST_P(BatchInvariance, RowsHaveTheSameBitsInEveryBatchOnADevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const Invariantly on;
  for (const ScalarType dtype : {kFloat, kHalf})
    for (const RowCase& c : cases(Device(kCUDA, 0), dtype)) EXPECT_EQ(differences(c), "");
}

TEST_P(BatchInvariance, AnyNumberOfThreadsGivesTheSameBits) {
  for (const bool on : {false, true}) {
    const Invariantly invariantly(on);
    for (const ScalarType dtype : {kFloat, kDouble})
      for (const RowCase& c : cases(kCPU, dtype)) EXPECT_EQ(differences_of_threads(c), "") << on;
  }
}

// By default, too.
TEST(BatchInvariantByDefault, NormsEmbeddingsPoolsAndReductionsOfRows) {
  const Invariantly off(false);
  manual_seed(1);
  const auto check_cases = [](const RowCases& cases, const std::vector<std::string>& names) {
    size_t checked = 0;
    for (const RowCase& c : cases)
      for (const std::string& name : names)
        if (c.name.rfind(name + " ", 0) == 0 && c.name.find(" of ") == std::string::npos) {
          EXPECT_EQ(differences(c), "");
          ++checked;
        }
    EXPECT_GE(checked, names.size());
  };
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    check_cases(norm_cases(kCPU, dtype), {"layer_norm", "rms_norm", "group_norm", "batch_norm"});
    check_cases(reduction_cases(kCPU, dtype), {"sum", "mean", "var", "norm", "prod", "logsumexp"});
    check_cases(elementwise_cases(kCPU, dtype), {"exp", "sin", "gelu", "tanh", "pow"});
    check_cases(convolution_cases(kCPU, dtype), {"avg_pool2d", "max_pool2d"});
    check_cases(sequence_cases(kCPU, dtype), {"embedding"});
  }
}

// Rows of attention over all tokens are those of one query after the other, over the tokens so far.
TEST(BatchInvariantAttention, PrefillIsDecodingTokenByToken) {
  const Invariantly on;
  manual_seed(2);
  for (const Device device : cpu_and_cuda())
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16})
      for (const int64_t count : {int64_t{9}, device.is_cpu() ? int64_t{150} : int64_t{70}}) {
        if (!device.is_cpu() && dtype == kBFloat16) continue;
        const Drawn draw(device, dtype);
        const Tensor q = draw({2, 2, count, 24}), k = draw({2, 2, count, 24}) * 4;
        const Tensor v = draw({2, 2, count, 24});
        const Tensor hidden = rand({count, count}).to(device) < 0.3, floats = draw({count, count});
        const Tensor causal = ones({count, count}, TensorOptions(kBool).device(device)).tril();
        const Tensor prefill = scaled_dot_product_attention(q, k, v, {}, 0, true);
        const Tensor masked = scaled_dot_product_attention(q, k, v, causal.logical_and(~hidden));
        const Tensor shifted = scaled_dot_product_attention(
            q, k, v, floats.masked_fill(causal.logical_not(), -INFINITY));
        for (int64_t i = 0; i < count; i += device.is_cpu() ? 1 : 1 + count / 3) {
          const auto decode = [&](const std::optional<Tensor>& mask) {
            return scaled_dot_product_attention(q.narrow(2, i, 1), k.narrow(2, 0, i + 1),
                                                v.narrow(2, 0, i + 1), mask);
          };
          const auto row = [&](const Tensor& x) { return x.narrow(0, i, 1).narrow(1, 0, i + 1); };
          const std::string what = std::string(short_name(dtype)) + " on " + device.str() +
                                   ", token " + std::to_string(i) + " of " + std::to_string(count);
          EXPECT_EQ(different_rows(decode({}), prefill.narrow(2, i, 1)), 0) << what;
          EXPECT_EQ(different_rows(decode(~row(hidden)), masked.narrow(2, i, 1)), 0) << what;
          EXPECT_EQ(different_rows(decode(row(floats)), shifted.narrow(2, i, 1)), 0) << what;
        }
      }
}

TEST(BatchInvariantAttention, AGptThatDecodesHasTheBitsOfItsPrefill) {
  const Invariantly on;
  const NoGradGuard guard;
  manual_seed(3);
  for (const Device device : cpu_and_cuda()) {
    SmallGpt gpt;
    gpt->to(device);
    const int64_t count = device.is_cpu() ? 30 : 6;
    const Tensor tokens = randint(SmallGptImpl::kWords, {3, count}).to(device);
    const Tensor prefill = gpt->forward(tokens);
    std::vector<Tensor> cache;
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(
          different_rows(gpt->forward(tokens.narrow(1, i, 1), &cache), prefill.narrow(1, i, 1)), 0)
          << "token " << i << " on " << device.str();
  }
}

// A sum of products so small that it is -0 is so in the tiles of every batch.
TEST(BatchInvariantProducts, ZerosKeepTheirSign) {
  const Invariantly on;
  const Tensor x = full({kWholeBatch, 3}, -1e-30f), w = full({3, 40}, 1e-30f);
  const Tensor all = mm(x, w);
  for (const int64_t count : {1, 3, 13})
    EXPECT_EQ(different_rows(mm(x.narrow(0, 0, count), w), all.narrow(0, 0, count)), 0) << count;
}

// Sums of few rows are cut into parts on a GPU, for which a second launch adds.
TEST(BatchInvariantProducts, OfFewRowsAreCutIntoPartsOnADevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const Invariantly on;
  const NoGradGuard guard;
  const auto launches = [](const auto& f) {
    const auto before = cuda::stats().kernel_launches;
    f();
    return cuda::stats().kernel_launches - before;
  };
  const Tensor weight = ones({20, 512}, kCUDA), x = ones({1, 512}, kCUDA);
  EXPECT_EQ(launches([&] { linear(x, weight); }), 2);
  const Tensor many = ones({64, 1, 512}, kCUDA), each = ones({64, 512, 20}, kCUDA);
  EXPECT_LT(launches([&] { bmm(many, each); }), 64);
  const Tensor image = ones({1, 512, 4, 4}, kCUDA), filters = ones({36, 512, 1, 1}, kCUDA);
  EXPECT_EQ(launches([&] { conv2d(image, filters); }), 2);
}

// Tiles of other sizes, which large products of one weight take for more rows, add in one order.
TEST(BatchInvariantProducts, OfModelsHaveTheSameBitsInTilesOfEverySize) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  if (cuda::getDeviceProperties(0).simulated) GTEST_SKIP() << "such products take minutes there";
  const Invariantly on;
  const NoGradGuard guard;
  manual_seed(4);
  for (const auto& [n, k] : std::vector<std::pair<int64_t, int64_t>>{
           {2304, 768}, {768, 768}, {3072, 768}, {768, 3072}, {50257, 768}, {1000, 2048}}) {
    const Tensor x = randn({4100, k}).to(kCUDA), weight = randn({n, k}).to(kCUDA),
                 all = linear(x, weight);
    for (const int64_t rows : {1, 3, 16, 130, 300, 1100, 2100})
      EXPECT_EQ(different_rows(linear(x.narrow(0, 7, rows), weight), all.narrow(0, 7, rows)), 0)
          << rows << " rows of " << k << " x " << n;
  }
}

// Few images have smaller tiles, and sums that are cut into parts.
TEST(BatchInvariantConvolutions, OfSmallPlanesHaveTheSameBitsInTilesOfEverySize) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const Invariantly on;
  const NoGradGuard guard;
  manual_seed(5);
  const Tensor x = randn({5, 200, 7, 7}).to(kCUDA);
  for (const int64_t side : {1, 2}) {
    const Tensor w = randn({40, 200, side, side}).to(kCUDA);
    const Tensor y = conv2d(x, w), back = conv_transpose2d(y, w);
    for (const int64_t count : {1, 2}) {
      const auto part = [&](const Tensor& of) { return of.narrow(0, 3, count); };
      EXPECT_EQ(different_rows(conv2d(part(x), w), part(y)), 0) << count << " of " << side;
      EXPECT_EQ(different_rows(conv_transpose2d(part(y), w), part(back)), 0) << count << " back";
    }
  }
}

TEST(BatchInvariantSetting, IsAtFirstWhatTheEnvironmentSays) {
  const char* const text = std::getenv("GRADUS_BATCH_INVARIANT");
  EXPECT_EQ(globalContext().batchInvariant(), text != nullptr && std::string(text) == "1");
}

TEST(BatchInvariantSetting, RefusesBlasWhoseSumsDependOnTheBatch) {
  const std::vector<MatmulKernel> kernels = matmul_kernels();
  if (std::find(kernels.begin(), kernels.end(), MatmulKernel::blas) == kernels.end())
    GTEST_SKIP() << "there is no OpenBLAS";
  const Invariantly on;
  set_matmul_kernel(MatmulKernel::blas);
  expect_error<Error>(
      [] {
        mm(ones({2, 3}), ones({3, 4}));
      },
      "matmul: the kernel \"blas\" adds in an order that depends on the batch, "
      "which setBatchInvariant(true) forbids");
  set_matmul_kernel(MatmulKernel::automatic);
}

TEST(BatchInvariantSetting, FusedFunctionsAreCalledAsTheyAre) {
  int calls = 0;
  auto fused = fuse([&](const Tensor& x) {
    ++calls;
    return x.exp().sum(1);
  });
  const Tensor x = randn({kWholeBatch, 45});
  const Invariantly off(false);
  fused(x);  // is fused for these sizes
  const int before = calls;
  fused(x);
  EXPECT_EQ(calls, before);
  const Invariantly on;
  fused(x);
  EXPECT_EQ(calls, before + 1);
}

TEST(BatchInvariantSetting, HoldsForTheProcess) {
  const Invariantly off(false);
  auto& context = globalContext();
  EXPECT_FALSE(context.batchInvariant());
  context.setBatchInvariant(true);
  EXPECT_TRUE(context.batchInvariant());
  std::thread([] { EXPECT_TRUE(globalContext().batchInvariant()); }).join();
}

}  // namespace
}  // namespace gradus
