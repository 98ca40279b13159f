// Matrix products by cuBLASLt: how it is told of a product, and the algorithms that it chose.
#include "gradus/cuda/ops/cublas.h"

#ifdef GRADUS_SIMULATED

namespace gradus::cuda {
bool has_cublas_lt() { return false; }
bool cublas_lt_matmul(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) {
  return false;
}
}  // namespace gradus::cuda

#else

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>

#include "gradus/cuda/rtc/loaded_library.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {
struct CublasLt {
  decltype(&cublasLtGetStatusString) error;
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatrixLayoutCreate) create_layout;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout;
  decltype(&cublasLtMatrixLayoutSetAttribute) set_layout;
  decltype(&cublasLtMatmulDescCreate) create_product;
  decltype(&cublasLtMatmulDescDestroy) destroy_product;
  decltype(&cublasLtMatmulDescSetAttribute) set_product;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference;
  decltype(&cublasLtMatmulAlgoGetHeuristic) rank;
  decltype(&cublasLtMatmul) multiply;
};

// None where it is missing: kernels of this library multiply instead (half.cu).
const std::optional<CublasLt>& found_lt() {
  static const std::optional<CublasLt> found = []() -> std::optional<CublasLt> {
    try {
      const rtc::LoadedLibrary library({"libcublasLt.so." GRADUS_CUDA_MAJOR}, "matmul: cuBLAS is",
                                       "");
      CublasLt out{};
      library.load(out.error, "cublasLtGetStatusString");
      library.load(out.create, "cublasLtCreate");
      library.load(out.destroy, "cublasLtDestroy");
      library.load(out.create_layout, "cublasLtMatrixLayoutCreate");
      library.load(out.destroy_layout, "cublasLtMatrixLayoutDestroy");
      library.load(out.set_layout, "cublasLtMatrixLayoutSetAttribute");
      library.load(out.create_product, "cublasLtMatmulDescCreate");
      library.load(out.destroy_product, "cublasLtMatmulDescDestroy");
      library.load(out.set_product, "cublasLtMatmulDescSetAttribute");
      library.load(out.create_preference, "cublasLtMatmulPreferenceCreate");
      library.load(out.destroy_preference, "cublasLtMatmulPreferenceDestroy");
      library.load(out.set_preference, "cublasLtMatmulPreferenceSetAttribute");
      library.load(out.rank, "cublasLtMatmulAlgoGetHeuristic");
      library.load(out.multiply, "cublasLtMatmul");
      return out;
    } catch (const Error&) {
      return std::nullopt;
    }
  }();
  return found;
}
// REQUIRES: has_cublas_lt().
const CublasLt& lt() { return *found_lt(); }

constexpr size_t kLtWorkspace = size_t{32} << 20;  // what cuBLAS recommends for Hopper

void check_lt(cublasStatus_t status, const char* call) {
  check<Error>(status == CUBLAS_STATUS_SUCCESS, "matmul: ", call, " failed: ", lt().error(status),
               "; try set_matmul_kernel(\"tiled\")");
}

// One for each thread and device.
cublasLtHandle_t lt_handle() {
  struct Destroy {
    void operator()(cublasLtHandle_t owned) const { lt().destroy(owned); }
  };
  using Owner = std::unique_ptr<cublasLtContext, Destroy>;
  thread_local std::map<int, Owner> handles;
  Owner& owner = handles[current_device()];
  if (!owner) {
    check_not_captured("matmul: the first product by cuBLAS",
                       "cuBLAS allocates memory of its own for it; run one before");
    cublasLtHandle_t created = nullptr;
    check_lt(lt().create(&created), "cublasLtCreate");
    owner.reset(created);
  }
  return owner.get();
}

cudaDataType lt_type(ScalarType dtype) {
  return dtype == kHalf ? CUDA_R_16F : dtype == kBFloat16 ? CUDA_R_16BF : CUDA_R_32F;
}

