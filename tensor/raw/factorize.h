// Factorizations of matrices, without a graph. LAPACK counts columns first: an operand is copied
// once, transposed, to where its factors then lie, and results are transposed views of that.
//
// Matrices are the last two dimensions, those before are a batch. Every dtype is Float or Double,
// or for eig a complex one, which the caller has checked. info has the shape of the batch and is
// int32: 0, or LAPACK's number. Nothing waits for a GPU, nothing fails at a matrix.
#pragma once

#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

// The lower triangle L of a = L L^T, or the upper one, U, of U^T U; 0 elsewhere. One triangle of a
// is read.
struct Cholesky {
  Tensor factor, info;
};
Cholesky cholesky(const Tensor& a, bool upper);

// L without its diagonal and U in one matrix. pivots[i]: the row, from 1, that row i changed places
// with.
struct Lu {
  Tensor lu, pivots, info;
};
Lu lu(const Tensor& a);
// x of a x = b, or of a^T x = b. has_info: the caller hands out the info of lu(a), which tells of
// singular matrices. REQUIRES: lu and pivots are those of a; all have one batch.
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transposed,
                bool has_info = false);
// The same where a is the triangle. unit: its diagonal counts as 1. REQUIRES: one batch.
Tensor triangular_solve(const Tensor& a, const Tensor& b, bool upper, bool transposed, bool unit);

// complete: q is square. q is undefined where it is not asked for.
struct Qr {
  Tensor q, r;
};
Qr qr(const Tensor& a, bool complete, bool with_q);

// Eigenvalues of symmetric matrices, ascending, and their vectors, or none.
struct Eigh {
  Tensor values, vectors, info;
};
Eigh eigh(const Tensor& a, bool upper, bool vectors);

// Eigenvalues of any square matrices, and right eigenvectors of length 1, or none. A real a gives
// packed ones: values (..., 2, n) and pairs of columns (factorizations.h).
struct Eig {
  Tensor values, vectors, info;
};
Eig eig(const Tensor& a, bool vectors);

// Singular values, descending, and their vectors, or none. full: u and vh are square.
struct Svd {
  Tensor u, s, vh, info;
};
Svd svd(const Tensor& a, bool full, bool vectors);

}  // namespace gradus::raw
