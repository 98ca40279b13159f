// What tests of all samples share: what the tables say of an operation, the inputs of a sample, and
// PyTorch's answers.
#pragma once

#include <set>

#include "tests/conformance/golden/golden.h"
#include "tests/conformance/ops/samples.h"

namespace gradus::test {

// Sums of products and formulas of several steps: rounding of their terms, which are of size 1.
inline constexpr double kSlack = 256;

// What the rows of the tables say of the operations with a name.
struct Known {
  bool differentiable = false, makes_new = true, gives_tensors = true;
  bool by_first = true;  // by its first operand, too
};
inline const std::map<std::string, Known>& known() {
  static const std::map<std::string, Known> all = [] {
    std::map<std::string, Known> out;
    const auto note = [&](const char* name, const std::string& grad, bool makes_new,
                          const std::string& result = "Tensor") {
      out[name].differentiable |= grad == "grad";
      out[name].makes_new &= makes_new;
      out[name].gives_tensors &= result.find("Tensor") != std::string::npos;
    };
#define METHOD(result, name, params, args, dtypes, grad, doc) note(#name, #grad, false, #result);
#define FUNCTION(result, name, params, args, dtypes, grad, doc) note(#name, #grad, true);
#define IN_PLACE(...) FUNCTION(__VA_ARGS__)
#define UPDATE(...) FUNCTION(__VA_ARGS__)
#define PAIR(...) FUNCTION(__VA_ARGS__)
#define FREE(...) METHOD(__VA_ARGS__)
#define FREE_OUT(...) FUNCTION(__VA_ARGS__)
#define FACTORY(name, ...) note(#name, "none", true);
#include "gradus/tensor/table/functions.def"
#define UNARY(name, ...) note(#name, "grad", true);
#define BINARY(name, doc, ints, complex, xlo, xhi, ylo, yhi, f, dx, ...) \
  note(#name, "grad", true);                                             \
  out[#name].by_first = std::string(#dx).find("underivable") == std::string::npos;
#define INTEGER(name, ...) note(#name, "none", true);
#define COMPARISON(name, ...) note(#name, "none", true);
#define PREDICATE(name, ...) note(#name, "none", true);
#include "gradus/tensor/table/elementwise.def"
    return out;
  }();
  return all;
}

inline const Golden& golden(const Family& family) {
  static std::map<std::string, Golden> all;
  return all.try_emplace(family.name, answers(family)).first->second;
}

inline std::string head(const Sample& sample) {
  return std::string(sample.name) + " | " + sample.inputs + " | " + sample.arguments;
}

// The tensors "in" or "out" of a sample.
inline Tensors tensors(const Family& family, const Sample& sample, const std::string& which) {
  static std::map<std::string, std::map<std::string, Tensor>> index;
  auto& cases = index[family.name];
  if (cases.empty())
    for (const GoldenCase& c : golden(family).cases) cases[c.text] = c.expected;
  Tensors out;
  for (int i = 0;; ++i) {
    const auto found = cases.find(head(sample) + " | " + which + std::to_string(i));
    if (found == cases.end()) return out;
    out.push_back(found->second);
  }
}

// What can be compared of the results: vectors have no fixed sign in these.
inline Tensors comparable(const Sample& sample, Tensors results) {
  static const std::set<std::string> free_signs = {"qr", "svd", "linalg_qr", "linalg_eigh",
                                                   "linalg_svd"};
  if (free_signs.contains(sample.name))
    for (Tensor& x : results) x = x.abs();
  return results;
}
inline Tensors answered(const Family& family, const Sample& sample) {
  return comparable(sample, tensors(family, sample, "out"));
}

// Copies of the inputs, on a device; those of floating point require grad where asked.
inline Inputs inputs_of(const Family& family, const Sample& sample, bool grad = false,
                        Device device = kCPU) {
  Inputs in;
  const Tensors given = tensors(family, sample, "in");
  std::istringstream specs(sample.inputs);
  size_t i = 0;
  for (std::string spec; std::getline(specs, spec, ';') && i < given.size(); ++i) {
    in[i] = given[i].clone().to(device);
    const bool is_const =
        spec.find("const ") != std::string::npos || (i == 0 && !known().at(sample.name).by_first);
    if (grad && !is_const && in[i].is_floating_point()) in[i].requires_grad_();
  }
  return in;
}

inline Tensors differentiable(const Inputs& in) {
  Tensors out;
  for (const Tensor& x : in)
    if (x.defined() && x.requires_grad()) out.push_back(x);
  return out;
}

inline ::testing::AssertionResult alike(const Tensors& got, const Tensors& expected,
                                        double slack = kSlack) {
  if (got.size() != expected.size())
    return ::testing::AssertionFailure()
           << got.size() << " results, expected " << expected.size() << "; is make.py to be run?";
  for (size_t i = 0; i < got.size(); ++i)
    if (auto result = same(got[i], expected[i], slack); !result)
      return result << " of result " << i;
  return ::testing::AssertionSuccess();
}

// Not so where the build or the machine has no OpenBLAS.
inline bool has_lapack() {
  try {
    linalg_cholesky(eye(1));
    return true;
  } catch (const NotImplementedError&) {
    return false;
  }
}

class Operations : public ::testing::TestWithParam<size_t> {
 protected:
  // Calls f(family, sample) for the samples that PyTorch takes, or those that it refuses.
  template <class F>
  void each(F f, bool refused = false) {
    const Family& family = families()[GetParam()];
    if (std::string(family.name) == "linalg" && !has_lapack()) return;
    for (const Sample& sample : family.samples) {
      if ((sample.refused != nullptr) != refused) continue;
      SCOPED_TRACE(head(sample));
      try {
        f(family, sample);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
};

}  // namespace gradus::test