// An operand as cuBLAS, which counts columns first, is told of it.
struct LtOperand {
  bool along_outer;  // its rows or columns are contiguous, rather than the terms of a sum
  int64_t outers, terms, leading, batch;

  int64_t rows() const { return along_outer ? outers : terms; }
  int64_t columns() const { return along_outer ? terms : outers; }
};

// x (B, ., .), whose terms are the dimension `depth`. False where no dimension is contiguous.
bool describe_lt(const Tensor& x, int outer, int depth, LtOperand& to) {
  const int64_t outers = x.sizes()[outer], terms = x.sizes()[depth];
  const int64_t across = x.strides()[outer], along = x.strides()[depth];
  // The stride of a dimension of size 1 does not matter.
  const int64_t batch = x.sizes()[0] > 1 ? x.strides()[0] : 0;
  if ((along == 1 || terms == 1) && (across >= terms || outers == 1))
    to = {false, outers, terms, outers == 1 ? terms : across, batch};
  else if ((across == 1 || outers == 1) && (along >= outers || terms == 1))
    to = {true, outers, terms, terms == 1 ? outers : along, batch};
  else
    return false;
  return batch >= 0;
}

// The largest power of 2, up to 256, that the addresses of all batches are multiples of.
int64_t lt_alignment(const Tensor& x) {
  auto address = reinterpret_cast<uintptr_t>(x.data_ptr());
  if (x.dim() == 3 && x.sizes()[0] > 1)
    address |= static_cast<uintptr_t>(x.strides()[0]) * x.element_size();
  return static_cast<int64_t>(std::min<uintptr_t>(address & (~address + 1), 256));
}

class LtLayout {
 public:
  LtLayout(ScalarType dtype, int64_t rows, int64_t columns, int64_t leading, int64_t batches,
           int64_t stride) {
    check_lt(lt().create_layout(&layout_, lt_type(dtype), static_cast<uint64_t>(rows),
                                static_cast<uint64_t>(columns), leading),
             "cublasLtMatrixLayoutCreate");
    const auto count = static_cast<int32_t>(batches);
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
  ~LtLayout() { lt().destroy_layout(layout_); }
  LtLayout(const LtLayout&) = delete;
  LtLayout& operator=(const LtLayout&) = delete;
  operator cublasLtMatrixLayout_t() const { return layout_; }

 private:
  template <class T>
  void set(cublasLtMatrixLayoutAttribute_t what, const T& value) {
    check_lt(lt().set_layout(layout_, what, &value, sizeof(value)),
             "cublasLtMatrixLayoutSetAttribute");
  }
  cublasLtMatrixLayout_t layout_ = nullptr;
};

// The epilogue of a product: it adds a bias, or sums the rows of a.
enum class LtExtra : int64_t { none, bias, sums };

// A row-major product is the transposed one in columns: out^T = b^T a^T.
class LtPlan {
 public:
  LtPlan(ScalarType dtype, ScalarType result, LtExtra extra, const LtOperand& a, const LtOperand& b,
         int64_t batches, const std::array<int64_t, 3>& alignment)
      : first_(dtype, b.rows(), b.columns(), b.leading, batches, b.batch),
        second_(dtype, a.rows(), a.columns(), a.leading, batches, a.batch),
        out_(result, b.outers, a.outers, b.outers, batches, a.outers * b.outers) {
    const auto compute = dtype == kFloat ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    check_lt(lt().create_product(&product_, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, b.along_outer ? CUBLAS_OP_N : CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_TRANSB, a.along_outer ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (extra != LtExtra::none) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE,
          extra == LtExtra::bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_BGRADB);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, lt_type(result));
    }
    choose(alignment);
  }
  ~LtPlan() { lt().destroy_product(product_); }
  LtPlan(const LtPlan&) = delete;
  LtPlan& operator=(const LtPlan&) = delete;

  // Whether cuBLAS has an algorithm.
  bool is_known() const { return found_ > 0; }

