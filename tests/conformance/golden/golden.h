// Reads the values that make.py wrote to NAME.txt: lines of `let NAME = TENSOR`, `WORDS = TENSOR`
// and `WORDS = error`, where a TENSOR is `DTYPE [SIZES] VALUES`.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "gradus/gradus.h"
#include "tests/conformance/recorded.h"

namespace gradus::test {

using Words = std::vector<std::string>;

inline ScalarType dtype_named(const std::string& name) {
  for (ScalarType dtype : {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat})
    if (short_name(dtype) == name) return dtype;
  return kDouble;
}

struct GoldenCase {
  std::string text;  // of the words
  Words words;
  Tensor expected;  // undefined: the case is an error
};

struct Golden {
  explicit Golden(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const size_t equals = line.find(" = ");
      if (equals == std::string::npos) continue;
      const Tensor value = parse(line.substr(equals + 3));
      if (line.starts_with("let "))
        lets[line.substr(4, equals - 4)] = value;
      else
        cases.push_back({line.substr(0, equals), split(line.substr(0, equals)), value});
    }
  }
  Tensor operator[](const std::string& name) const {
    const auto found = lets.find(name);
    if (found == lets.end()) throw Error("no golden input is named " + name);
    return found->second;
  }

  std::map<std::string, Tensor> lets;
  std::vector<GoldenCase> cases;

 private:
  static Words split(const std::string& text, char separator = ' ') {
    Words out;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, separator);) out.push_back(word);
    return out;
  }
  static Tensor parse(const std::string& text) {
    if (text == "error") return {};
    const Words words = split(text);
    std::vector<int64_t> sizes;
    for (const std::string& size : split(words[1].substr(1, words[1].size() - 2), ','))
      sizes.push_back(std::stoll(size));
    const ScalarType dtype = dtype_named(words[0]);
    std::vector<double> values;
    for (size_t i = 2; i < words.size(); ++i)  // std::stod refuses subnormal numbers
      values.push_back(std::strtod(words[i].c_str(), nullptr));
    return tensor(values, kDouble).to(dtype).view(sizes);
  }
};

// 1,2 -> {1, 2}; "all" -> {}.
inline std::vector<int64_t> parse_dims(const std::string& text) {
  std::vector<int64_t> out;
  if (text == "all") return out;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) out.push_back(std::stoll(word));
  return out;
}

// The same dtype, sizes and values: NaN for NaN, and numbers within 16 units in the last place (1
// for types of 16 bits, which are rounded last), or `slack` units of 1 where sums cancel. Without
// slack the sign of zero counts as well.
inline ::testing::AssertionResult same(const Tensor& got, const Tensor& expected, double slack) {
  if (got.dtype() != expected.dtype() || got.sizes() != expected.sizes())
    return ::testing::AssertionFailure() << "got " << got.dtype() << got.sizes() << ", expected "
                                         << expected.dtype() << expected.sizes();
  const double unit = got.dtype() == kHalf       ? 0x1p-10 / 16
                      : got.dtype() == kBFloat16 ? 0x1p-7 / 16
                      : got.dtype() == kFloat    ? 0x1p-23
                                                 : 0x1p-52;
  const Tensor a = got.detach().to(kCPU, kDouble).contiguous(),
               b = expected.detach().to(kCPU, kDouble).contiguous();
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data_ptr<double>()[i], y = b.data_ptr<double>()[i];
    const bool equal = x == y ? slack > 0 || std::signbit(x) == std::signbit(y)
                              : (std::isnan(x) && std::isnan(y)) ||
                                    std::abs(x - y) <= unit * (16 * std::abs(y) + slack);
    if (!equal)
      return ::testing::AssertionFailure() << "element " << i << " is " << x << ", expected " << y;
  }
  return ::testing::AssertionSuccess();
}

// How cases that begin with a word, or with two, are computed.
struct GoldenKind {
  std::function<Tensor(const Words&)> compute;
  double slack = 0;
};
using GoldenKinds = std::map<std::string, GoldenKind>;

// Computes every case and compares it. `deviates` tells where one library is known to accept what
// the other refuses.
inline void check_golden(const Golden& golden, const GoldenKinds& kinds,
                         const std::function<bool(const GoldenCase&)>& deviates = nullptr) {
  EXPECT_FALSE(golden.cases.empty());
  for (const GoldenCase& c : golden.cases) {
    SCOPED_TRACE(c.text);
    auto kind = kinds.find(c.words[0] + ' ' + c.words[1]);
    if (kind == kinds.end()) kind = kinds.find(c.words[0]);
    if (kind == kinds.end()) {
      ADD_FAILURE() << "no test knows this kind of case";
      continue;
    }
    const bool refused = !c.expected.defined(), may_differ = deviates && deviates(c);
    try {
      const Tensor got = kind->second.compute(c.words);
      if (refused)
        EXPECT_TRUE(may_differ) << "PyTorch refuses this, and no error was thrown";
      else
        EXPECT_TRUE(same(got, c.expected, kind->second.slack));
    } catch (const Error& error) {
      EXPECT_TRUE(refused || may_differ) << error.what();
    }
  }
}

// What make.py's `gradients` gives: "y" is the result of f, and "grad1" the gradient by inputs[1]
// of its elements' sum weighted with 1, 2, 3, ...
inline Tensor result_or_gradient(const std::string& which,
                                 const std::function<Tensor(const Tensors&)>& f,
                                 const Tensors& inputs) {
  Tensors leaves;
  for (const Tensor& input : inputs) leaves.push_back(input.clone().requires_grad_());
  const Tensor y = f(leaves);
  if (which == "y") return y;
  y.backward(arange(1, y.numel() + 1, y.options()).view(y.sizes()));
  const Tensor& leaf = leaves[static_cast<size_t>(std::stoi(which.substr(4)))];
  return leaf.grad().defined() ? leaf.grad() : zeros_like(leaf);
}

}  // namespace gradus::test
