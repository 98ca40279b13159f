// The layouts of factorize.h, and its calls of the backend.
#include "gradus/tensor/raw/factorize.h"

#include <algorithm>

#include "gradus/tensor/base/called.h"

namespace gradus::raw {

namespace {

// The sizes of x without its last `inner` ones, and then those that are listed.
Dims with_sizes(const Tensor& x, size_t inner, std::initializer_list<int64_t> sizes) {
  Dims out(x.sizes().data(), x.sizes().size() - inner);
  for (int64_t size : sizes) out.push_back(size);
  return out;
}

// The same memory with one dimension for the batch, before the last `inner` ones.
Tensor flat(const Tensor& x, size_t inner) {
  const size_t outer = x.sizes().size() - inner;
  Dims sizes{numel_of(x.sizes().slice(0, outer))};
  for (int64_t size : x.sizes().slice(outer, inner)) sizes.push_back(size);
  return *try_view(x, sizes);
}
Tensor turned(const Tensor& x) { return raw::transpose(x, x.dim() - 2, x.dim() - 1); }

// A result: no view, since nobody else has the columns.
Tensor from_columns(const Tensor& columns) { return raw::alias(turned(columns)); }

// A copy in which the columns of x are contiguous: (..., columns, rows).
Tensor columns_of(const Tensor& x) { return raw::clone(turned(x)); }
// The same for what is only read: x's own memory where it lies so already.
Tensor columns_read(const Tensor& x) { return raw::contiguous(turned(x)); }

Tensor new_columns(const Tensor& like, int64_t columns, int64_t rows) {
  return empty(with_sizes(like, 2, {columns, rows}), like.dtype(), like.device());
}
Tensor new_vectors(const Tensor& like, int64_t length, ScalarType dtype) {
  return empty(with_sizes(like, 2, {length}), dtype, like.device());
}
// One number for each matrix: 0 where there is nothing to factor, else uninitialised.
Tensor new_info(const Tensor& like) {
  const Tensor out = empty(with_sizes(like, 2, {}), kInt, like.device());
  if (like.numel() == 0) raw::fill_(out, 0);
  return out;
}
// The first `columns` columns of the identity.
Tensor new_identity(const Tensor& like, int64_t rows, int64_t columns) {
  const Tensor out = new_columns(like, rows, columns);
  raw::fill_(out, 1);
  return raw::triangle("eye", true, 0, raw::triangle("eye", false, 0, out));
}

void factorize(Factorization op, const FactorizationForm& form, const Tensors& tensors) {
  const Called called(name_of(op));
  backend(tensors[0]).factorize(op, form, tensors);
}

}  // namespace

Cholesky cholesky(const Tensor& a, bool upper) {
  const Tensor factor = columns_of(a), info = new_info(a);
  if (factor.numel() > 0) {
    const Tensor matrices = flat(factor, 2);
    factorize(Factorization::cholesky, {.upper = upper}, {matrices, flat(info, 0)});
    backend(matrices).triangle(!upper, 0, matrices, matrices);
  }
  return {from_columns(factor), info};
}

Lu lu(const Tensor& a) {
  const Tensor factors = columns_of(a), info = new_info(a);
  const Tensor pivots = new_vectors(a, std::min(a.size(-2), a.size(-1)), kInt);
  if (factors.numel() > 0)
    factorize(Factorization::lu, {}, {flat(factors, 2), flat(pivots, 1), flat(info, 0)});
  return {from_columns(factors), pivots, info};
}

Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transposed,
                bool has_info) {
  const Tensor out = columns_of(b);
  if (out.numel() > 0)
    factorize(Factorization::lu_solve, {.transposed = transposed, .has_info = has_info},
              {flat(columns_read(lu), 2), flat(raw::contiguous(pivots), 1), flat(out, 2)});
  return from_columns(out);
}

