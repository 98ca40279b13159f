// The library's operations by its kernels for Hopper, on simulated devices: results and gradients
// beside those of float64, and which kernels made them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "gradus/cuda/ops/convolution.h"
#include "gradus/cuda/ops/matmul.h"
#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/gradus.h"
#include "gradus/nn/modules/recurrence.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

class SimOnHopperTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    manual_seed(1);
    if (!cuda::has_wgmma()) GTEST_SKIP() << "needs GRADUS_WGMMA=1";
  }
  void TearDown() override {
    if (cuda::is_available()) choose("automatic");
    SimTest::TearDown();
  }
  static void choose(const char* kernel) {
    cuda::set_matmul_kernel(kernel);
    cuda::set_convolution_kernel(kernel);
    set_float32_matmul_precision("highest");
    detail::allow_tf32_convolutions(false);
  }
};

using Operation = std::function<Tensor(const Tensors&)>;
struct HopperCase {
  const char* name;
  ScalarType dtype;
  double allowed;  // of the norm of each result
  std::vector<std::string> kernels;
  Tensors operands;
  Operation run;
  bool rounds = false;  // floats, to TF32
};

Tensors of_shapes(std::initializer_list<std::vector<int64_t>> shapes) {
  Tensors out;
  for (const auto& each : shapes) out.push_back(randn(each));
  return out;
}

Tensor product(const Tensors& of) { return matmul(of[0], of[1]); }

Operation convolution(int64_t stride) {
  return [=](const Tensors& of) {
    return conv2d(of[0].contiguous(MemoryFormat::ChannelsLast), of[1], Tensor(), stride, 1);
  };
}

Operation attention(bool causal, const Tensor& mask = {}) {
  return [=](const Tensors& of) {
    std::optional<Tensor> on_device;
    if (mask.defined())
      on_device = mask.dtype() == kBool ? mask.to(of[0].device()) : mask.to(of[0].options());
    return scaled_dot_product_attention(of[0], of[1], of[2], on_device, 0.0, causal);
  };
}
// Keys 0 to length - 1 of each sequence are seen.
Tensor seen(const std::vector<int64_t>& lengths, int64_t keys) {
  const Tensor out = zeros({static_cast<int64_t>(lengths.size()), 1, 1, keys}, kBool);
  for (size_t i = 0; i < lengths.size(); ++i)
    out[static_cast<int64_t>(i)].narrow(2, 0, lengths[i]).fill_(true);
  return out;
}
// Four heads of queries share two of keys and values.
Tensor grouped_attention(const Tensors& of) {
  return scaled_dot_product_attention(of[0], of[1].repeat_interleave(2, 1),
                                      of[2].repeat_interleave(2, 1));
}

// Steps of nine sequences: of the input, h, c, both weights and biases.
Tensor lstm_steps(const Tensors& of) {
  const nn::detail::Steps steps(std::vector<int64_t>(5, of[1].size(0)));
  return nn::detail::recur(nn::detail::Recurrent::lstm, steps, of[0], of[1], of[2],
                           {of[3], of[4], of[5], of[6], {}})
      .h;
}
Tensors of_lstm() {
  constexpr int64_t kUnits = 128, kIn = 24, kBatch = 9, kGates = 4 * kUnits;
  Tensors out = of_shapes({{5 * kBatch, kIn},
                           {kBatch, kUnits},
                           {kBatch, kUnits},
                           {kGates, kIn},
                           {kGates, kUnits},
                           {kGates},
                           {kGates}});
  for (Tensor& each : out) each.mul_(each.size(0) == kGates ? 0.1 : 0.5);
  return out;
}

const std::vector<std::string> kAttention = {"attention_wgmma", "attention_lines",
                                             "attention_wgmma_grad_q", "attention_wgmma_grad_kv"};
const std::vector<std::string> kAttentionOfFloats = {
    "attention_planes", "attention_wgmma", "attention_wgmma_grad_q", "attention_wgmma_grad_kv"};

