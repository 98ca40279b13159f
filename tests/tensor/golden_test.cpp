// The operations on tensors against PyTorch's results (tests/conformance/golden/make.py).
#include "tests/conformance/golden/golden.h"

#include <set>

namespace gradus::test {
namespace {

const Golden& golden() {
  static const Golden read(recorded("golden/tensor.txt"));
  return read;
}

const std::map<std::string, Tensor (*)(const Tensor&)> kUnary = {
#define UNARY(name, ...) {#name, [](const Tensor& x) { return gradus::name(x); }},
#define PREDICATE(name, ...) UNARY(name)
#include "gradus/tensor/table/elementwise.def"
    {"logical_not", [](const Tensor& x) { return logical_not(x); }},
    {"bitwise_not", [](const Tensor& x) { return bitwise_not(x); }},
    {"positive", [](const Tensor& x) { return positive(x); }}};

struct BinaryForms {
  Tensor (*tensors)(const Tensor&, const Tensor&);
  Tensor (*number_right)(const Tensor&, const Scalar&);
  Tensor (*number_left)(const Scalar&, const Tensor&);
  Tensor& (Tensor::*in_place)(const Tensor&) const;
};
const std::map<std::string, BinaryForms> kBinary = {
#define BINARY(name, ...)                                                \
  {#name,                                                                \
   {[](const Tensor& x, const Tensor& y) { return gradus::name(x, y); }, \
    [](const Tensor& x, const Scalar& y) { return gradus::name(x, y); }, \
    [](const Scalar& x, const Tensor& y) { return gradus::name(x, y); }, \
    static_cast<Tensor& (Tensor::*)(const Tensor&) const>(&Tensor::name##_)}},
#define INTEGER(name, ...) BINARY(name)
#define COMPARISON(name, ...)                                            \
  {#name,                                                                \
   {[](const Tensor& x, const Tensor& y) { return gradus::name(x, y); }, \
    [](const Tensor& x, const Scalar& y) { return gradus::name(x, y); }, nullptr, nullptr}},
#include "gradus/tensor/table/elementwise.def"
    {"float_power",
     {[](const Tensor& x, const Tensor& y) { return float_power(x, y); }, nullptr, nullptr,
      nullptr}},
    {"ldexp",
     {[](const Tensor& x, const Tensor& y) { return ldexp(x, y); }, nullptr, nullptr, nullptr}}};

Scalar number(const std::string& text) {
  if (text == "true") return true;
  if (text == "2") return 2;
  return std::stod(text);
}

Tensor unary(const Words& w) { return kUnary.at(w[1])(golden()[w[2]]); }
Tensor outer(const Words& w) {
  const Tensor x = golden()[w[2]];
  return kBinary.at(w[1]).tensors(x.unsqueeze(1), x.unsqueeze(0));
}
Tensor binary(const Words& w) { return kBinary.at(w[1]).tensors(golden()[w[2]], golden()[w[3]]); }
Tensor with_number(const Words& w) {
  return kBinary.at(w[1]).number_right(golden()[w[2]], number(w[3]));
}
Tensor number_with(const Words& w) {
  return kBinary.at(w[1]).number_left(number(w[2]), golden()[w[3]]);
}
Tensor in_place(const Words& w) {
  Tensor x = golden()[w[2]].clone();
  return (x.*kBinary.at(w[1]).in_place)(golden()[w[3]]);
}

Tensor reduce(const Words& w) {
  const Tensor x = golden()[w[2]];
  const std::vector<int64_t> dims = parse_dims(w[3]);
  const bool keepdim = w[4] == "1";
  if (w[1] == "sum") return x.sum(dims, keepdim);
  if (w[1] == "mean") return x.mean(dims, keepdim);
  return w[1] == "amax" ? x.amax(dims, keepdim) : x.amin(dims, keepdim);
}
Tensor reduce_as(const Words& w) {
  const Tensor x = golden()[w[2]];
  return w[1] == "sum" ? x.sum(dtype_named(w[3])) : x.mean(dtype_named(w[3]));
}
Tensor extreme(const Words& w) {
  const Tensor x = golden()[w[2]];
  const int64_t dim = std::stoll(w[3]);
  const auto [values, indices] = w[1] == "max" ? x.max(dim, w[4] == "1") : x.min(dim, w[4] == "1");
  return w[5] == "values" ? values : indices;
}
Tensor arg(const Words& w) {
  const Tensor x = golden()[w[2]];
  std::optional<int64_t> dim;
  if (w[3] != "all") dim = std::stoll(w[3]);
  return w[1] == "argmax" ? x.argmax(dim, w[4] == "1") : x.argmin(dim, w[4] == "1");
}

// Where either zero is the larger one, PyTorch's own kernels differ, and where a number is
// subnormal.
constexpr double kAnyZero = 0x1p-20;

const GoldenKinds kKinds = {
    {"unary", {unary}},
    {"unary relu", {unary, kAnyZero}},
    // e^x where PyTorch divides by an infinite 1 + e^-x.
    {"unary sigmoid", {unary, kAnyZero}},
    // 1 + tanh cancels.
    {"unary gelu_tanh", {unary, 4}},
    {"unary relu6", {unary, kAnyZero}},
    {"unary selu", {unary, kAnyZero}},
    {"unary gelu", {unary, 4}},
    {"unary mish", {unary, kAnyZero}},
    {"unary log_sigmoid", {unary, kAnyZero}},
    {"unary i1", {unary, kAnyZero}},
    {"unary digamma", {unary, 4}},
    {"outer maximum", {outer, kAnyZero}},
    {"outer minimum", {outer, kAnyZero}},
    {"outer", {outer}},
    {"polygamma",
     {[](const Words& w) { return polygamma(std::stoll(w[1]), golden()[w[2]]); }, kAnyZero}},
    {"outer fmax", {outer, kAnyZero}},
    {"outer fmin", {outer, kAnyZero}},
    {"binary", {binary}},
    {"with_number", {with_number}},
    {"number_with", {number_with}},
    {"in_place", {in_place}},
    {"convert", {[](const Words& w) { return golden()[w[1]].to(dtype_named(w[2])); }}},
    {"reduce", {reduce, 32}},
    {"reduce_as", {reduce_as, 32}},
    {"extreme", {extreme}},
    {"arg", {arg}},
    {"softmax", {[](const Words& w) { return golden()[w[1]].softmax(std::stoll(w[2])); }, 1}},
    {"log_softmax",
     {[](const Words& w) { return golden()[w[1]].log_softmax(std::stoll(w[2])); }, 32}},
    {"matmul", {[](const Words& w) { return matmul(golden()[w[1]], golden()[w[2]]); }, 32}},
};

// PyTorch composes these of functions that refuse bool.
bool takes_bool(const GoldenCase& c) {
  static const std::set<std::string> operations = {"softsign", "tanhshrink"};
  return operations.contains(c.words[1]) && c.text.find("bool") != std::string::npos;
}

TEST(TensorGolden, MatchesPyTorch) { check_golden(golden(), kKinds, takes_bool); }

}  // namespace
}  // namespace gradus::test
