// A result of a function that changes in place, against the form that makes a new tensor.
#pragma once

#include <gtest/gtest.h>

#include <set>

#include "gradus/gradus.h"

namespace gradus {

// A call: its operands, which are leaves, and one of its results.
struct CallResult {
  Tensors leaves;
  Tensor y;
};

// What PyTorch refuses to change: views of which a function gives several, and expanded ones.
inline bool is_refused_change(const std::string& function, std::string_view message) {
  static const std::set<std::string> all = {
      "as_strided", "broadcast_tensors", "broadcast_to",     "chunk", "expand",
      "expand_as",  "meshgrid",          "split_with_sizes", "split", "unbind"};
  if (!all.contains(function)) return false;
  return message.find("output of a function that returns multiple views") != message.npos ||
         message.find("refers to a single memory location") != message.npos;
}

// make() calls the function of that name anew. The result takes mul_(2), and gives its leaves the
// gradients of
// * 2; or backward says that it reads what has changed. Returns whether there were gradients.
template <class Make>
bool expect_changes_in_place(const std::string& function, const Make& make, double rtol) {
  const CallResult changed = make(), other = make();
  if (!changed.y.defined() || !changed.y.requires_grad()) return false;
  const auto gradients = [](const CallResult& of, const Tensor& y) {
    Tensor weights = arange(1, y.numel() + 1, TensorOptions(kDouble).device(y.device()));
    y.backward(weights.view(y.sizes()).to(y.dtype()));
    Tensors out;
    for (const Tensor& x : of.leaves) out.push_back(x.grad());
    return out;
  };
  try {
    changed.y.mul_(2);
  } catch (const Error& error) {
    EXPECT_TRUE(is_refused_change(function, error.what())) << error.what();
    return false;
  }
  const Tensor twice = other.y * 2;
  EXPECT_TRUE(allclose(changed.y.detach(), twice.detach(), 0, 0, /*equal_nan=*/true));
  const Tensors expected = gradients(other, twice);
  Tensors got;
  try {
    got = gradients(changed, changed.y);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    EXPECT_NE(message.find("modified by an inplace operation"), message.npos) << message;
    return false;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(got[i].defined(), expected[i].defined()) << "gradient " << i;
    if (got[i].defined() && expected[i].defined()) {
      EXPECT_TRUE(allclose(got[i], expected[i], rtol, rtol, /*equal_nan=*/true))
          << "gradient " << i << ": " << got[i] << ", expected " << expected[i];
    }
  }
  return true;
}

}  // namespace gradus
