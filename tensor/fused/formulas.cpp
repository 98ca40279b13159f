// The formulas of the tables' rows as text.
#include "gradus/tensor/fused/formulas.h"

#include <cctype>
#include <string_view>

#include "gradus/tensor/fused/tracer.h"

namespace gradus::fused {

namespace {

struct Row {
  const char *name, *params, *result, *formula, *slope;
};

constexpr const char *kX = "(T x)", *kXY = "(T x, T y)", *kXYZW = "(T x, T y, T z, T w)";

constexpr Row unary[] = {
#define UNARY(name, doc, ints, lo, hi, f, df, ...) {#name, kX, "T", #f, #df},
#define PREDICATE(name, doc, f) {#name, kX, "bool", #f, ""},
#include "gradus/tensor/table/elementwise.def"
};
constexpr Row binary[] = {
#define BINARY(name, doc, ints, xlo, xhi, ylo, yhi, f, ...) {#name, kXY, "T", #f, ""},
#define INTEGER(name, doc, ints, f, ...) {#name, kXY, "T", #f, ""},
#define COMPARISON(name, doc, f) {#name, kXY, "bool", #f, ""},
#include "gradus/tensor/table/elementwise.def"
};
constexpr Row ternary[] = {
#define TERNARY(name, doc, ints, ylo, yhi, zlo, zhi, f, ...) {#name, kXYZW, "T", #f, ""},
#include "gradus/tensor/table/ternary.def"
};
struct FoldRow {
  const char *start, *enter, *combine, *finish;
};
constexpr FoldRow folds[] = {
#define REDUCTION(name, doc, start, enter, combine, finish) {#start, #enter, #combine, #finish},
#include "gradus/tensor/table/reductions.def"
};

// What the formulas call beside one another. Those that are no rows of helpers.def are the
// functions of tensor/math/scalar_functions.h for floating point numbers.
constexpr Row helpers[] = {
#define HELPER(name, params, ...) {#name, #params, "T", #__VA_ARGS__, ""},
#include "gradus/tensor/table/helpers.def"
    {"max", "(T a, T b)", "T", "a != a ? a : a > b ? a : b", ""},
    {"min", "(T a, T b)", "T", "a != a ? a : a < b ? a : b", ""},
    {"magnitude", kX, "T", "::fabs(x)", ""},
    {"is_negative", kX, "bool", "::signbit(x)", ""},
    {"least", "()", "T", "T(-INFINITY)", ""},
    {"greatest", "()", "T", "T(INFINITY)", ""},
    {"logistic", kX, "T", "1 / (1 + exp(-x))", ""},
    {"normal_share", kX, "T", "T(0.5) * (1 + erf(x * T(0.7071067811865476)))", ""},
    {"power", kXY, "T", "::pow(x, y)", ""},
    {"floor", kX, "T", "::floor(x)", ""},
    {"ceil", kX, "T", "::ceil(x)", ""},
    {"trunc", kX, "T", "::trunc(x)", ""},
    {"round", kX, "T", "::nearbyint(x)", ""},
    {"frac", kX, "T", "x - ::trunc(x)", ""},
};
// Functions of CUDA that the formulas call by their names.
constexpr std::string_view of_cuda =
    " exp log sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp2 expm1 log2 "
    "log10 "
    "log1p erf erfc copysign nextafter atan2 hypot ";

bool has(std::string_view names, std::string_view name) {
  return names.find(" " + std::string(name) + " ") != std::string_view::npos;
}

std::string head_of(const Row& row) {
  return std::string(row.result) + " " + row.name + row.params;
}

const Row* find(std::string_view name) {
  for (const Row& row : helpers)
    if (name == row.name) return &row;
  for (const Row& row : unary)
    if (name == row.name) return &row;
  for (const Row& row : binary)
    if (name == row.name) return &row;
  return nullptr;
}

}  // namespace

// Names followed by a bracket are calls; T and R are types, std:: is left out below.
void Formulas::need(const std::string& formula) {
  for (size_t i = 0; i < formula.size();) {
    if (!std::isalpha(static_cast<unsigned char>(formula[i])) && formula[i] != '_') {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < formula.size() &&
           (std::isalnum(static_cast<unsigned char>(formula[end])) || formula[end] == '_'))
      ++end;
    const std::string name = formula.substr(i, end - i);
    const bool global = i >= 2 && formula.compare(i - 2, 2, "::") == 0;
    i = end;
    const bool is_call = end < formula.size() && (formula[end] == '(' || formula[end] == '<');
    if (!is_call || global || name == "T" || name == "R") continue;
    if (has(of_cuda, name) || has(names_, name)) continue;
    const Row* const row = find(name);
    if (!row)
      fail<NotFusable>("fuse: a formula calls ", name, "(), which kernels made at run time lack");
    add(row->name, head_of(*row), row->formula);
  }
}

void Formulas::add(const std::string& name, const std::string& head, const std::string& formula) {
  if (has(names_, name) || has(of_cuda, name)) return;
  names_ += name + " ";
  need(formula);
  text_ += "template <class T>\n__device__ " + head + " {\n";
  if (formula.find("R(") != std::string::npos) text_ += "  using R = T;\n";
  const bool is_bool = head.starts_with("bool");
  text_ += is_bool ? "  return " + formula + ";\n}\n" : "  return T(" + formula + ");\n}\n";
}

std::string Formulas::use_row(const char* name) {
  const Row& row = *find(name);
  add(row.name, head_of(row), row.formula);
  return row.name;
}
std::string Formulas::use(UnaryOp op) { return use_row(unary[static_cast<int>(op)].name); }
std::string Formulas::use(BinaryOp op) { return use_row(binary[static_cast<int>(op)].name); }
std::string Formulas::use(TernaryOp op) {
  const Row& row = ternary[static_cast<int>(op)];
  add(row.name, head_of(row), row.formula);
  return row.name;
}
std::string Formulas::use_derivative(UnaryOp op) {
  const Row& row = unary[static_cast<int>(op)];
  const std::string name = std::string(row.name) + "_slope";
  add(name, "T " + name + "(T x, T y)", row.slope);
  return name;
}
void Formulas::use(ReduceOp op) {
  const FoldRow& row = folds[static_cast<int>(op)];
  const std::string name = name_of(op), finish = row.finish;
  add(name + "_start", "T " + name + "_start()", row.start);
  add(name + "_enter", "T " + name + "_enter(T x)", row.enter);
  add(name + "_combine", "T " + name + "_combine(T a, T b)", row.combine);
  add(name + "_finish", "T " + name + "_finish(T s, long long n)",
      finish.starts_with("std::") ? finish.substr(5) : finish);
}

}  // namespace gradus::fused
