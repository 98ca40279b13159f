// Factorizations by cuSOLVER and cuBLAS. Matrices lie as both want them (factorizations.h).
#include "gradus/cuda/ops/linalg/cusolver.h"

#ifndef GRADUS_SIMULATED

#include <climits>
#include <map>
#include <memory>

#include "gradus/cuda/ops/cublas_library.h"
#include "gradus/cuda/rtc/loaded_library.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/tensor/base/called.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {

// --- The library. Handles and parameters are pointers, enums are ints, and 0 is success. A
// triangle or an operation is what cuBLAS calls it. A name with _room asks for the length of the
// work array.
template <class T>
struct CublasBatches {  // of small matrices, and triangular equations
  int (*getrf)(void* handle, int n, T* const a[], int lda, int* pivots, int* info, int batch);
  int (*getrs)(void* handle, int trans, int n, int k, const T* const a[], int lda,
               const int* pivots, T* const b[], int ldb, int* info, int batch);
  int (*geqrf)(void* handle, int m, int n, T* const a[], int lda, T* const tau[], int* info,
               int batch);
  int (*trsm)(void* handle, int side, int uplo, int trans, int diagonal, int m, int n,
              const T* alpha, const T* a, int lda, T* b, int ldb);
  int (*trsm_batched)(void* handle, int side, int uplo, int trans, int diagonal, int m, int n,
                      const T* alpha, const T* const a[], int lda, T* const b[], int ldb,
                      int batch);
};
template <class T>
struct CuSolver {
  int (*potrf_room)(void* handle, int uplo, int n, T* a, int lda, int* lwork);
  int (*potrf)(void* handle, int uplo, int n, T* a, int lda, T* work, int lwork, int* info);
  int (*potrf_batched)(void* handle, int uplo, int n, T** a, int lda, int* info, int batch);
  int (*getrf_room)(void* handle, int m, int n, T* a, int lda, int* lwork);
  int (*getrf)(void* handle, int m, int n, T* a, int lda, T* work, int* pivots, int* info);
  int (*getrs)(void* handle, int trans, int n, int k, const T* a, int lda, const int* pivots, T* b,
               int ldb, int* info);
  int (*geqrf_room)(void* handle, int m, int n, T* a, int lda, int* lwork);
  int (*geqrf)(void* handle, int m, int n, T* a, int lda, T* tau, T* work, int lwork, int* info);
  int (*orgqr_room)(void* handle, int m, int n, int k, const T* a, int lda, const T* tau,
                    int* lwork);
  int (*orgqr)(void* handle, int m, int n, int k, T* a, int lda, const T* tau, T* work, int lwork,
               int* info);
  int (*syevd_room)(void* handle, int job, int uplo, int n, const T* a, int lda, const T* w,
                    int* lwork);
  int (*syevd)(void* handle, int job, int uplo, int n, T* a, int lda, T* w, T* work, int lwork,
               int* info);
  int (*syevj_room)(void* handle, int job, int uplo, int n, const T* a, int lda, const T* w,
                    int* lwork, void* parameters, int batch);
  int (*syevj)(void* handle, int job, int uplo, int n, T* a, int lda, T* w, T* work, int lwork,
               int* info, void* parameters, int batch);
  int (*gesvdj_room)(void* handle, int job, int econ, int m, int n, const T* a, int lda, const T* s,
                     const T* u, int ldu, const T* v, int ldv, int* lwork, void* parameters);
  int (*gesvdj)(void* handle, int job, int econ, int m, int n, T* a, int lda, T* s, T* u, int ldu,
                T* v, int ldv, T* work, int lwork, int* info, void* parameters);
  int (*gesvdj_batched_room)(void* handle, int job, int m, int n, const T* a, int lda, const T* s,
                             const T* u, int ldu, const T* v, int ldv, int* lwork, void* parameters,
                             int batch);
  int (*gesvdj_batched)(void* handle, int job, int m, int n, T* a, int lda, T* s, T* u, int ldu,
                        T* v, int ldv, T* work, int lwork, int* info, void* parameters, int batch);
  CublasBatches<T> cublas;
};
struct SolverLibrary {
  int (*create)(void**);
  int (*destroy)(void*);
  int (*set_stream)(void*, cudaStream_t);
  int (*create_syevj)(void**);
  int (*destroy_syevj)(void*);
  int (*create_gesvdj)(void**);
  int (*destroy_gesvdj)(void*);
  CuSolver<float> of_float;
  CuSolver<double> of_double;
};

