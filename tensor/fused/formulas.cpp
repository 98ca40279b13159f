// The formulas of the tables' rows as text.
#include "gradus/tensor/fused/formulas.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "gradus/tensor/fused/tracer.h"

namespace gradus::fused {

namespace {

using Row = Formulas::Row;

constexpr const char *kX = "(T x)", *kXY = "(T x, T y)", *kXYZW = "(T x, T y, T z, T w)";

constexpr Row unary[] = {
#define UNARY(name, doc, ints, complex, lo, hi, f, df, ...) {#name, kX, "T", #f, #df},
#define PREDICATE(name, doc, complex, f) {#name, kX, "bool", #f, ""},
#include "gradus/tensor/table/elementwise.def"
};
constexpr Row binary[] = {
#define BINARY(name, doc, ints, complex, xlo, xhi, ylo, yhi, f, ...) {#name, kXY, "T", #f, ""},
#define INTEGER(name, doc, ints, f, ...) {#name, kXY, "T", #f, ""},
#define COMPARISON(name, doc, complex, f) {#name, kXY, "bool", #f, ""},
#include "gradus/tensor/table/elementwise.def"
};
constexpr Row ternary[] = {
#define TERNARY(name, doc, ints, ylo, yhi, zlo, zhi, f, ...) {#name, kXYZW, "T", #f, ""},
#include "gradus/tensor/table/ternary.def"
};
constexpr Row helpers[] = {
#define HELPER(name, params, ...) {#name, #params, "T", #__VA_ARGS__, ""},
#define BY_KIND(result, name, params, floating, integers) {#name, #params, #result, #floating, ""},
#define GPU(...) HELPER(__VA_ARGS__)
#include "gradus/tensor/table/helpers.def"
};
struct FoldRow {
  const char *start, *enter, *combine, *finish;
};
constexpr FoldRow folds[] = {
#define REDUCTION(name, doc, start, enter, combine, finish) {#start, #enter, #combine, #finish},
#include "gradus/tensor/table/reductions.def"
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

const Row* find(std::string_view name) {
  for (const Row& row : helpers)
    if (name == row.name) return &row;
  for (const Row& row : unary)
    if (name == row.name) return &row;
  for (const Row& row : binary)
    if (name == row.name) return &row;
  return nullptr;
}

// Whether the row calls itself, as exp(x) does: then it is a function of <cmath>, which CUDA has.
bool is_of_cuda(const Row& row) {
  return std::string_view(row.formula).starts_with(std::string(row.name) + "(");
}

// "+" of "x + y"; empty where the formula is another one.
std::string_view operator_of(std::string_view formula) {
  if (!formula.starts_with("x ") || !formula.ends_with(" y")) return "";
  const std::string_view middle = formula.substr(2, formula.size() - 4);
  return middle.find_first_of("xy ") == std::string_view::npos ? middle : "";
}

std::string call_of(const std::string& function, const Formulas::Operands& operands) {
  std::string out;
  for (const std::string& operand : operands) out += (out.empty() ? "" : ", ") + operand;
  return function + "(" + out + ")";
}

std::string head_of(const Row& row) {
  return std::string(row.result) + " " + row.name + row.params;
}

}  // namespace

// A name before a bracket is called; but T and R are types, and std::sqrt is a function of CUDA.
void Formulas::need(const std::string& formula) {
  for (size_t i = 0, end; i < formula.size(); i = end) {
    for (end = i; end < formula.size() && is_word(formula[end]);) ++end;
    const std::string name = formula.substr(i, end - i);
    const bool of_std = i >= 2 && formula.compare(i - 2, 2, "::") == 0;
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) {
      end = std::max(end, i + 1);
      continue;
    }
    const bool is_call = end < formula.size() && (formula[end] == '(' || formula[end] == '<');
    if (!is_call || of_std || name == "T" || name == "R") continue;
    const Row* const row = find(name);
    if (!row)
      fail<NotFusable>("fuse: a formula calls ", name, "(), which kernels made at run time lack");
    if (!is_of_cuda(*row)) add(name, head_of(*row), row->formula);
  }
}

void Formulas::add(const std::string& name, const std::string& head, const std::string& formula) {
  if (names_.find(" " + name + " ") != std::string::npos) return;
  names_ += name + " ";
  need(formula);
  std::string body = formula;  // std::sqrt is ::sqrt in CUDA C++
  for (size_t at; (at = body.find("std::")) != std::string::npos;) body.erase(at, 3);
  text_ += "template <class T>\n__device__ " + head + " {\n";
  if (body.find("R(") != std::string::npos) text_ += "  using R = T;\n";
  text_ +=
      head.starts_with("bool") ? "  return " + body + ";\n}\n" : "  return T(" + body + ");\n}\n";
}

std::string Formulas::call(const Row& row, const Operands& operands) {
  const std::string_view sign = operator_of(row.formula);
  if (!sign.empty()) return operands[0] + " " + std::string(sign) + " " + operands[1];
  if (is_of_cuda(row)) return call_of(row.name, operands);
  add(row.name, head_of(row), row.formula);
  return call_of(std::string("gradus::") + row.name, operands);
}

std::string Formulas::call(UnaryOp op, const Operands& x) {
  return call(unary[static_cast<int>(op)], x);
}
std::string Formulas::call(BinaryOp op, const Operands& xy) {
  return call(binary[static_cast<int>(op)], xy);
}
std::string Formulas::call(TernaryOp op, const Operands& xyzw) {
  return call(ternary[static_cast<int>(op)], xyzw);
}
std::string Formulas::derivative(UnaryOp op, const Operands& xy) {
  const Row& row = unary[static_cast<int>(op)];
  const std::string name = std::string(row.name) + "_slope";
  add(name, "T " + name + kXY, row.derivative);
  return call_of("gradus::" + name, xy);
}
void Formulas::use(ReduceOp op) {
  const FoldRow& row = folds[static_cast<int>(op)];
  const std::string name = name_of(op);
  add(name + "_start", "T " + name + "_start()", row.start);
  add(name + "_enter", "T " + name + "_enter(T x)", row.enter);
  add(name + "_combine", "T " + name + "_combine(T a, T b)", row.combine);
  add(name + "_finish", "T " + name + "_finish(T s, long long n)", row.finish);
}

std::string Formulas::text() const {
  return text_.empty() ? "" : "namespace gradus {\n" + text_ + "}  // namespace gradus\n";
}

}  // namespace gradus::fused