Tensor triangular_solve(const Tensor& a, const Tensor& b, bool upper, bool transposed, bool unit) {
  const bool by_rows = a.is_contiguous();  // in LAPACK's order it is its transpose
  const Tensor out = columns_of(b);
  if (out.numel() > 0)
    factorize(Factorization::triangular_solve,
              {.upper = upper != by_rows, .transposed = transposed != by_rows, .unit = unit},
              {flat(by_rows ? a : columns_read(a), 2), flat(out, 2)});
  return from_columns(out);
}

Qr qr(const Tensor& a, bool complete, bool with_q) {
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n), columns = complete ? m : k;
  if (a.numel() == 0) {
    Qr out{{}, empty(with_sizes(a, 2, {columns, n}), a.dtype(), a.device())};
    if (with_q) out.q = new_identity(a, m, columns);
    return out;
  }
  const Tensor factors = columns_of(a), tau = new_vectors(a, k, a.dtype());
  factorize(Factorization::qr, {}, {flat(factors, 2), flat(tau, 1)});
  Qr out{{}, raw::triangle("qr", true, 0, raw::narrow(turned(factors), a.dim() - 2, 0, columns))};
  if (!with_q) return out;
  Tensor q = factors;
  if (columns != n) {
    q = new_columns(a, columns, m);
    raw::copy_(raw::narrow(q, a.dim() - 2, 0, k), raw::narrow(factors, a.dim() - 2, 0, k));
  }
  factorize(Factorization::householder, {}, {flat(q, 2), flat(tau, 1)});
  out.q = from_columns(q);
  return out;
}

Eigh eigh(const Tensor& a, bool upper, bool vectors) {
  const Tensor work = columns_of(a), info = new_info(a);
  const Tensor values = new_vectors(a, a.size(-1), a.dtype());
  if (work.numel() > 0)
    factorize(Factorization::eigh, {.upper = upper, .vectors = vectors},
              {flat(work, 2), flat(values, 1), flat(info, 0)});
  return {values, vectors ? from_columns(work) : Tensor(), info};
}

Eig eig(const Tensor& a, bool vectors) {
  const Tensor work = columns_of(a), info = new_info(a);
  const int64_t n = a.size(-1);
  const bool pairs = !isComplexType(a.dtype());
  const Tensor values =
      empty(pairs ? with_sizes(a, 2, {2, n}) : with_sizes(a, 2, {n}), a.dtype(), a.device());
  const Tensor columns = vectors ? new_columns(a, n, n) : Tensor();
  if (work.numel() > 0)
    factorize(Factorization::eig, {.vectors = vectors},
              {flat(work, 2), flat(values, pairs ? 2 : 1), vectors ? flat(columns, 2) : columns,
               flat(info, 0)});
  return {values, vectors ? from_columns(columns) : Tensor(), info};
}

Svd svd(const Tensor& a, bool full, bool vectors) {
  // Backends decompose matrices with at least as many rows as columns. The rows of a are the
  // columns of its transpose, a^T = v s u^T, so a wide one needs no transposed copy.
  const bool wide = a.size(-2) < a.size(-1);
  const int64_t most = std::max(a.size(-2), a.size(-1)), least = std::min(a.size(-2), a.size(-1));
  const int64_t columns = full ? most : least;
  Svd out{{}, new_vectors(a, least, a.dtype()), {}, new_info(a)};
  Tensor tall, square;
  if (a.numel() == 0) {
    if (vectors) tall = new_identity(a, columns, most), square = new_identity(a, least, least);
  } else {
    if (vectors) tall = new_columns(a, columns, most), square = new_columns(a, least, least);
    factorize(Factorization::svd, {.vectors = vectors},
              {flat(wide ? raw::clone(a) : columns_of(a), 2), vectors ? flat(tall, 2) : tall,
               flat(out.s, 1), vectors ? flat(square, 2) : square, flat(out.info, 0)});
  }
  if (vectors) {
    out.u = wide ? square : from_columns(tall);
    out.vh = wide ? tall : from_columns(square);
  }
  return out;
}

}  // namespace gradus::raw
