// The functions of cuBLAS that Gradus calls, by plain loops.
#include <cublas_v2.h>

#include "gradus/cuda/sim/check/unordered.h"
#include "gradus/cuda/sim/runtime/memory.h"
#include "gradus/cuda/sim/runtime/streams.h"
#include "gradus/cuda/sim/simulator.h"

#include <cstring>

struct cublasContext {
  cudaStream_t stream = nullptr;
};

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success"
                                         : "an unsupported value or parameter was passed";
}

namespace {

template <class T>
struct Matrix {
  const T* data;
  int64_t row, column;  // strides
};

template <class T>
Matrix<T> matrix(const void* data, cublasOperation_t op, int64_t leading) {
  if (op == CUBLAS_OP_N) return {static_cast<const T*>(data), 1, leading};
  return {static_cast<const T*>(data), leading, 1};
}

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c,
              int64_t ldc) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += static_cast<double>(a.data[i * a.row + p * a.column]) *
               static_cast<double>(b.data[p * b.row + j * b.column]);
      T& out = c[i + j * ldc];
      out = static_cast<T>(static_cast<double>(alpha) * sum) + (beta == T(0) ? T(0) : beta * out);
    }
}

template <class T>
void multiply_all(cublasOperation_t a_op, cublasOperation_t b_op, int64_t m, int64_t n, int64_t k,
                  const void* alpha, const void* a, int64_t lda, int64_t a_stride, const void* b,
                  int64_t ldb, int64_t b_stride, const void* beta, void* c, int64_t ldc,
                  int64_t c_stride, int64_t batches) {
  namespace sim = gradus::cuda::sim;
  const auto note = [](sim::Access access, const T* first, int64_t contiguous, int64_t lines,
                       int64_t apart) {
    for (int64_t i = 0; i < lines && sim::checks(); ++i)
      sim::note_access(access, reinterpret_cast<uintptr_t>(first + i * apart),
                       static_cast<size_t>(contiguous) * sizeof(T));
  };
  for (int64_t batch = 0; batch < batches; ++batch) {
    T* const out = static_cast<T*>(c) + batch * c_stride;
    const bool turned_a = a_op != CUBLAS_OP_N, turned_b = b_op != CUBLAS_OP_N;
    note(sim::Access::read, static_cast<const T*>(a) + batch * a_stride, turned_a ? k : m,
         turned_a ? m : k, lda);
    note(sim::Access::read, static_cast<const T*>(b) + batch * b_stride, turned_b ? n : k,
         turned_b ? k : n, ldb);
    note(sim::Access::write, out, m, n, ldc);
    multiply<T>(m, n, k, *static_cast<const T*>(alpha),
                matrix<T>(static_cast<const T*>(a) + batch * a_stride, a_op, lda),
                matrix<T>(static_cast<const T*>(b) + batch * b_stride, b_op, ldb),
                *static_cast<const T*>(beta), out, ldc);
    if (sim::checks() && sim::in_arena(reinterpret_cast<uintptr_t>(out)))
      for (int64_t j = 0; j < n; ++j)
        std::memset(sim::written_at(reinterpret_cast<uintptr_t>(out + j * ldc)), 1,
                    static_cast<size_t>(m) * sizeof(T));
  }
}

}  // namespace

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* a, cudaDataType type, int64_t lda, int64_t a_stride,
    const void* b, cudaDataType, int64_t ldb, int64_t b_stride, const void* beta, void* c,
    cudaDataType, int64_t ldc, int64_t c_stride, int64_t batches, cublasComputeType_t,
    cublasGemmAlgo_t) {
  // The leading dimensions that cuBLAS refuses.
  if (lda < (a_op == CUBLAS_OP_N ? m : k) || ldb < (b_op == CUBLAS_OP_N ? k : n) || ldc < m)
    return CUBLAS_STATUS_INVALID_VALUE;
  double factors[2] = {};  // of either type
  const size_t bytes = type == CUDA_R_32F ? sizeof(float) : sizeof(double);
  std::memcpy(&factors[0], alpha, bytes);
  std::memcpy(&factors[1], beta, bytes);
  const auto multiply = type == CUDA_R_32F ? multiply_all<float> : multiply_all<double>;
  const cudaError_t status =
      gradus::cuda::sim::do_or_record(handle->stream, {"a product by cuBLAS"}, [=] {
        multiply(a_op, b_op, m, n, k, &factors[0], a, lda, a_stride, b, ldb, b_stride, &factors[1],
                 c, ldc, c_stride, batches);
        return cudaSuccess;
      });
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
