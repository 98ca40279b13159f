// Matrix products by OpenBLAS.
#include <algorithm>
#include <climits>

#include "gradus/cpu/matmul/product.h"
#include "gradus/cpu/openblas.h"
#include "gradus/cpu/parallel.h"

#ifdef GRADUS_BLAS
#include <cblas.h>
#endif

namespace gradus::cpu {

#ifdef GRADUS_BLAS

namespace {

struct Library {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_dgemm) dgemm = nullptr;
};

// The library has no functions where this machine has no OpenBLAS.
const Library& library() {
  static const Library found = [] {
    Library out;
    out.sgemm = reinterpret_cast<decltype(out.sgemm)>(openblas_function("cblas_sgemm"));
    out.dgemm = reinterpret_cast<decltype(out.dgemm)>(openblas_function("cblas_dgemm"));
    return out.sgemm && out.dgemm ? out : Library{};
  }();
  return found;
}

void gemm(CBLAS_TRANSPOSE a_form, CBLAS_TRANSPOSE b_form, blasint m, blasint n, blasint k,
          const float* a, blasint lda, const float* b, blasint ldb, float beta, float* c,
          blasint ldc) {
  library().sgemm(CblasRowMajor, a_form, b_form, m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}
void gemm(CBLAS_TRANSPOSE a_form, CBLAS_TRANSPOSE b_form, blasint m, blasint n, blasint k,
          const double* a, blasint lda, const double* b, blasint ldb, double beta, double* c,
          blasint ldc) {
  library().dgemm(CblasRowMajor, a_form, b_form, m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}

// A matrix as BLAS takes it: dense rows, or dense columns, `leading` elements apart.
struct Layout {
  CBLAS_TRANSPOSE form;
  int64_t leading;  // 0: BLAS cannot take it
};
Layout layout(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step) {
  // A dimension of size 1 has a stride that nobody uses.
  const bool dense_rows = column_step == 1 || columns == 1;
  const bool dense_columns = row_step == 1 || rows == 1;
  if (dense_rows && rows == 1) return {CblasNoTrans, columns};
  if (dense_rows && row_step >= columns) return {CblasNoTrans, row_step};
  if (dense_columns && column_step >= rows) return {CblasTrans, column_step};
  return {CblasNoTrans, 0};
}

template <class T>
void multiply_part(const Product<T>& p, const Layout& a, const Layout& b) {
  if (p.bias)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) p.out[i * p.out_row + j] = p.bias[j * p.bias_column];
  const OneBlasThread alone;
  gemm(a.form, b.form, static_cast<blasint>(p.m), static_cast<blasint>(p.n),
       static_cast<blasint>(p.k), p.a, static_cast<blasint>(a.leading), p.b,
       static_cast<blasint>(b.leading), p.bias ? T(1) : T(0), p.out,
       static_cast<blasint>(p.out_row));
}

template <class T>
bool multiply(const Product<T>& p) {
  const Layout a = layout(p.m, p.k, p.a_row, p.a_column);
  const Layout b = layout(p.k, p.n, p.b_row, p.b_column);
  if (!a.leading || !b.leading || p.k == 0) return false;
  if (std::max({p.m, p.n, p.k, a.leading, b.leading, p.out_row}) > INT_MAX) return false;
  if (!have_blas()) return false;
  const Parts<T> parts(p, 32, 32, 32);
  parallel_for(0, parts.count, 1, [&](int64_t i, int64_t) { multiply_part(parts[i], a, b); });
  return true;
}

}  // namespace

bool have_blas() { return library().sgemm != nullptr; }
bool multiply_blas(const Product<float>& p) { return multiply(p); }
bool multiply_blas(const Product<double>& p) { return multiply(p); }

#else

bool have_blas() { return false; }
bool multiply_blas(const Product<float>&) { return false; }
bool multiply_blas(const Product<double>&) { return false; }

#endif

}  // namespace gradus::cpu
