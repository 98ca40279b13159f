// The rows of elementwise.def as functions of Python, and what all rows share.
#include "rows/rows.h"

#include <deque>
#include <string>

namespace gradus::python {

const char* kept(std::string_view text) {
  static std::deque<std::string> all;
  return all.emplace_back(text).c_str();
}

// Whether a text of words has this one.
static bool has_word(std::string_view words, std::string_view word) {
  for (std::string_view rest = words; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == word) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// What Python calls a parameter of a row: PyTorch has other names there than C++ for some.
static std::string_view parameter_name(std::string_view row, std::string_view name) {
  constexpr std::string_view kNames[][3] = {{"full full_like", "value", "fill_value"},
                                            {"pow", "other", "exponent"},
                                            {"heaviside", "other", "values"}};
  for (const auto& [rows, ours, pythons] : kNames)
    if (name == ours && has_word(rows, row)) return pythons;
  return name == "self" ? "input" : name;
}

RowParams named(std::string_view row, std::string_view args, std::vector<nb::object> defaults) {
  RowParams out;
  std::string name;
  for (const char c : args) {
    if (c == ',' || c == ')') {
      if (!name.empty()) {
        nb::object value = out.size() < defaults.size() ? defaults[out.size()] : nb::object();
        out.push_back({kept(parameter_name(row, name)), value});
      }
      name.clear();
    } else if (c != '(' && c != ' ') {
      name += c;
    }
  }
  // The convolutions whose padding is a name: in C++ it stands behind bias and stride, in PyTorch's
  // Python these may be left out.
  if (has_word("conv1d conv2d conv3d", row) && !out.at(4).value.is_valid())
    for (const auto& [i, value] : {std::pair<size_t, nb::object>{2, nb::none()},
                                   {3, to_python(1)},
                                   {4, to_python(std::string_view("valid"))}})
      out[i].value = value;
  return out;
}

// The names of results that PyTorch has, where the docstring does not begin with them.
static std::string_view names_of_results(std::string_view row) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"values, indices", "sort topk kthvalue median nanmedian mode max min cummax cummin"},
      {"min, max", "aminmax"},
      {"hist, bin_edges", "histogram"},
      {"mantissa, exponent", "frexp"},
      {"sign, logabsdet", "slogdet linalg_slogdet"},
      {"Q, R", "qr linalg_qr"},
      {"eigenvalues, eigenvectors", "linalg_eig linalg_eigh"},
      {"U, S, V", "svd"},
      {"U, S, Vh", "linalg_svd"},
      {"P, L, U", "linalg_lu lu_unpack"},
      {"LU, pivots", "linalg_lu_factor"},
      {"LU, pivots, info", "linalg_lu_factor_ex"},
      {"L, info", "linalg_cholesky_ex"},
      {"inverse, info", "linalg_inv_ex"},
      {"result, info", "linalg_solve_ex"},
      {"solution, cloned_coefficient", "triangular_solve"},
      {"solution, residuals, rank, singular_values", "linalg_lstsq"}};
  for (const auto& [names, rows] : kNames)
    if (has_word(rows, row)) return names;
  return {};
}

// The text of a tuple with names: each on a line of its own, as PyTorch has it.
static PyObject* text_of_tuple(PyObject* self, PyObject*) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const nb::handle tuple(self);
    const nb::handle type = tuple.type();
    std::string out = nb::cast<std::string>(nb::object(type.attr("__module__"))) + "." +
                      nb::cast<std::string>(nb::object(type.attr("__name__"))) + "(";
    const char* separator = "\n";
    for (const nb::handle name : nb::object(type.attr("__match_args__"))) {
      out += std::exchange(separator, ",\n") + nb::cast<std::string>(name) + "=" +
             nb::cast<std::string>(nb::repr(tuple.attr(name)));
    }
    return nb::str((out + ")").c_str()).release().ptr();
  });
}