  // extra: the bias, or where the sums go.
  void run(const Tensor& a, const Tensor& b, const Tensor& extra, const Tensor& out) {
    if (extra.defined()) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, extra.data_ptr());
    const float one = 1, zero = 0;
    const Scratch workspace(chosen_.workspaceSize);
    check_lt(lt().multiply(lt_handle(), product_, &one, b.data_ptr(), first_, a.data_ptr(), second_,
                           &zero, out.data_ptr(), out_, out.data_ptr(), out_, &chosen_.algo,
                           workspace.data(), chosen_.workspaceSize, current_stream()),
             "cublasLtMatmul");
  }

 private:
  void choose(const std::array<int64_t, 3>& alignment) {
    cublasLtMatmulPreference_t wish = nullptr;
    check_lt(lt().create_preference(&wish), "cublasLtMatmulPreferenceCreate");
    const std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, decltype(lt().destroy_preference)>
        owner(wish, lt().destroy_preference);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
      check_lt(lt().set_preference(wish, what, &value, sizeof(value)),
               "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kLtWorkspace);
    // Parts of sums are not to be rounded to 16 bits.
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    const auto bytes = [&](size_t i) { return static_cast<uint32_t>(alignment[i]); };
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, bytes(1));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, bytes(0));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, bytes(2));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, bytes(2));
    const cublasStatus_t status =
        lt().rank(lt_handle(), product_, first_, second_, out_, out_, wish, 1, &chosen_, &found_);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) check_lt(status, "cublasLtMatmulAlgoGetHeuristic");
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t what, const T& value) {
    check_lt(lt().set_product(product_, what, &value, sizeof(value)),
             "cublasLtMatmulDescSetAttribute");
  }

  LtLayout first_, second_, out_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatmulHeuristicResult_t chosen_{};
  int found_ = 0;
};
}  // namespace

bool has_cublas_lt() { return found_lt().has_value(); }

bool cublas_lt_matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out,
                      const Tensor& sums) {
  const Tensor& extra = sums.defined() ? sums : bias;
  const LtExtra what = sums.defined()   ? LtExtra::sums
                       : bias.defined() ? LtExtra::bias
                                        : LtExtra::none;
  LtOperand left, right;
  if (!describe_lt(a, 1, 2, left) || !describe_lt(b, 2, 1, right)) return false;
  if (extra.defined() && extra.numel() > 1 && extra.strides()[0] != 1) return false;
  int64_t batches = out.sizes()[0];
  // All batches share one b: their rows make one product.
  if (batches > 1 && right.batch == 0 && !left.along_outer &&
      left.batch == left.outers * left.leading) {
    left.outers *= batches, left.batch = 0;
    batches = 1;
  }
  // The alignment of the result that cuBLAS is told holds for the bias and the sums, too.
  const int64_t of_result =
      std::min(lt_alignment(out), extra.defined() ? lt_alignment(extra) : 256);
  const std::array<int64_t, 3> alignment = {lt_alignment(a), lt_alignment(b), of_result};
  const ScalarType dtype = a.scalar_type(), result = out.scalar_type();
  const std::array<int64_t, 17> key = {current_device(),
                                       static_cast<int64_t>(dtype),
                                       static_cast<int64_t>(result),
                                       static_cast<int64_t>(what),
                                       batches,
                                       left.along_outer,
                                       left.outers,
                                       left.terms,
                                       left.leading,
                                       left.batch,
                                       right.along_outer,
                                       right.outers,
                                       right.leading,
                                       right.batch,
                                       alignment[0],
                                       alignment[1],
                                       alignment[2]};
  thread_local std::map<std::array<int64_t, 17>, std::unique_ptr<LtPlan>> plans;
  std::unique_ptr<LtPlan>& plan = plans[key];
  if (!plan) plan = std::make_unique<LtPlan>(dtype, result, what, left, right, batches, alignment);
  if (plan->is_known()) plan->run(a, b, extra, out);
  return plan->is_known();
}

}  // namespace gradus::cuda

#endif
