// Matrix products by cuBLAS.
#include "gradus/cuda/ops/cublas.h"

#include <map>
#include <memory>

#include "gradus/cuda/ops/cublas_library.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/base/error.h"

namespace gradus::cuda {

#ifdef GRADUS_SIMULATED

// The simulator's own.
const Cublas& cublas() {
  static constexpr Cublas kSimulated = {cublasCreate,          cublasDestroy,
                                        cublasSetMathMode,     cublasSetStream,
                                        cublasGetStatusString, cublasGemmStridedBatchedEx_64};
  return kSimulated;
}

#else

void load_cublas(const std::string& needs,
                 const std::function<void(const rtc::LoadedLibrary&)>& load) {
  load(rtc::LoadedLibrary({"libcublas.so." GRADUS_CUDA_MAJOR}, needs.c_str(),
                          "; install cuBLAS of CUDA " GRADUS_CUDA_MAJOR
                          " (NVIDIA's package libcublas-" GRADUS_CUDA_MAJOR
                          "-x, or nvidia-cublas of pip) and set LD_LIBRARY_PATH to its folder"));
}

const Cublas& cublas() {
  static const Cublas found = [] {
    Cublas out{};
    load_cublas("matmul: the kernel 'cublas' needs", [&](const rtc::LoadedLibrary& library) {
      library.load(out.create, "cublasCreate_v2");
      library.load(out.destroy, "cublasDestroy_v2");
      library.load(out.set_math_mode, "cublasSetMathMode");
      library.load(out.set_stream, "cublasSetStream_v2");
      library.load(out.error, "cublasGetStatusString");
      library.load(out.multiply, "cublasGemmStridedBatchedEx_64");
    });
    return out;
  }();
  return found;
}

#endif

void need_cublas() { cublas(); }

namespace {
void check_cublas(cublasStatus_t status, const char* call) {
  check<Error>(status == CUBLAS_STATUS_SUCCESS, "matmul: ", call,
               " failed: ", cublas().error(status), "; try set_matmul_kernel(\"automatic\")");
}

// One for each thread and device, since a handle holds the stream that it works on.
cublasHandle_t handle() {
  check_not_captured("matmul: a product by cuBLAS",
                     "cuBLAS allocates memory of its own for it, which the kernels of "
                     "set_matmul_kernel(\"automatic\") do not");
  struct Destroy {
    void operator()(cublasHandle_t owned) const { cublas().destroy(owned); }
  };
  using Owner = std::unique_ptr<cublasContext, Destroy>;
  thread_local std::map<int, Owner> handles;
  Owner& owner = handles[current_device()];
  if (!owner) {
    cublasHandle_t created = nullptr;
    check_cublas(cublas().create(&created), "cublasCreate");
    owner.reset(created);
    check_cublas(cublas().set_math_mode(created, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
  }
  check_cublas(cublas().set_stream(owner.get(), current_stream()), "cublasSetStream");
  return owner.get();
}

// How cuBLAS, which counts columns first, is told of an operand: the terms of the product are
// contiguous (`transposed` says in which order) and the other dimension has a stride of `leading`.
struct Matrix {
  bool along_outer;
  int64_t leading;
};
template <class T>
Matrix describe(const char* name, const MatmulOperand<T>& x, int64_t outers, int64_t k) {
  // The stride of a dimension of size 1 does not matter.
  const bool outer_fits = k == 1 || x.outer >= k, depth_fits = outers == 1 || x.depth >= outers;
  if ((x.outer == 1 || outers == 1) && depth_fits) return {true, k == 1 ? outers : x.depth};
  if ((x.depth == 1 || k == 1) && outer_fits) return {false, outers == 1 ? k : x.outer};
  fail<Error>("matmul: cuBLAS reads matrices with one contiguous dimension; ", name,
              " has strides ", x.outer, " and ", x.depth,
              "; call .contiguous() or set_matmul_kernel(\"automatic\")");
}

template <class T>
void multiply(const MatmulArgs<T>& args, int64_t batches, cudaDataType type,
              cublasComputeType_t compute) {
  // A row-major product is the transposed one in columns: out^T = b^T a^T.
  const Matrix b = describe("other", args.b, args.n, args.k);
  const Matrix a = describe("self", args.a, args.m, args.k);
  const T one = 1, zero = 0;
  check_cublas(cublas().multiply(handle(), b.along_outer ? CUBLAS_OP_N : CUBLAS_OP_T,
                                 a.along_outer ? CUBLAS_OP_T : CUBLAS_OP_N, args.n, args.m, args.k,
                                 &one, args.b.data, type, b.leading, args.b.batch, args.a.data,
                                 type, a.leading, args.a.batch, &zero, args.out, type, args.n,
                                 args.m * args.n, batches, compute, CUBLAS_GEMM_DEFAULT),
               "cublasGemmStridedBatchedEx");
}
}  // namespace

void cublas_matmul(const MatmulArgs<float>& args, int64_t batches) {
  multiply(args, batches, CUDA_R_32F, CUBLAS_COMPUTE_32F);
}
void cublas_matmul(const MatmulArgs<double>& args, int64_t batches) {
  multiply(args, batches, CUDA_R_64F, CUBLAS_COMPUTE_64F);
}

}  // namespace gradus::cuda
