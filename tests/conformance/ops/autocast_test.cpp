// The dtypes that autocast gives to the results of every public operation, against PyTorch's
// (tests/conformance/ops/autocast.py), with their values and gradients.
#include "tests/conformance/golden/golden.h"
#include "tests/conformance/ops/samples.h"

#include <set>

namespace gradus::test {
namespace {

std::string head_of(const Sample& sample) {
  return std::string(sample.name) + " | " + sample.inputs + " | " + sample.arguments;
}

// The columns of autocast.txt by the head of their sample; none for what autocast leaves alone.
const std::map<std::string, Words>& columns() {
  static const std::map<std::string, Words> all = [] {
    std::map<std::string, Words> out;
    std::istringstream lines(recorded("ops/samples/autocast.txt"));
    for (std::string line; std::getline(lines, line);) {
      const size_t bar = line.rfind(" | ");
      if (bar == std::string::npos) continue;
      std::istringstream words(line.substr(bar + 3));
      for (std::string word; words >> word;) out[line.substr(0, bar)].push_back(word);
    }
    return out;
  }();
  return all;
}

// "b,i" for a result of bfloat16 and one of integers.
std::string letters(const Tensors& results) {
  std::string out;
  for (const Tensor& x : results) {
    if (!out.empty()) out += ',';
    out += x.dtype() == kFloat      ? 'f'
           : x.dtype() == kBFloat16 ? 'b'
           : x.dtype() == kDouble   ? 'd'
           : x.dtype() == kHalf     ? 'h'
                                    : 'i';
  }
  return out;
}

// What differs from PyTorch on purpose.
bool differs(const Sample& sample) {
  static const std::set<std::string> all = {
      // Products of vectors are products of matrices here, which the CPU's list has.
      "tensordot | randn(3); randn(3) | a, b, {-1}, {0}", "inner | randn(3); randn(3) | a, b",
      "einsum | randn(2); randn(3) | \"i,j->ij\", TensorList{a, b}",
      "einsum | randn(2, 1); randn(3, 4) | \"ij,jk->ik\", TensorList{a, b}",
      // PyTorch sums where there is something to sum.
      "trapezoid | randn(2, 0) | a"};
  return all.contains(head_of(sample));
}

// Whether a sample takes operands of several types; without autocast some functions do not here.
bool mixes(const Sample& sample, Device device) {
  return sample.name != std::string(device.is_cpu() ? "index_put" : "index_copy");
}

class Autocast : public ::testing::TestWithParam<size_t> {
 protected:
  const Family& family() const { return families()[GetParam()]; }

  // f(sample, its inputs, float64).
  template <class F>
  void each(F f) {
    static std::map<std::string, std::map<std::string, Tensor>> all;
    auto& inputs = all[family().name];
    if (inputs.empty())
      for (const GoldenCase& c : Golden(answers(family())).cases) inputs[c.text] = c.expected;
    for (const Sample& sample : family().samples) {
      if (sample.refused || differs(sample)) continue;
      // Linear algebra refuses half types, and autocast has no rows of it.
      if (std::string(family().name) == "linalg") continue;
      Inputs in;
      bool any = false;
      for (size_t i = 0; i < in.size(); ++i) {
        const auto found = inputs.find(head_of(sample) + " | in" + std::to_string(i));
        if (found == inputs.end()) break;
        in[i] = found->second;
        any |= in[i].dtype() == kDouble;
      }
      SCOPED_TRACE(head_of(sample));
      try {
        if (any) f(sample, in);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
};

// The first input and the others, as in autocast.py.
constexpr ScalarType kMixtures[][2] = {
    {kFloat, kFloat}, {kBFloat16, kBFloat16}, {kFloat, kBFloat16}, {kBFloat16, kFloat}};

Inputs converted(const Inputs& in, const ScalarType (&mixture)[2], Device device) {
  Inputs out;
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].defined())
      out[i] = in[i].dtype() == kDouble ? in[i].to(device, mixture[i > 0]) : in[i].to(device);
  return out;
}

// A few roundings of intermediate results to bfloat16, each of half a unit in the last place.
void expect_near(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  if (!expected.is_floating_point()) return;
  const Tensor x = got.to(kCPU).to(kDouble), y = expected.to(kDouble);
  EXPECT_TRUE(allclose(x, y, 0.125, 0.125, /*equal_nan=*/true)) << x << "\n" << y;
}

void check_dtypes(const Sample& sample, const Inputs& in, Device device) {
  const auto found = columns().find(head_of(sample));
  const bool listed = found != columns().end();
  if (!listed && sample.name == std::string("nextafter")) return;  // refuses 16 bits
  const size_t mixtures = listed ? found->second.size() / 2 : 2;
  for (size_t m = 0; m < mixtures; ++m) {
    Inputs own = converted(in, kMixtures[m], device);
    const std::string expected =
        listed ? found->second[m + (device.is_cuda() ? mixtures : 0)] : letters(sample.call(own));
    if (expected == "x" || (m >= 2 && !mixes(sample, device))) continue;
    Tensors got;
    {
      const amp::autocast guard(device.type(), kBFloat16);
      got = sample.call(own);
    }
    EXPECT_EQ(letters(got), expected) << "mixture " << m << " on " << device;
    Inputs exact;
    for (size_t i = 0; i < own.size(); ++i)
      if (own[i].defined())
        exact[i] = own[i].is_floating_point() ? own[i].to(kCPU).to(kDouble) : own[i].to(kCPU);
    const Tensors right = sample.call(exact);
    ASSERT_EQ(got.size(), right.size());
    if (listed)
      for (size_t i = 0; i < got.size(); ++i) expect_near(got[i], right[i]);
  }
}

TEST_P(Autocast, GivesPyTorchsDtypes) {
  each([](const Sample& sample, const Inputs& in) { check_dtypes(sample, in, kCPU); });
}

TEST_P(Autocast, GivesPyTorchsDtypesOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  each([](const Sample& sample, const Inputs& in) { check_dtypes(sample, in, kCUDA); });
}

TEST_P(Autocast, GivesGradientsOfTheLeavesDtype) {
  each([](const Sample& sample, const Inputs& in) {
    if (!columns().contains(head_of(sample))) return;
    Inputs leaves = converted(in, kMixtures[0], kCPU);
    for (Tensor& x : leaves)
      if (x.defined() && x.is_floating_point()) x.requires_grad_();
    Tensor sum;
    {
      const amp::autocast guard(kCPU, kBFloat16);
      for (const Tensor& y : sample.call(leaves))
        if (y.requires_grad()) sum = y.sum();
    }
    if (!sum.defined()) return;
    sum.backward();
    for (const Tensor& x : leaves)
      EXPECT_TRUE(!x.defined() || !x.grad().defined() || x.grad().dtype() == kFloat) << x.grad();
  });
}

INSTANTIATE_TEST_SUITE_P(Of, Autocast, ::testing::Range(size_t{0}, families().size()),
                         [](const auto& test) { return std::string(families()[test.param].name); });

}  // namespace
}  // namespace gradus::test