template <class T>
void load_typed(const rtc::LoadedLibrary& library, CuSolver<T>& out) {
  const auto load = [&](auto& function, const char* rest) {
    library.load(function,
                 (std::string("cusolverDn") + (sizeof(T) == 4 ? 'S' : 'D') + rest).c_str());
  };
  load(out.potrf_room, "potrf_bufferSize"), load(out.potrf, "potrf");
  load(out.potrf_batched, "potrfBatched");
  load(out.getrf_room, "getrf_bufferSize"), load(out.getrf, "getrf"), load(out.getrs, "getrs");
  load(out.geqrf_room, "geqrf_bufferSize"), load(out.geqrf, "geqrf");
  load(out.orgqr_room, "orgqr_bufferSize"), load(out.orgqr, "orgqr");
  load(out.syevd_room, "syevd_bufferSize"), load(out.syevd, "syevd");
  load(out.syevj_room, "syevjBatched_bufferSize"), load(out.syevj, "syevjBatched");
  load(out.gesvdj_room, "gesvdj_bufferSize"), load(out.gesvdj, "gesvdj");
  load(out.gesvdj_batched_room, "gesvdjBatched_bufferSize");
  load(out.gesvdj_batched, "gesvdjBatched");
}

template <class T>
void load_typed(const rtc::LoadedLibrary& library, CublasBatches<T>& out) {
  const auto load = [&](auto& function, const char* rest) {
    library.load(function, (std::string("cublas") + (sizeof(T) == 4 ? 'S' : 'D') + rest).c_str());
  };
  load(out.getrf, "getrfBatched"), load(out.getrs, "getrsBatched");
  load(out.geqrf, "geqrfBatched");
  load(out.trsm, "trsm_v2"), load(out.trsm_batched, "trsmBatched");
}

// Errors: Error where it or cuBLAS is missing.
const SolverLibrary& solver_library() {
  static const SolverLibrary found = [] {
    SolverLibrary out{};
    load_cusolver([&](const rtc::LoadedLibrary& library) {
      library.load(out.create, "cusolverDnCreate");
      library.load(out.destroy, "cusolverDnDestroy");
      library.load(out.set_stream, "cusolverDnSetStream");
      library.load(out.create_syevj, "cusolverDnCreateSyevjInfo");
      library.load(out.destroy_syevj, "cusolverDnDestroySyevjInfo");
      library.load(out.create_gesvdj, "cusolverDnCreateGesvdjInfo");
      library.load(out.destroy_gesvdj, "cusolverDnDestroyGesvdjInfo");
      load_typed(library, out.of_float);
      load_typed(library, out.of_double);
    });
    load_cublas(std::string(Called::name()) + ": a GPU needs",
                [&](const rtc::LoadedLibrary& library) {
                  load_typed(library, out.of_float.cublas);
                  load_typed(library, out.of_double.cublas);
                });
    return out;
  }();
  return found;
}

// Handles and parameters, which are destroyed with their thread.
class SolverObject {
 public:
  SolverObject(int (*create)(void**), int (*destroy)(void*)) : destroy_(destroy) {
    check<Error>(create(&object_) == 0, Called::name(),
                 ": cuSOLVER's creation of a handle failed; is memory of the GPU left?");
  }
  ~SolverObject() { destroy_(object_); }
  SolverObject(const SolverObject&) = delete;
  SolverObject& operator=(const SolverObject&) = delete;
  void* get() const { return object_; }

 private:
  int (*destroy_)(void*);
  void* object_ = nullptr;
};
class BlasHandle {
 public:
  BlasHandle() {
    check<Error>(cublas().create(&handle_) == CUBLAS_STATUS_SUCCESS,
                 "linalg: cublasCreate failed; is memory of the GPU left?");
  }
  ~BlasHandle() { cublas().destroy(handle_); }
  BlasHandle(const BlasHandle&) = delete;
  BlasHandle& operator=(const BlasHandle&) = delete;
  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

// --- One call
int as_blas_int(int64_t value) {
  check<NotImplementedError>(value <= INT_MAX, Called::name(), ": cuSOLVER counts in 32 bits, and ",
                             value, " is more; split the batch or the matrix");
  return static_cast<int>(value);
}

// The sizes and the first element of the matrices, or vectors, of a batch.
template <class T>
struct DeviceBatch {
  explicit DeviceBatch(const Tensor& x)
      : data(static_cast<T*>(x.data_ptr())),
        rows(as_blas_int(x.size(-1))),
        columns(as_blas_int(x.dim() == 3 ? x.size(1) : 1)) {}
  T* at(int64_t i) const { return data + i * rows * columns; }

