// factorize: LAPACK's factorizations, by the LAPACK that is a part of OpenBLAS.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/openblas.h"
#include "gradus/cpu/ops/small_factors.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/base/called.h"
#include "gradus/tensor/base/error.h"

#ifdef GRADUS_BLAS
#include <cblas.h>
#endif

namespace gradus::cpu {

namespace {

#ifdef GRADUS_BLAS
using Integer = blasint;
#else
using Integer = int;
#endif

// Fortran passes everything by address, and the lengths of texts (1) behind all others.
using Text = const char*;
using Size = const Integer*;

template <class T>
struct Lapack {
  void (*potrf)(Text uplo, Size n, T* a, Size lda, Integer* info, size_t);
  void (*getrf)(Size m, Size n, T* a, Size lda, Integer* pivots, Integer* info);
  void (*getrs)(Text trans, Size n, Size k, const T* a, Size lda, Size pivots, T* b, Size ldb,
                Integer* info, size_t);
  void (*trsm)(Text side, Text uplo, Text trans, Text diag, Size m, Size n, const T* alpha,
               const T* a, Size lda, T* b, Size ldb, size_t, size_t, size_t, size_t);
  void (*geqrf)(Size m, Size n, T* a, Size lda, T* tau, T* work, Size lwork, Integer* info);
  void (*orgqr)(Size m, Size n, Size k, T* a, Size lda, const T* tau, T* work, Size lwork,
                Integer* info);
  void (*syevd)(Text job, Text uplo, Size n, T* a, Size lda, T* w, T* work, Size lwork,
                Integer* iwork, Size liwork, Integer* info, size_t, size_t);
  void (*gesdd)(Text job, Size m, Size n, T* a, Size lda, T* s, T* u, Size ldu, T* vt, Size ldvt,
                T* work, Size lwork, Integer* iwork, Integer* info, size_t);
  void (*geev)(Text left, Text right, Size n, T* a, Size lda, T* wr, T* wi, T* vl, Size ldvl, T* vr,
               Size ldvr, T* work, Size lwork, Integer* info, size_t, size_t);
};
template <class T>
struct Lapack<std::complex<T>> {
  using Number = std::complex<T>;
  void (*geev)(Text left, Text right, Size n, Number* a, Size lda, Number* w, Number* vl, Size ldvl,
               Number* vr, Size ldvr, Number* work, Size lwork, T* rwork, Integer* info, size_t,
               size_t);
};

template <class F>
void find(F& function, const std::string& name) {
  function = reinterpret_cast<F>(openblas_function(name.c_str()));
  check<NotImplementedError>(
      function, Called::name(), ": the CPU needs LAPACK, which is a part of OpenBLAS (", name,
      " was not found); install libopenblas-dev, and configure with -DGRADUS_BLAS=AUTO where the "
      "library was built without it");
}

// Errors: NotImplementedError where one is missing.
template <class T>
const Lapack<T>& lapack() {
  static const Lapack<T> found = [] {
    const auto name = [](const char* rest) {
      constexpr bool is_real = std::is_floating_point_v<T>;
      constexpr bool is_double = sizeof(T) == (is_real ? sizeof(double) : 2 * sizeof(double));
      return (is_real ? is_double ? "d" : "s" : is_double ? "z" : "c") + std::string(rest);
    };
    Lapack<T> out;
    find(out.geev, name("geev_"));
    if constexpr (std::is_floating_point_v<T>) {
      find(out.potrf, name("potrf_")), find(out.getrf, name("getrf_"));
      find(out.getrs, name("getrs_")), find(out.trsm, name("trsm_"));
      find(out.geqrf, name("geqrf_")), find(out.orgqr, name("orgqr_"));
      find(out.syevd, name("syevd_")), find(out.gesdd, name("gesdd_"));
    }
    return out;
  }();
  return found;
}

// The sizes and the first element of the matrices, or vectors, of a batch.
template <class T>
struct Batch {
  explicit Batch(const Tensor& x)
      : data(static_cast<T*>(x.data_ptr())),
        rows(static_cast<Integer>(x.size(-1))),
        columns(static_cast<Integer>(x.dim() == 3 ? x.size(1) : 1)) {}
  T* at(int64_t i) const { return data + i * rows * columns; }