PyTypeObject* tuple_type(const char* row, std::string_view doc) {
  std::string_view names = names_of_results(row);
  if (names.empty()) {
    const size_t end = doc.find(')');
    if (doc.empty() || doc[0] != '(' || end == std::string_view::npos) return nullptr;
    names = doc.substr(1, end - 1);
  }
  std::vector<PyStructSequence_Field> fields;
  for (std::string_view rest = names; !rest.empty();) {
    const size_t comma = std::min(rest.find(", "), rest.size());
    const std::string_view name = rest.substr(0, comma);
    if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyzLPQRSUV_") != name.npos)
      return nullptr;
    fields.push_back({kept(name), nullptr});
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  if (fields.size() < 2) return nullptr;
  const int count = static_cast<int>(fields.size());
  fields.push_back({nullptr, nullptr});
  PyStructSequence_Desc description{kept("gradus.return_types." + std::string(row)), nullptr,
                                    fields.data(), count};
  PyTypeObject* const type = PyStructSequence_NewType(&description);
  static PyMethodDef text{"__repr__", &text_of_tuple, METH_NOARGS, nullptr};
  nb::setattr(reinterpret_cast<PyObject*>(type), "__repr__",
              nb::steal(PyDescr_NewMethod(type, &text)));
  return type;
}

void bind_elementwise(const Scopes& scopes) {
  static std::deque<BinaryRow> rows;
  const RowParams one = {{"input", {}}, {"out", nb::none()}};
  const auto unary = [&](const char* name, const char* doc, UnaryOp op,
                         Tensor (*function)(const Tensor&)) {
    define<false, 1>(scopes.module, name, doc, UnaryRow{op, function}, one);
    define<true, 0>(scopes.tensor, name, doc, Call<Tensor, const Tensor&>{function, nullptr}, one);
  };
  const auto unary_in_place = [&](const char* name, const char* doc,
                                  Tensor (*function)(const Tensor&)) {
    const Call<Tensor, const Tensor&> call{function, nullptr};
    define<true, 0>(scopes.tensor, name, doc, call, one);
    define<false, 0>(scopes.module, name, doc, call, one);
  };
  const auto binary = [&](const char* name, const char* doc, const BinaryRow& row,
                          const BinaryInPlace& in_place) {
    const BinaryRow* kept_row = &rows.emplace_back(row);
    RowParams two = named(name, "(self, other)", {});
    two.push_back({"out", nb::none()});
    define<false, 1>(scopes.module, name, doc, BinaryFunction{kept_row}, two);
    define<true, 0>(scopes.tensor, name, doc, BinaryMethod{kept_row}, two);
    define<true, 0>(scopes.tensor, kept(std::string(name) + "_"), doc, in_place, two);
  };
#define PREDICATE(name, doc, ...) \
  unary(                          \
      #name, doc, UnaryOp::name, +[](const Tensor& x) { return gradus::name(x); });
#define UNARY(name, doc, ...) \
  PREDICATE(name, doc)        \
  unary_in_place(             \
      #name "_", doc, +[](const Tensor& x) -> Tensor { return x.name##_(); });
#define GRADUS_PYTHON_BINARY(name, doc, left)                                                   \
  binary(#name, doc,                                                                            \
         {BinaryOp::name, +[](const Tensor& x, const Tensor& y) { return gradus::name(x, y); }, \
          +[](const Tensor& x, const Scalar& y) { return gradus::name(x, y); }, left},          \
         {+[](const Tensor& x, const Tensor& y) -> Tensor { return x.name##_(y); },             \
          +[](const Tensor& x, const Scalar& y) -> Tensor { return x.name##_(y); }});
#define BINARY(name, doc, ...) \
  GRADUS_PYTHON_BINARY(        \
      name, doc, +[](const Scalar& x, const Tensor& y) { return gradus::name(x, y); })
#define INTEGER(...) BINARY(__VA_ARGS__)
#define COMPARISON(name, doc, ...) GRADUS_PYTHON_BINARY(name, doc, nullptr)
#include "gradus/tensor/table/elementwise.def"
}

}  // namespace gradus::python