  T* data;
  int rows, columns;
};

template <class T>
class Call {
 public:
  Call(Factorization op, const FactorizationForm& form, ArrayRef<Tensor> tensors,
       cudaStream_t stream)
      : op_(op),
        form_(form),
        x_(tensors),
        batch_(as_blas_int(tensors[0].size(0))),
        library_(solver_library()),
        solver_(typed()),
        uplo_(form.upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER),
        trans_(form.transposed ? CUBLAS_OP_T : CUBLAS_OP_N) {
    thread_local std::map<int, BlasHandle> blas_handles;
    handle_ = cusolver_handle(stream);
    blas_ = blas_handles[current_device()].get();
    done(cublas().set_stream(blas_, stream), "cublasSetStream");
  }

  void run() const {
    switch (op_) {
      case Factorization::cholesky:
        return cholesky();
      case Factorization::lu:
        return lu();
      case Factorization::lu_solve:
        return lu_solve();
      case Factorization::triangular_solve:
        return triangular_solve();
      case Factorization::qr:
        return qr();
      case Factorization::householder:
        return householder();
      case Factorization::eigh:
        return eigh();
      case Factorization::eig:
        return;  // cusolver_eig
      case Factorization::svd:
        return svd();
    }
  }

 private:
  // Batches of matrices up to this size are one call; larger ones fill the GPU one by one.
  static constexpr int kSmall = 256;
  static constexpr int kSmallJacobi = 32;  // for eigenvalues and singular values

  const CuSolver<T>& typed() const {
    if constexpr (sizeof(T) == 4)
      return library_.of_float;
    else
      return library_.of_double;
  }
  void done(int status, const char* call) const {
    check<Error>(status == 0, Called::name(), ": ", call, " failed with status ", status,
                 " for tensors of shape ", x_[0].sizes(), "; compute on the CPU: x.cpu()");
  }
  DeviceBatch<T> matrices(size_t i) const { return DeviceBatch<T>(x_[i]); }
  int* ints(size_t i) const { return static_cast<int*>(x_[i].data_ptr()); }

  // The addresses of the batch's matrices, on the device.
  Tensor addresses(size_t i) const {
    const Tensor out = raw::empty({batch_}, kLong, x_[i].device());
    const Tensor& x = x_[i];
    const int64_t step = static_cast<int64_t>(x.nbytes()) / batch_;
    backend(out).arange(out, static_cast<int64_t>(reinterpret_cast<intptr_t>(x.data_ptr())), step);
    return out;
  }
  static T** pointers(const Tensor& addresses) { return static_cast<T**>(addresses.data_ptr()); }
  static Scratch room(int length) { return Scratch(static_cast<size_t>(length) * sizeof(T)); }

  void cholesky() const {
    const DeviceBatch<T> a = matrices(0);
    if (batch_ > 1 && a.rows <= kSmall) {
      const Tensor all = addresses(0);
      return done(
          solver_.potrf_batched(handle_, uplo_, a.rows, pointers(all), a.rows, ints(1), batch_),
          "potrfBatched");
    }
    int length = 0;
    done(solver_.potrf_room(handle_, uplo_, a.rows, a.data, a.rows, &length), "potrf_bufferSize");
    const Scratch work = room(length);
    for (int i = 0; i < batch_; ++i)
      done(
          solver_.potrf(handle_, uplo_, a.rows, a.at(i), a.rows, work.as<T>(), length, ints(1) + i),
          "potrf");
  }

  void lu() const {
    const DeviceBatch<T> a = matrices(0);
    const DeviceBatch<int> pivots(x_[1]);
    if (batch_ > 1 && a.rows == a.columns && a.rows <= kSmall) {
      const Tensor all = addresses(0);
      return done(
          solver_.cublas.getrf(blas_, a.rows, pointers(all), a.rows, pivots.data, ints(2), batch_),
          "getrfBatched");
    }
    int length = 0;
    done(solver_.getrf_room(handle_, a.rows, a.columns, a.data, a.rows, &length),
         "getrf_bufferSize");
    const Scratch work = room(length);
    for (int i = 0; i < batch_; ++i)
      done(solver_.getrf(handle_, a.rows, a.columns, a.at(i), a.rows, work.as<T>(), pivots.at(i),
                         ints(2) + i),
           "getrf");
  }