  T* data;
  Integer rows, columns;
};

// Room for one thread, from what LAPACK asks for, which a float may have rounded down.
template <class T>
std::vector<T> room(T asked) {
  return std::vector<T>(static_cast<size_t>(std::nextafter(asked, T(INFINITY))) + 1);
}
template <class T>
Integer length(const std::vector<T>& of) {
  return static_cast<Integer>(of.size());
}

constexpr Integer kAsk = -1;  // for a length: how much room is needed?

// Each works on the i-th matrix of the batch.
template <class T>
void cholesky(const Lapack<T>& lapack, const FactorizationForm& form, ArrayRef<Tensor> x,
              int64_t i) {
  const Batch<T> a(x[0]);
  if (a.rows <= kSmallFactors && !form.upper) {
    static_cast<int*>(x[1].data_ptr())[i] = small_cholesky<T>(a.rows, a.at(i));
    return;
  }
  Integer info = 0;
  lapack.potrf(form.upper ? "U" : "L", &a.rows, a.at(i), &a.rows, &info, 1);
  static_cast<int*>(x[1].data_ptr())[i] = static_cast<int>(info);
}

template <class T>
void lu(const Lapack<T>& lapack, ArrayRef<Tensor> x, int64_t i) {
  const Batch<T> a(x[0]);
  const Batch<int> pivots(x[1]);
  if (std::max(a.rows, a.columns) <= kSmallFactors) {
    static_cast<int*>(x[2].data_ptr())[i] = small_lu<T>(a.rows, a.columns, a.at(i), pivots.at(i));
    return;
  }
  std::vector<Integer> places(static_cast<size_t>(pivots.rows));
  Integer info = 0;
  lapack.getrf(&a.rows, &a.columns, a.at(i), &a.rows, places.data(), &info);
  for (size_t k = 0; k < places.size(); ++k) pivots.at(i)[k] = static_cast<int>(places[k]);
  static_cast<int*>(x[2].data_ptr())[i] = static_cast<int>(info);
}

template <class T>
void lu_solve(const Lapack<T>& lapack, const FactorizationForm& form, ArrayRef<Tensor> x,
              int64_t i) {
  const Batch<T> a(x[0]), b(x[2]);
  const Batch<int> pivots(x[1]);
  const std::vector<Integer> places(pivots.at(i), pivots.at(i) + pivots.rows);
  Integer info = 0;
  lapack.getrs(form.transposed ? "T" : "N", &a.rows, &b.columns, a.at(i), &a.rows, places.data(),
               b.at(i), &b.rows, &info, 1);
}

template <class T>
void triangular_solve(const Lapack<T>& lapack, const FactorizationForm& form, ArrayRef<Tensor> x,
                      int64_t i) {
  const Batch<T> a(x[0]), b(x[1]);
  const T one = 1;
  lapack.trsm("L", form.upper ? "U" : "L", form.transposed ? "T" : "N", form.unit ? "U" : "N",
              &b.rows, &b.columns, &one, a.at(i), &a.rows, b.at(i), &b.rows, 1, 1, 1, 1);
}

template <class T>
void qr(const Lapack<T>& lapack, ArrayRef<Tensor> x, int64_t i) {
  const Batch<T> a(x[0]), tau(x[1]);
  if constexpr (std::is_same_v<T, float>)
    if (std::max(a.rows, a.columns) <= kSmallFactors)
      return small_qr(a.rows, a.columns, a.at(i), tau.at(i));
  Integer info = 0;
  T asked = 0;
  lapack.geqrf(&a.rows, &a.columns, a.at(i), &a.rows, tau.at(i), &asked, &kAsk, &info);
  std::vector<T> work = room(asked);
  const Integer lwork = length(work);
  lapack.geqrf(&a.rows, &a.columns, a.at(i), &a.rows, tau.at(i), work.data(), &lwork, &info);
}

template <class T>
void householder(const Lapack<T>& lapack, ArrayRef<Tensor> x, int64_t i) {
  const Batch<T> a(x[0]), tau(x[1]);
  if (std::max(a.rows, a.columns) <= kSmallFactors)
    return small_householder<T>(a.rows, a.columns, tau.rows, a.at(i), tau.at(i));
  Integer info = 0;
  T asked = 0;
  lapack.orgqr(&a.rows, &a.columns, &tau.rows, a.at(i), &a.rows, tau.at(i), &asked, &kAsk, &info);
  std::vector<T> work = room(asked);
  const Integer lwork = length(work);
  lapack.orgqr(&a.rows, &a.columns, &tau.rows, a.at(i), &a.rows, tau.at(i), work.data(), &lwork,
               &info);
}

template <class T>
void eigh(const Lapack<T>& lapack, const FactorizationForm& form, ArrayRef<Tensor> x, int64_t i) {
  const Batch<T> a(x[0]), values(x[1]);
  int& failed = static_cast<int*>(x[2].data_ptr())[i];
  if constexpr (std::is_same_v<T, float>)
    if (a.rows <= kSmallFactors && small_eigh(a.rows, form.upper, a.at(i), values.at(i))) {
      failed = 0;
      return;
    }
  const char* const job = form.vectors ? "V" : "N";
  const char* const uplo = form.upper ? "U" : "L";
  Integer info = 0, iasked = 0;
  T asked = 0;
  lapack.syevd(job, uplo, &a.rows, a.at(i), &a.rows, values.at(i), &asked, &kAsk, &iasked, &kAsk,
               &info, 1, 1);
  std::vector<T> work = room(asked);
  std::vector<Integer> iwork(static_cast<size_t>(iasked));
  const Integer lwork = length(work), liwork = length(iwork);
  lapack.syevd(job, uplo, &a.rows, a.at(i), &a.rows, values.at(i), work.data(), &lwork,
               iwork.data(), &liwork, &info, 1, 1);
  failed = static_cast<int>(info);
}

// Whether an element is infinite and none is NaN, which LAPACK looks for.
template <class T>
bool is_infinite(const Batch<T>& a, int64_t i) {
  bool out = false;
  for (const T* x = a.at(i); x < a.at(i + 1); ++x) {
    if (*x != *x) return false;
    out |= *x - *x != 0;
  }
  return out;
}

template <class T>
void svd(const Lapack<T>& lapack, const FactorizationForm& form, ArrayRef<Tensor> x, int64_t i) {
  const Batch<T> a(x[0]), values(x[2]);
  T *u = nullptr, *vh = nullptr;
  const char* job = "N";
  if (form.vectors) {
    u = Batch<T>(x[1]).at(i), vh = Batch<T>(x[3]).at(i);
    job = x[1].size(1) == a.rows ? "A" : "S";
  }
  std::vector<Integer> iwork(8 * static_cast<size_t>(a.columns));
  if (is_infinite(a, i)) {  // gesdd need not end; NaN is what PyTorch gives
    for (const Tensor& out : x.slice(1, 3))
      if (out.defined()) std::fill(Batch<T>(out).at(i), Batch<T>(out).at(i + 1), T(NAN));
    static_cast<int*>(x[4].data_ptr())[i] = 0;
    return;
  }
  Integer info = 0;
  T asked = 0;
  lapack.gesdd(job, &a.rows, &a.columns, a.at(i), &a.rows, values.at(i), u, &a.rows, vh, &a.columns,
               &asked, &kAsk, iwork.data(), &info, 1);
  std::vector<T> work = room(asked);
  const Integer lwork = length(work);
  lapack.gesdd(job, &a.rows, &a.columns, a.at(i), &a.rows, values.at(i), u, &a.rows, vh, &a.columns,
               work.data(), &lwork, iwork.data(), &info, 1);
  static_cast<int*>(x[4].data_ptr())[i] = static_cast<int>(info);
}

// The vectors of one matrix, or none.
template <class T>
struct Vectors {
  Vectors(const Tensor& x, int64_t i)
      : job(x.defined() ? "V" : "N"), data(x.defined() ? Batch<T>(x).at(i) : nullptr) {}
  const char* job;
  T* data;
};

template <class T>
void eig(const Lapack<T>& lapack, ArrayRef<Tensor> x, int64_t i) {
  const Batch<T> a(x[0]), values(x[1]);
  const Vectors<T> right(x[2], i);
  T* const real = values.at(i);
  Integer info = 0;
  T asked = 0;
  const auto call = [&](T* work, const Integer& lwork) {
    lapack.geev("N", right.job, &a.rows, a.at(i), &a.rows, real, real + a.rows, nullptr, &a.rows,
                right.data, &a.rows, work, &lwork, &info, 1, 1);
  };
  call(&asked, kAsk);
  std::vector<T> work = room(asked);
  call(work.data(), length(work));
  static_cast<int*>(x[3].data_ptr())[i] = static_cast<int>(info);
}
template <class T>
void eig(const Lapack<std::complex<T>>& lapack, ArrayRef<Tensor> x, int64_t i) {
  using Number = std::complex<T>;
  const Batch<Number> a(x[0]), values(x[1]);
  const Vectors<Number> right(x[2], i);
  std::vector<T> real_work(2 * static_cast<size_t>(a.rows));
  Integer info = 0;
  Number asked = 0;
  const auto call = [&](Number* work, const Integer& lwork) {
    lapack.geev("N", right.job, &a.rows, a.at(i), &a.rows, values.at(i), nullptr, &a.rows,
                right.data, &a.rows, work, &lwork, real_work.data(), &info, 1, 1);
  };
  call(&asked, kAsk);
  std::vector<Number> work(room(asked.real()).size());
  call(work.data(), length(work));
  static_cast<int*>(x[3].data_ptr())[i] = static_cast<int>(info);
}

template <class T>
void factorize_real(Factorization op, const FactorizationForm& form, ArrayRef<Tensor> x,
                    const Lapack<T>& lapack, int64_t i) {
  switch (op) {
    case Factorization::cholesky:
      return cholesky(lapack, form, x, i);
    case Factorization::lu:
      return lu(lapack, x, i);
    case Factorization::lu_solve:
      return lu_solve(lapack, form, x, i);
    case Factorization::triangular_solve:
      return triangular_solve(lapack, form, x, i);
    case Factorization::qr:
      return qr(lapack, x, i);
    case Factorization::householder:
      return householder(lapack, x, i);
    case Factorization::eigh:
      return eigh(lapack, form, x, i);
    case Factorization::eig:
      return eig(lapack, x, i);
    case Factorization::svd:
      return svd(lapack, form, x, i);
  }
}

// Complex matrices have `eig` alone.
template <class T>
void factorize_one(Factorization op, const FactorizationForm& form, ArrayRef<Tensor> x,
                   const Lapack<T>& lapack, int64_t i) {
  if constexpr (std::is_floating_point_v<T>)
    factorize_real(op, form, x, lapack, i);
  else
    eig(lapack, x, i);
}

// Matrices of a batch go to our threads. Where there are fewer than threads, and they are large,
// OpenBLAS divides each one among its own.
template <class T>
void factorize_all(Factorization op, const FactorizationForm& form, ArrayRef<Tensor> x) {
  const Lapack<T>& functions = lapack<T>();
  const int64_t batch = x[0].size(0), rows = x[0].size(2), columns = x[0].size(1);
  constexpr int64_t kLarge = 128;
  if (batch < thread_count() && std::min(rows, columns) >= kLarge) {
    const AllBlasThreads threads;
    for (int64_t i = 0; i < batch; ++i) factorize_one(op, form, x, functions, i);
    return;
  }
  const int64_t work = std::max<int64_t>(1, rows * columns * std::min(rows, columns));
  parallel_for(0, batch, std::max<int64_t>(1, kGrain / work), [&](int64_t first, int64_t last) {
    const OneBlasThread alone;
    for (int64_t i = first; i < last; ++i) factorize_one(op, form, x, functions, i);
  });
}

}  // namespace

void CpuBackend::factorize(Factorization op, const FactorizationForm& form, ArrayRef<Tensor> x) {
  switch (x[0].scalar_type()) {
    case kFloat:
      return factorize_all<float>(op, form, x);
    case kDouble:
      return factorize_all<double>(op, form, x);
    case kComplexFloat:
      return factorize_all<std::complex<float>>(op, form, x);
    default:
      return factorize_all<std::complex<double>>(op, form, x);
  }
}

}  // namespace gradus::cpu
