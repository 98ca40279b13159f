// docs/operators.md is made from the tables; this test makes it again and compares.
// GRADUS_UPDATE_DOCS=1 writes it instead.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "gradus/tensor/math/elementwise.h"

namespace gradus {
namespace {

using scalar::Ints;

// Of what gives bool.
std::string truths(bool complex_numbers) {
  return complex_numbers ? "all, complex; the result is bool" : "all; the result is bool";
}
std::string dtypes(Ints ints) {
  switch (ints) {
    case Ints::any:
      return "all";
    case Ints::same:
      return "all but bool";
    case Ints::real:
      return "floating point (integers are converted)";
    case Ints::none:
      return "floating point";
    case Ints::only:
      return "integers";
    case Ints::bits:
      return "integers, bool";
  }
  return "";
}

// A table cell may not contain the character that separates cells.
std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

template <class Row>
void unary(std::ostream& out) {
  out << "| `" << Row::name << "(x)` | " << cell(Row::doc) << " | " << dtypes(Row::ints)
      << (Row::complex_numbers ? ", complex" : "") << " | `" << Row::derivative_formula << "` |\n";
}
template <class Row>
void binary(std::ostream& out) {
  out << "| `" << Row::name << "(x, y)` | " << cell(Row::doc) << " | " << dtypes(Row::ints)
      << (Row::complex_numbers ? ", complex" : "") << " | `" << Row::dx_formula << "` | `"
      << Row::dy_formula << "` |\n";
}
template <class Row>
void plain(std::ostream& out, const char* arguments, const std::string& types) {
  out << "| `" << Row::name << arguments << "` | " << cell(Row::doc) << " | " << types << " |\n";
}

// Parameters without the words that every signature repeats.
std::string shortened(std::string text) {
  const std::pair<const char*, const char*> words[] = {{"const Tensor&", "Tensor"},
                                                       {"ArrayRef<Tensor>", "TensorList"},
                                                       {"const Scalar&", "Scalar"},
                                                       {"const TensorOptions&", "TensorOptions"},
                                                       {"std::optional", "optional"},
                                                       {"std::nullopt", "nullopt"},
                                                       {"int64_t", "int"},
                                                       {"std::string_view", "string"}};
  for (const auto& [from, to] : words)
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += std::strlen(to))
      text.replace(at, std::strlen(from), to);
  return text;
}
void function(std::ostream& out, const char* forms, const std::string& first, const char* result,
              const char* name, const std::string& params, const char* dtypes, const char* grad,
              const char* doc) {
  const std::string rest = params.substr(1, params.size() - 2);
  out << "| `"
      << cell(shortened(std::string(name) + "(" + first +
                        (first.empty() || rest.empty() ? "" : ", ") + rest + ")"))
      << "`" << (std::strcmp(result, "Tensor") ? " -> " + std::string(result) : "") << " | "
      << forms << " | " << cell(doc) << " | " << dtypes << " | "
      << (std::strcmp(grad, "grad") ? "none" : "every order") << " |\n";
}

std::string table() {
  std::ostringstream out;
  out << "# Operators\n\n"
         "Made from `tensor/table/elementwise.def` and `tensor/table/functions.def` by "
         "`GRADUS_UPDATE_DOCS=1 build/main/tests/test_tensor\n--gtest_filter=OperatorTable.*`; a "
         "test fails while it is out of date. Every operation here runs on the CPU and on CUDA, "
         "over "
         "any\nstrides; those with a derivative have derivatives of every order. In the "
         "derivatives y is the\nresult of one operand and z that of two, `R(c)` is the constant c, "
         "and `underivable` is an error.\n\n"
         "[One operand](#one-operand) | [Two operands](#two-operands) | "
         "[Two integers](#two-integers) | [Comparisons](#comparisons) | [Functions](#functions)\n\n"
         "## One operand\n\n"
         "Each is a function, a method, and a method in place (`x.exp_()`).\n\n"
         "| operation | meaning | dtypes | d/dx |\n|---|---|---|---|\n";
#define UNARY(name, ...) unary<scalar::Unary<UnaryOp::name>>(out);
#include "gradus/tensor/table/elementwise.def"
  out << "\n## Two operands\n\n"
         "Operands broadcast; either may be a number. Functions, methods and methods in place.\n\n"
         "| operation | meaning | dtypes | d/dx | d/dy |\n|---|---|---|---|---|\n";
#define BINARY(name, ...) binary<scalar::Binary<BinaryOp::name>>(out);
#include "gradus/tensor/table/elementwise.def"
  out << "\n## Two integers\n\n"
         "As those, without derivatives.\n\n"
         "| operation | meaning | dtypes |\n|---|---|---|\n";
#define INTEGER(name, doc, ints, ...) \
  plain<scalar::Binary<BinaryOp::name>>(out, "(x, y)", dtypes(Ints::ints));
#include "gradus/tensor/table/elementwise.def"
  out << "\n## Comparisons\n\n"
         "| operation | meaning | dtypes |\n|---|---|---|\n";
#define COMPARISON(name, ...)                          \
  plain<scalar::Binary<BinaryOp::name>>(out, "(x, y)", \
                                        truths(scalar::Binary<BinaryOp::name>::complex_numbers));
#include "gradus/tensor/table/elementwise.def"
  out << "\n## Predicates\n\n"
         "| operation | meaning | dtypes |\n|---|---|---|\n";
#define PREDICATE(name, ...)                      \
  plain<scalar::Unary<UnaryOp::name>>(out, "(x)", \
                                      truths(scalar::Unary<UnaryOp::name>::complex_numbers));
#include "gradus/tensor/table/elementwise.def"
  out << "\n## Functions\n\n"
         "`x.f(...)` where the column says method; `f_`: in place, as `x.f_(...)` and "
         "`f_(x, ...)`; `f_out`: into tensors given before the arguments.\n\n"
         "| function | forms | meaning | dtypes | gradient |\n|---|---|---|---|---|\n";
#define ROW(forms, first, result, name, params, args, dtypes, grad, doc) \
  function(out, forms, first, #result, #name, #params, #dtypes, #grad, doc);
#define METHOD(...) ROW("method", "self", __VA_ARGS__)
#define FUNCTION(...) ROW("method, `f_out`", "self", __VA_ARGS__)
#define IN_PLACE(...) ROW("method, `f_`, `f_out`", "self", __VA_ARGS__)
#define UPDATE(...) IN_PLACE(__VA_ARGS__)
#define PAIR(...) ROW("method, `f_out`", "self", __VA_ARGS__)
#define FREE(...) ROW("", "", __VA_ARGS__)
#define FREE_OUT(...) ROW("`f_out`", "", __VA_ARGS__)
#define FACTORY(name, params, args, dtypes, doc) \
  ROW("", "", Tensor, name, params, args, dtypes, none, doc)
#include "gradus/tensor/table/functions.def"
  return out.str();
}

TEST(OperatorTable, TheCommittedPageIsUpToDate) {
  const std::string path = std::string(GRADUS_SOURCE_DIR) + "/docs/operators.md";
  if (std::getenv("GRADUS_UPDATE_DOCS")) std::ofstream(path) << table();
  std::ostringstream committed;
  committed << std::ifstream(path).rdbuf();
  EXPECT_EQ(committed.str(), table()) << "run this test with GRADUS_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace gradus