  void lu_solve() const {
    const DeviceBatch<T> a = matrices(0), b = matrices(2);
    const DeviceBatch<int> pivots(x_[1]);
    if (batch_ > 1 && a.rows <= kSmall) {
      const Tensor all = addresses(0), sides = addresses(2);
      int info = 0;  // of the arguments
      return done(solver_.cublas.getrs(blas_, trans_, a.rows, b.columns, pointers(all), a.rows,
                                       pivots.data, pointers(sides), b.rows, &info, batch_),
                  "getrsBatched");
    }
    const Scratch info(sizeof(int));
    for (int i = 0; i < batch_; ++i)
      done(solver_.getrs(handle_, trans_, a.rows, b.columns, a.at(i), a.rows, pivots.at(i), b.at(i),
                         b.rows, info.as<int>()),
           "getrs");
  }

  void triangular_solve() const {
    const DeviceBatch<T> a = matrices(0), b = matrices(1);
    const cublasDiagType_t diagonal = form_.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const T one = 1;
    if (batch_ == 1)
      return done(solver_.cublas.trsm(blas_, CUBLAS_SIDE_LEFT, uplo_, trans_, diagonal, b.rows,
                                      b.columns, &one, a.data, a.rows, b.data, b.rows),
                  "trsm");
    const Tensor all = addresses(0), sides = addresses(1);
    done(solver_.cublas.trsm_batched(blas_, CUBLAS_SIDE_LEFT, uplo_, trans_, diagonal, b.rows,
                                     b.columns, &one, pointers(all), a.rows, pointers(sides),
                                     b.rows, batch_),
         "trsmBatched");
  }

  void qr() const {
    const DeviceBatch<T> a = matrices(0), tau = matrices(1);
    if (batch_ > 1 && a.rows <= kSmall) {
      const Tensor all = addresses(0), factors = addresses(1);
      int info = 0;
      return done(solver_.cublas.geqrf(blas_, a.rows, a.columns, pointers(all), a.rows,
                                       pointers(factors), &info, batch_),
                  "geqrfBatched");
    }
    int length = 0;
    done(solver_.geqrf_room(handle_, a.rows, a.columns, a.data, a.rows, &length),
         "geqrf_bufferSize");
    const Scratch work = room(length), info(sizeof(int));
    for (int i = 0; i < batch_; ++i)
      done(solver_.geqrf(handle_, a.rows, a.columns, a.at(i), a.rows, tau.at(i), work.as<T>(),
                         length, info.as<int>()),
           "geqrf");
  }

  void householder() const {
    const DeviceBatch<T> a = matrices(0), tau = matrices(1);
    int length = 0;
    done(
        solver_.orgqr_room(handle_, a.rows, a.columns, tau.rows, a.data, a.rows, tau.data, &length),
        "orgqr_bufferSize");
    const Scratch work = room(length), info(sizeof(int));
    for (int i = 0; i < batch_; ++i)
      done(solver_.orgqr(handle_, a.rows, a.columns, tau.rows, a.at(i), a.rows, tau.at(i),
                         work.as<T>(), length, info.as<int>()),
           "orgqr");
  }

  void eigh() const {
    const DeviceBatch<T> a = matrices(0), values = matrices(1);
    const int job = form_.vectors;
    int length = 0;
    if (batch_ > 1 && a.rows <= kSmallJacobi) {
      const SolverObject how(library_.create_syevj, library_.destroy_syevj);
      done(solver_.syevj_room(handle_, job, uplo_, a.rows, a.data, a.rows, values.data, &length,
                              how.get(), batch_),
           "syevjBatched_bufferSize");
      const Scratch work = room(length);
      return done(solver_.syevj(handle_, job, uplo_, a.rows, a.data, a.rows, values.data,
                                work.as<T>(), length, ints(2), how.get(), batch_),
                  "syevjBatched");
    }
    done(solver_.syevd_room(handle_, job, uplo_, a.rows, a.data, a.rows, values.data, &length),
         "syevd_bufferSize");
    const Scratch work = room(length);
    for (int i = 0; i < batch_; ++i)
      done(solver_.syevd(handle_, job, uplo_, a.rows, a.at(i), a.rows, values.at(i), work.as<T>(),
                         length, ints(2) + i),
           "syevd");
  }

