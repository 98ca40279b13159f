// The text in front of all kernels.
#include "gradus/tensor/codegen/prelude.h"

namespace gradus::codegen {

namespace {

constexpr char kText[] = R"(
namespace gradus {
// How N tensors lie along D dimensions.
template <int D, int N>
struct Walk {
  Index sizes[D], strides[N][D];
  // How far element i of tensor t lies behind its first one.
  __device__ __forceinline__ Index offset(int t, Index i) const {
    Index out = 0;
#pragma unroll
    for (int d = D - 1; d > 0; --d) {
      const Index rest = i / sizes[d];
      out += (i - rest * sizes[d]) * strides[t][d];
      i = rest;
    }
    return out + i * strides[t][0];
  }
};

// N neighbours, which are loaded and stored at once.
template <class T, int N>
struct alignas(sizeof(T) * N) Vector {
  T at[N];
};
template <int N, class T>
__device__ __forceinline__ Vector<T, N> load(const T* from) {
  return *reinterpret_cast<const Vector<T, N>*>(from);
}
template <class T, int N>
__device__ __forceinline__ void store(T* to, const Vector<T, N>& from) {
  *reinterpret_cast<Vector<T, N>*>(to) = from;
}
}  // namespace gradus
)";

}  // namespace

std::string_view cuda_name(ScalarType dtype) {
  switch (dtype) {
    case kBool:
      return "bool";
    case kByte:
      return "unsigned char";
    case kChar:
      return "signed char";
    case kShort:
      return "short";
    case kInt:
      return "int";
    case kLong:
      return "int64_t";
    case kHalf:
      return "__half";
    case kBFloat16:
      return "__nv_bfloat16";
    case kFloat:
      return "float";
    case kDouble:
      return "double";
    default:
      return "";
  }
}

std::string prelude(const std::function<bool(ScalarType)>& uses, bool wide) {
  std::string out;
  if (uses(kHalf)) out += "#include <cuda_fp16.h>\n";
  if (uses(kBFloat16)) out += "#include <cuda_bf16.h>\n";
  return out + "using Index = " + (wide ? "long long" : "int") + ";\n" + kText;
}

}  // namespace gradus::codegen
