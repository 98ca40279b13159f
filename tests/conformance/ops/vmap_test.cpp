// vmap against a loop over samples, for every sample of every operation.
#include <algorithm>

#include "tests/conformance/ops/operations.h"

namespace gradus::test {
namespace {

// Two samples in one tensor: x, and x backwards. So all numbers stay in the range of x.
Tensor two_of(const Tensor& x) {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < x.dim(); ++i) dims.push_back(i);
  return stack({x.detach(), x.detach().flip(dims)}, x.dim());
}

// The results of the samples along dimension 0, and the gradients of the inputs along their last
// one. Nothing where samples have different shapes, or are refused.
std::optional<Tensors> of_samples(const Sample& sample, Inputs in, const std::vector<bool>& mapped,
                                  bool in_place, bool at_once) {
  using autograd::functional::MappedDims;
  Tensors inputs;
  std::vector<MappedDims::Dim> dims;
  for (size_t i = 0; i < mapped.size(); ++i) {
    inputs.push_back(mapped[i] ? two_of(in[i]) : in[i].detach());
    inputs.back().requires_grad_(in[i].requires_grad());
    dims.push_back(mapped[i] ? MappedDims::Dim(-1) : std::nullopt);
  }
  const auto f = [&](const Tensors& list) {
    Inputs one;
    std::copy(list.begin(), list.end(), one.begin());
    if (in_place) {
      one[0] = one[0].clone();
      const auto changed = sample.in_place(one);
      check<Error>(changed.has_value(), "there is no such form");
      return Tensors{*changed};
    }
    Tensors out = comparable(sample, sample.call(one));
    for (Tensor& y : out)
      if (y.dim() > 0 && y.is_alias_of(one[0])) y = y.clone();
    return out;
  };
  Tensors out;
  if (at_once) {
    out = autograd::functional::vmap(f, MappedDims(dims), 0, "different")(inputs);
  } else {
    std::vector<Tensors> rows;
    try {
      for (int64_t s = 0; s < 2; ++s) {
        Tensors list;
        for (size_t i = 0; i < inputs.size(); ++i)
          list.push_back(mapped[i] ? inputs[i].select(-1, s) : inputs[i]);
        rows.push_back(f(list));
      }
      for (size_t i = 0; i < rows[0].size(); ++i) out.push_back(stack({rows[0][i], rows[1][i]}));
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  Tensors roots, weights;
  for (const Tensor& y : out)
    if (y.requires_grad()) {
      roots.push_back(y);
      weights.push_back(arange(1, y.numel() + 1, y.options()).view(y.sizes()));
    }
  const size_t count = out.size();
  if (!roots.empty()) autograd::backward(roots, weights);
  for (const Tensor& x : inputs)
    if (x.grad().defined()) out.push_back(x.grad());
  for (size_t i = 0; i < count; ++i) out[i] = out[i].detach();
  return out;
}

// Compares batches of all inputs, and of each alone.
void compare(const Family& family, const Sample& sample, bool in_place) {
  const Inputs in = inputs_of(family, sample, /*grad=*/true);
  size_t count = 0;
  while (count < in.size() && in[count].defined()) ++count;
  for (size_t alone = count < 2 ? count : 0; alone <= count && count > 0; ++alone) {
    std::vector<bool> mapped(count, alone == count);
    if (alone < count) mapped[alone] = true;
    SCOPED_TRACE(alone == count ? "all" : "input " + std::to_string(alone));
    const auto expected = of_samples(sample, in, mapped, in_place, false);
    if (expected) {
      EXPECT_TRUE(alike(*of_samples(sample, in, mapped, in_place, true), *expected));
    }
  }
}

TEST_P(Operations, GiveForABatchWhatTheyGiveForItsSamples) {
  each([](const Family& family, const Sample& sample) { compare(family, sample, false); });
}

TEST_P(Operations, ChangeABatchInPlaceAsItsSamples) {
  each([](const Family& family, const Sample& sample) { compare(family, sample, true); });
}

}  // namespace
}  // namespace gradus::test
