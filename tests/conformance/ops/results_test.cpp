// Results that change in place, of every sample of every operation.
#include "tests/changed_result.h"
#include "tests/conformance/ops/operations.h"

namespace gradus::test {
namespace {

CallResult result_of(const Family& family, const Sample& sample, size_t number, Device device) {
  Inputs in = inputs_of(family, sample, /*grad=*/true, device);
  const Tensors leaves = differentiable(in);
  for (Tensor& x : in)
    if (x.defined() && x.requires_grad()) x = x * 1;  // a leaf may not change
  manual_seed(1);
  const Tensors results = sample.call(in);
  return {leaves, number < results.size() ? results[number] : Tensor()};
}

// Whether elements of the result may be one place in memory, which mul_() writes twice.
bool has_shared_elements(const Sample& sample) {
  return sample.name == std::string("as_strided") || sample.name == std::string("unfold");
}

void expect_results_change_in_place(Device device) {
  int64_t changed = 0;
  for (const Family& family : families()) {
    if (std::string(family.name) == "linalg" && !has_lapack()) continue;
    for (const Sample& sample : family.samples) {
      if (sample.refused || has_shared_elements(sample)) continue;
      for (size_t i = 0; i < 4; ++i) {
        SCOPED_TRACE(head(sample) + ", result " + std::to_string(i));
        try {
          changed += expect_changes_in_place(
              sample.name, [&] { return result_of(family, sample, i, device); }, 1e-12);
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
  }
  EXPECT_GT(changed, 500);
}

TEST(EveryFunction, ResultsChangeInPlace) { expect_results_change_in_place(kCPU); }

TEST(EveryFunction, ResultsChangeInPlaceOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  expect_results_change_in_place(kCUDA);
}

// A result of a call without a graph is no view that was made in no_grad mode.
TEST(EveryFunction, ResultsWithoutAGraphChangeByWhatRequiresGrad) {
  for (const Family& family : families()) {
    if (std::string(family.name) == "linalg" && !has_lapack()) continue;
    for (const Sample& sample : family.samples) {
      if (sample.refused) continue;
      SCOPED_TRACE(head(sample));
      for (size_t i = 0; i < 4; ++i) {
        Inputs in = inputs_of(family, sample);
        const Tensors results = sample.call(in);
        if (i >= results.size() || !results[i].is_floating_point()) continue;
        const Tensor& y = results[i];
        try {
          y.mul_(ones({}, y.options().requires_grad(true)));
          EXPECT_TRUE(y.requires_grad());
        } catch (const Error& error) {
          EXPECT_TRUE(is_refused_change(sample.name, error.what())) << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace gradus::test