  // cuSOLVER gives v, and the table asks for its transpose.
  void svd() const {
    const DeviceBatch<T> a = matrices(0), values = matrices(2);
    const int job = form_.vectors;
    const SolverObject how(library_.create_gesvdj, library_.destroy_gesvdj);
    const auto like = [&](int columns, int rows) {
      return raw::empty({batch_, columns, rows}, x_[0].dtype(), x_[0].device());
    };
    // The batched function makes square matrices alone. Both write to u and v, wanted or not.
    const bool small = batch_ > 1 && a.rows <= kSmallJacobi;
    const bool reduced = !job || x_[1].size(1) < a.rows;
    Tensor u = job ? x_[1] : Tensor();
    if (small ? reduced : !job) u = like(small ? a.rows : a.columns, a.rows);
    const Tensor v = like(a.columns, a.columns);
    const DeviceBatch<T> left(u), right(v);
    int length = 0;
    if (small) {
      done(solver_.gesvdj_batched_room(handle_, job, a.rows, a.columns, a.data, a.rows, values.data,
                                       left.data, a.rows, right.data, a.columns, &length, how.get(),
                                       batch_),
           "gesvdjBatched_bufferSize");
      const Scratch work = room(length);
      done(solver_.gesvdj_batched(handle_, job, a.rows, a.columns, a.data, a.rows, values.data,
                                  left.data, a.rows, right.data, a.columns, work.as<T>(), length,
                                  ints(4), how.get(), batch_),
           "gesvdjBatched");
    } else {
      done(
          solver_.gesvdj_room(handle_, job, reduced, a.rows, a.columns, a.data, a.rows, values.data,
                              left.data, a.rows, right.data, a.columns, &length, how.get()),
          "gesvdj_bufferSize");
      const Scratch work = room(length);
      for (int i = 0; i < batch_; ++i)
        done(solver_.gesvdj(handle_, job, reduced, a.rows, a.columns, a.at(i), a.rows, values.at(i),
                            left.at(i), a.rows, right.at(i), a.columns, work.as<T>(), length,
                            ints(4) + i, how.get()),
             "gesvdj");
    }
    if (!job) return;
    raw::copy_(x_[3], raw::transpose(v, 1, 2));
    if (small && reduced) raw::copy_(x_[1], raw::narrow(u, 1, 0, a.columns));
  }

  const Factorization op_;
  const FactorizationForm& form_;
  const ArrayRef<Tensor> x_;
  const int batch_;
  const SolverLibrary& library_;
  const CuSolver<T>& solver_;
  const cublasFillMode_t uplo_;
  const cublasOperation_t trans_;
  void* handle_ = nullptr;
  cublasHandle_t blas_ = nullptr;
};

}  // namespace

void load_cusolver(const std::function<void(const rtc::LoadedLibrary&)>& load) {
  const std::string needs = std::string(Called::name()) + ": a GPU needs";
  load(rtc::LoadedLibrary(
      {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"}, needs.c_str(),
      "; install cuSOLVER (a part of the CUDA toolkit, NVIDIA's packages libcusolver-12-x and "
      "-13-x, or nvidia-cusolver of pip) and set LD_LIBRARY_PATH to its folder, or compute on the "
      "CPU: x.cpu()"));
}

void* cusolver_handle(cudaStream_t stream) {
  thread_local std::map<int, SolverObject> handles;
  const SolverLibrary& library = solver_library();
  void* const out =
      handles.try_emplace(current_device(), library.create, library.destroy).first->second.get();
  check<Error>(library.set_stream(out, stream) == 0, Called::name(),
               ": cusolverDnSetStream failed; synchronize() to see an earlier error");
  return out;
}

void cusolver_factorize(Factorization op, const FactorizationForm& form, ArrayRef<Tensor> tensors,
                        cudaStream_t stream) {
  if (op == Factorization::eig)
    cusolver_eig(form, tensors, stream);
  else if (tensors[0].dtype() == kFloat)
    Call<float>(op, form, tensors, stream).run();
  else
    Call<double>(op, form, tensors, stream).run();
}

}  // namespace gradus::cuda

#endif
