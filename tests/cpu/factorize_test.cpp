// Errors of linear algebra name the function that was called; those of a machine without LAPACK
// say what is missing.
#include <dlfcn.h>

#include <functional>
#include <iostream>
#include <set>

#include "gradus/cpu/openblas.h"
#include "tests/support.h"

namespace gradus {
namespace {

constexpr const char* kHidden = "GRADUS_TEST_HIDES_OPENBLAS";  // set: there is none

struct NamedCall {
  std::string row;  // of functions.def
  bool needs_lapack;
  std::function<void(const Tensor&)> call;

  // "linalg_inv" is linalg.inv in errors, and "inverse" itself.
  std::string name() const { return row.starts_with("linalg_") ? "linalg." + row.substr(7) : row; }
};

#define CALL(name, ...)                                     \
  {                                                         \
#name, true, [](const Tensor& a) { name(__VA_ARGS__); } \
  }
#define WITHOUT_LAPACK(name, ...)                            \
  {                                                          \
#name, false, [](const Tensor& a) { name(__VA_ARGS__); } \
  }
const std::vector<NamedCall>& named_calls() {
  static const Tensor pivots = tensor({1, 2}, kInt);
  static const std::vector<NamedCall> out = {
      CALL(cholesky, a),
      CALL(linalg_cholesky, a),
      CALL(linalg_cholesky_ex, a, false, true),
      CALL(cholesky_solve, a, a),
      CALL(cholesky_inverse, a),
      CALL(linalg_solve, a, a),
      CALL(linalg_solve, a, a, false),
      CALL(linalg_solve_ex, a, a, true, true),
      CALL(linalg_solve_triangular, a, a, true),
      CALL(triangular_solve, a, a),
      CALL(inverse, a),
      CALL(linalg_inv, a),
      CALL(linalg_inv_ex, a, true),
      CALL(linalg_tensorinv, a, 1),
      CALL(linalg_tensorsolve, a, a.defined() && a.dim() > 1 ? a.select(0, 0) : a),
      CALL(det, a),
      CALL(linalg_det, a),
      CALL(logdet, a),
      CALL(slogdet, a),
      CALL(linalg_slogdet, a),
      CALL(linalg_lu, a),
      CALL(linalg_lu, a, false),
      CALL(linalg_lu_factor, a),
      CALL(linalg_lu_factor_ex, a, true, true),
      WITHOUT_LAPACK(lu_unpack, a, pivots),
      CALL(linalg_lu_solve, a, pivots, a),
      CALL(linalg_lu_solve, a, pivots, a, false),
      CALL(lu_solve, a, a, pivots),
      CALL(qr, a),
      CALL(linalg_qr, a),
      CALL(linalg_eigh, a),
      CALL(linalg_eigvalsh, a),
      CALL(linalg_eig, a),
      CALL(linalg_eigvals, a),
      CALL(svd, a),
      CALL(linalg_svd, a),
      CALL(linalg_svdvals, a),
      CALL(pinverse, a),
      CALL(linalg_pinv, a),
      CALL(linalg_pinv, a, 1e-3),
      CALL(linalg_pinv, a, 1e-3, true),
      CALL(linalg_lstsq, a, a),
      CALL(linalg_lstsq, a, a, std::nullopt, "gels"),
      CALL(linalg_matrix_rank, a),
      CALL(linalg_matrix_rank, a, 1e-3),
      CALL(linalg_matrix_rank, a, 1e-3, true),
      CALL(linalg_cond, a),
      CALL(linalg_cond, a, 1),
      CALL(linalg_cond, a, "fro"),
      CALL(linalg_cond, a, "nuc"),
      CALL(matrix_exp, a),
      CALL(linalg_matrix_exp, a),
      CALL(linalg_norm, a, 2),
      CALL(linalg_norm, a, "nuc"),
      CALL(linalg_matrix_norm, a, 2),
      CALL(linalg_matrix_norm, a, "nuc"),
      CALL(nuclear_norm, a),
      CALL(linalg_matrix_power, a, -1),
      CALL(matrix_power, a, -1),
      WITHOUT_LAPACK(linalg_norm, a),
      WITHOUT_LAPACK(linalg_vector_norm, a),
      WITHOUT_LAPACK(linalg_matrix_norm, a),
      WITHOUT_LAPACK(linalg_matrix_norm, a, 1),
      WITHOUT_LAPACK(linalg_multi_dot, {a, a}),
      WITHOUT_LAPACK(linalg_cross, a, a),
      WITHOUT_LAPACK(linalg_vecdot, a, a),
  };
  return out;
}
#undef CALL
#undef WITHOUT_LAPACK

// Every row of linear algebra. Errors of matmul and diagonal name these, whose second names
// linalg_matmul and linalg_diagonal are.
std::set<std::string> rows_of_linear_algebra() {
#define METHOD(result, name, ...) #name,
#define FUNCTION(result, name, ...) #name,
#define PAIR(result, name, ...) #name,
#define FREE(result, name, ...) #name,
#define FREE_OUT(result, name, ...) #name,
  std::set<std::string> out = {
#include "gradus/tensor/table/functions/linalg.def"
  };
  for (const std::string name : {
#include "gradus/tensor/table/functions.def"
       })
    if (name.starts_with("linalg_")) out.insert(name);
  out.erase("linalg_matmul"), out.erase("linalg_diagonal");
  return out;
}

TEST(CpuFactorize, EveryFunctionIsCalled) {
  std::set<std::string> called;
  for (const NamedCall& each : named_calls()) called.insert(each.row);
  for (const std::string& row : rows_of_linear_algebra()) EXPECT_EQ(called.count(row), 1) << row;
}

TEST(CpuFactorize, ErrorsNameTheFunctionThatWasCalled) {
  const std::vector<std::pair<const char*, Tensor>> wrong = {
      {"undefined", Tensor()},           {"a number", ones({})},
      {"a vector", ones({3})},           {"no squares", ones({2, 4})},
      {"integers", ones({2, 2}, kLong)}, {"half", ones({2, 2}, kHalf)},
      {"not finite", full({2, 2}, NAN)}, {"singular", zeros({2, 2})}};
  for (const NamedCall& each : named_calls())
    for (const auto& [what, a] : wrong) {
      SCOPED_TRACE(each.row + " of " + what);
      try {
        each.call(a);
        EXPECT_TRUE(a.defined());
      } catch (const Error& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with(each.name() + ": ")) << error.what();
      }
    }
}

// How many functions say something else. Each names itself, although most call others.
int wrong_refusals() {
  int wrong = 0;
  for (const NamedCall& each : named_calls())
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const std::string letter = dtype == kFloat ? "s" : "d";
      const std::string expected =
          each.name() + ": the CPU needs LAPACK, which is a part of OpenBLAS (" + letter +
          "geev_ was not found); install libopenblas-dev, and configure with -DGRADUS_BLAS=AUTO "
          "where the library was built without it";
      std::string said;
      try {
        each.call(eye(each.row == "linalg_cross" ? 3 : 2, dtype));
      } catch (const NotImplementedError& error) {
        said = error.what();
      }
      if (said == (each.needs_lapack ? expected : "")) continue;
      ++wrong;
      std::cerr << each.row << ": " << said << '\n';
    }
  return wrong;
}

// The child starts anew, since OpenBLAS is looked for once, when the program starts.
TEST(CpuFactorizeDeathTest, WithoutLapackEachSaysWhatItNeeds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv(kHidden, "1", 1);
  EXPECT_EXIT(
      {
        const int wrong = wrong_refusals();
        if (cpu::openblas_function("dgemm_")) std::cerr << "OpenBLAS was found\n";
        std::exit(wrong);
      },
      ::testing::ExitedWithCode(0), "^$");
  ::unsetenv(kHidden);
}

}  // namespace
}  // namespace gradus

// Comes before that of the C library.
extern "C" void* dlopen(const char* file, int flags) noexcept {
  if (std::getenv(gradus::kHidden) && file &&
      std::string_view(file).find("openblas") != std::string_view::npos)
    return nullptr;
  static const auto open = reinterpret_cast<decltype(&dlopen)>(dlsym(RTLD_NEXT, "dlopen"));
  return open(file, flags);
}
