// The factorizations that a device must be able to do: Backend::factorize (backend.def) takes one
// of them, its form, and the tensors that the line names.
#pragma once

#include <cstdint>

namespace gradus {

// Every tensor is contiguous: matrices lie in LAPACK's order, which counts columns first. So a
// batch of (rows, columns) matrices is a tensor (batch, columns, rows), and the vectors of a batch
// are (batch, length). All are Float or Double of one dtype, except for pivots and info, which are
// Int. `eig` takes complex dtypes, too. No size is 0. info (batch) is 0 where all went well, and
// otherwise LAPACK's number.
enum class Factorization : uint8_t {
  // a (n, n), info. One triangle of a becomes the factor L of a = L L^T, or U of U^T U where
  // `upper`; the other one is left as it is.
  cholesky,
  // a (m, n), pivots (least of m, n), info. a becomes L below the diagonal, which is 1, and U.
  lu,
  // a (n, n) and pivots from `lu`, b (n, k). b becomes x of a x = b, or a^T x = b where
  // `transposed`.
  lu_solve,
  // a (n, n), b (n, k). The same for the triangle of a, whose diagonal counts as 1 where `unit`.
  triangular_solve,
  // a (m, n), tau (least of m, n). a becomes R, and below it the vectors of the reflections.
  qr,
  // a (m, k), tau (at most k). a holds vectors from `qr`, and becomes the first k columns of Q.
  // tau's size says how many there are; k is at most m.
  householder,
  // a (n, n), values (n), info. values become the eigenvalues of the symmetric matrix whose one
  // triangle is read, ascending. a becomes the eigenvectors where `vectors`, else it is
  // overwritten.
  eigh,
  // a (n, n), values, vectors (n, n), info. values become the eigenvalues, and the columns of
  // vectors right eigenvectors of length 1, undefined where not `vectors`. a is overwritten. All
  // have the dtype of a. A complex a has values (n). A real a has values (2, n): real parts, then
  // imaginary ones. Two conjugate values stand side by side, the positive part first; their columns
  // are the real and the imaginary part of the first one's vector. A GPU may be waited for.
  eig,
  // a (m, n), u (m, k), values (n), vh (n, n), info; m is at least n, and k is n or m. a = u
  // diag(values) vh, values descending. a is overwritten. u and vh are undefined where not
  // `vectors`.
  svd
};

struct FactorizationForm {
  bool upper = false, transposed = false, unit = false, vectors = true;
  // The caller of lu_solve hands out the info of `lu`, which tells of singular matrices.
  bool has_info = false;
};

// Tells what becomes of the tensors of a line above, by bits at their places.
struct FactorizationRoles {
  unsigned read = 0, overwritten = 0, results = 0;  // of floating point; results have a meaning
  bool triangle = false;                            // one of the first tensor is read
  int info = -1;                                    // a place
};
constexpr FactorizationRoles roles_of(Factorization op, const FactorizationForm& form) {
  switch (op) {
    case Factorization::cholesky:
      return {0b1, 0b1, 0b1, true, 1};
    case Factorization::lu:
      return {0b1, 0b1, 0b1, false, 2};
    case Factorization::lu_solve:
      return {0b101, 0b100, 0b100};
    case Factorization::triangular_solve:
      return {0b11, 0b10, 0b10, true};
    case Factorization::qr:
      return {0b1, 0b11, 0b11};
    case Factorization::householder:
      return {0b11, 0b1, 0b1};
    case Factorization::eigh:
      return {0b1, 0b11, form.vectors ? 0b11u : 0b10u, true, 2};
    case Factorization::eig:
      return {0b1, 0b111, form.vectors ? 0b110u : 0b10u, false, 3};
    case Factorization::svd:
      return {0b1, 0b1111, form.vectors ? 0b1110u : 0b100u, false, 4};
  }
  return {};
}

constexpr const char* name_of(Factorization op) {
  constexpr const char* kNames[] = {"linalg.cholesky", "linalg.lu",
                                    "linalg.lu_solve", "linalg.solve_triangular",
                                    "linalg.qr",       "linalg.householder_product",
                                    "linalg.eigh",     "linalg.eig",
                                    "linalg.svd"};
  return kNames[static_cast<int>(op)];
}

}  // namespace gradus