std::vector<HopperCase> hopper_cases() {
  const auto heads = [](int64_t of_queries, int64_t of_keys, int64_t width) {
    return of_shapes(
        {{2, of_queries, 70, width}, {2, of_keys, 90, width}, {2, of_keys, 90, width}});
  };
  Tensor added = zeros({2, 2, 1, 90});
  added.narrow(3, 5, 40).copy_(randn({2, 2, 1, 40}));
  added.narrow(3, 77, 13).fill_(-std::numeric_limits<double>::infinity());
  const Tensors images = of_shapes({{3, 72, 9, 9}, {40, 72, 3, 3}});
  return {
      {"bfloat16", kBFloat16, 3e-3, {"matmul_wgmma"}, of_shapes({{136, 72}, {72, 136}}), product},
      {"half", kHalf, 4e-4, {"matmul_wgmma"}, of_shapes({{70, 40}, {40, 24}}), product},
      {"float",
       kFloat,
       1e-7,
       {"split_planes", "matmul_wgmma_split"},
       of_shapes({{70, 40}, {40, 24}}),
       product},
      {"convolution of bfloat16",
       kBFloat16,
       3e-3,
       {"convolution_wgmma", "convolution_wgmma_weight"},
       images,
       convolution(1)},
      {"convolution of halves with strides",
       kHalf,
       4e-4,
       {"convolution_wgmma", "convolution_wgmma_weight"},
       images,
       convolution(2)},
      {"convolution of wide weights",
       kBFloat16,
       3e-3,
       {"convolution_wgmma", "convolution_wgmma_weight"},
       of_shapes({{2, 136, 6, 6}, {136, 136, 1, 1}}),
       convolution(1)},
      {"convolution of floats",
       kFloat,
       3e-7,
       {"split_channels", "convolution_wgmma_weight_split"},
       images,
       convolution(2)},
      {"convolution in TF32",
       kFloat,
       4e-4,
       {"convolution_wgmma", "convolution_wgmma_weight_tf32"},
       images,
       convolution(2),
       true},
      {"LSTM", kBFloat16, 1e-2, {"lstm_clusters", "lstm_clusters_grad"}, of_lstm(), lstm_steps},
      {"attention", kBFloat16, 6e-3, kAttention, heads(2, 2, 40), attention(false)},
      {"causal", kBFloat16, 6e-3, kAttention, heads(2, 2, 40), attention(true)},
      {"wide heads", kHalf, 7e-4, kAttention, heads(1, 1, 104), attention(false)},
      {"lengths", kBFloat16, 6e-3, kAttention, heads(2, 2, 40),
       attention(false, seen({90, 65}, 90))},
      {"a sequence without keys", kHalf, 7e-4, kAttention, heads(1, 1, 40),
       attention(false, seen({90, 0}, 90))},
      {"an additive mask", kBFloat16, 6e-3, kAttention, heads(2, 2, 40), attention(false, added)},
      {"heads that share keys", kBFloat16, 6e-3, kAttention, heads(4, 2, 40), grouped_attention},
      {"attention of floats", kFloat, 6e-7, kAttentionOfFloats, heads(1, 1, 40), attention(true)},
      {"attention in TF32", kFloat, 2e-5, kAttentionOfFloats, heads(1, 1, 40), attention(false),
       true}};
}

// The result of the operation and the gradients of its operands, in float64.
Tensors results(const HopperCase& of, const Device& device, ScalarType type) {
  Tensors leaves;
  for (const Tensor& each : of.operands)
    leaves.push_back(each.to(of.dtype).to(type).to(device).set_requires_grad(true));
  const Tensor out = of.run(leaves), grad = sin(arange(out.numel(), kDouble)).view(out.sizes());
  Tensors all = autograd::grad({out}, leaves, {grad.to(of.dtype).to(type).to(device)});
  all.insert(all.begin(), out.detach());
  for (Tensor& each : all) each = each.to(kCPU).to(kDouble);
  return all;
}

// The name without its namespaces and template arguments.
std::string short_name(const std::string& kernel) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  return name.substr(name.rfind(':') + 1);
}

TEST_F(SimOnHopperTest, OperationsGiveTheResultsOfFloat64) {
  for (const HopperCase& each : hopper_cases()) {
    SCOPED_TRACE(each.name);
    choose("wgmma");
    set_float32_matmul_precision(each.rounds ? "high" : "highest");
    detail::allow_tf32_convolutions(each.rounds);
    const cuda::sim::Recording recording;
    const Tensors found = results(each, kCUDA, each.dtype);
    std::set<std::string> launched;
    for (const auto& launch : recording.launches()) launched.insert(short_name(launch.kernel));
    for (const std::string& name : each.kernels)
      EXPECT_TRUE(launched.contains(name)) << name << " was not launched";
    const Tensors expected = results(each, kCPU, kDouble);
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_LE((found[i] - expected[i]).norm().item<double>(),
                each.allowed * expected[i].norm().item<double>())
          << "result " << i;
  }
}

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Every kernel for Hopper runs above, and stands in the page's table.
TEST(SimKernelsForHopper, AllRunAndStandInThePage) {
  std::set<std::string> kernels, run;
  const std::filesystem::path tree = GRADUS_SOURCE_DIR;
  const std::regex kernel("__global__[^{;]*?\\b([a-z][a-z_0-9]*)\\(\\s*(const |[A-Z])");
  for (const auto& each : std::filesystem::directory_iterator(tree / "cuda/kernels/hopper")) {
    const std::string text = text_of_file(each.path());
    for (std::sregex_iterator at(text.begin(), text.end(), kernel), end; at != end; ++at)
      kernels.insert((*at)[1]);
  }
  for (const HopperCase& each : hopper_cases())
    run.insert(each.kernels.begin(), each.kernels.end());
  EXPECT_EQ(kernels, run);
  const std::string page = text_of_file(tree / "docs/simulator.md");
  for (const std::string& each : kernels)
    EXPECT_NE(page.find("| `" + each + "` |"), std::string::npos) << each;
}

}  // namespace
}  // namespace gradus
