// Convolutions by cuDNN. cuDNN is looked for when it is chosen, so that the library runs without
// it.
#include "gradus/cuda/ops/cudnn.h"

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "gradus/cuda/rtc/loaded_library.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/named_choice.h"

namespace gradus::cuda {

// --- The choice by name
namespace {
constexpr std::array<std::string_view, 6> kConvolutionNames = {
    "automatic", "cudnn", "wgmma", "large_tiles", "narrow_tiles", "small_tiles"};
constexpr size_t kCudnn = 1, kWgmma = 2, kTiles = 3;  // places among them

NamedChoice& convolution_choice() {
  static NamedChoice chosen("convolution", "GRADUS_CONVOLUTION", kConvolutionNames);
  return chosen;
}

// --- The library. Handles and descriptors are pointers, enums are ints, and 0 is success.
constexpr int kFloatData = 0, kDoubleData = 1, kRowMajor = 0, kCrossCorrelation = 1;
constexpr int kDefaultMath = 0, kFmaMath = 3, kDeterministic = 1;

struct Performance {
  int algorithm, status;
  float milliseconds;
  size_t memory;
  int determinism, math, reserved[3];
};

// The functions of one part. The operands are input, weight, gradient of the output, in that order.
struct CudnnPart {
  int (*rank)(void* handle, void* first, void* second, void* convolution, void* out, int most,
              int* found, Performance* ranked);
  int (*run)(void* handle, const void* alpha, void* first, const void* first_data, void* second,
             const void* second_data, void* convolution, int algorithm, void* workspace,
             size_t bytes, const void* beta, void* out, void* out_data);
};

struct Cudnn {
  const char* (*error)(int);
  int (*create)(void**);
  int (*destroy)(void*);
  int (*set_stream)(void*, cudaStream_t);
  int (*create_tensor)(void**);
  int (*destroy_tensor)(void*);
  int (*set_tensor)(void*, int type, int dims, const int* sizes, const int* strides);
  int (*create_filter)(void**);
  int (*destroy_filter)(void*);
  int (*set_filter)(void*, int type, int format, int dims, const int* sizes);
  int (*create_convolution)(void**);
  int (*destroy_convolution)(void*);
  int (*set_convolution)(void*, int dims, const int* padding, const int* stride,
                         const int* dilation, int mode, int type);
  int (*set_groups)(void*, int);
  int (*set_math)(void*, int);
  int (*add)(void* handle, const void* alpha, void* a, const void* a_data, const void* beta,
             void* out, void* out_data);
  CudnnPart output, input, weight;
};

const Cudnn& cudnn() {
  static const Cudnn found = []() -> Cudnn {
#ifdef GRADUS_SIMULATED
    fail<Error>(
        "convolution: simulated devices have no cuDNN; use "
        "set_convolution_kernel(\"automatic\")");
#else
    const rtc::LoadedLibrary library(
        {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so"},
        "convolution: set_convolution_kernel(\"cudnn\") needs",
        "; install cuDNN (NVIDIA's package libcudnn9-cuda-12 or -13, or nvidia-cudnn-cu12 or -cu13 "
        "of pip) and set LD_LIBRARY_PATH to its folder, or use "
        "set_convolution_kernel(\"automatic\")");
    Cudnn out{};
    library.load(out.error, "cudnnGetErrorString");
    library.load(out.create, "cudnnCreate");
    library.load(out.destroy, "cudnnDestroy");
    library.load(out.set_stream, "cudnnSetStream");
    library.load(out.create_tensor, "cudnnCreateTensorDescriptor");
    library.load(out.destroy_tensor, "cudnnDestroyTensorDescriptor");
    library.load(out.set_tensor, "cudnnSetTensorNdDescriptor");
    library.load(out.create_filter, "cudnnCreateFilterDescriptor");
    library.load(out.destroy_filter, "cudnnDestroyFilterDescriptor");
    library.load(out.set_filter, "cudnnSetFilterNdDescriptor");
    library.load(out.create_convolution, "cudnnCreateConvolutionDescriptor");
    library.load(out.destroy_convolution, "cudnnDestroyConvolutionDescriptor");
    library.load(out.set_convolution, "cudnnSetConvolutionNdDescriptor");
    library.load(out.set_groups, "cudnnSetConvolutionGroupCount");
    library.load(out.set_math, "cudnnSetConvolutionMathType");
    library.load(out.add, "cudnnAddTensor");
    library.load(out.output.rank, "cudnnGetConvolutionForwardAlgorithm_v7");
    library.load(out.output.run, "cudnnConvolutionForward");
    library.load(out.input.rank, "cudnnGetConvolutionBackwardDataAlgorithm_v7");
    library.load(out.input.run, "cudnnConvolutionBackwardData");
    library.load(out.weight.rank, "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
    library.load(out.weight.run, "cudnnConvolutionBackwardFilter");
    return out;
#endif
  }();
  return found;
}

void check_cudnn(int status, const char* call) {
  if (status != 0)
    fail<Error>("convolution: ", call, " failed: ", cudnn().error(status),
                "; try set_convolution_kernel(\"automatic\")");
}

// A handle or a descriptor.
class CudnnObject {
 public:
  CudnnObject(int (*create)(void**), int (*destroy)(void*)) : destroy_(destroy) {
    check_cudnn(create(&object_), "cuDNN's creation of a handle or descriptor");
  }
  ~CudnnObject() { destroy_(object_); }
  CudnnObject(const CudnnObject&) = delete;
  CudnnObject& operator=(const CudnnObject&) = delete;
  operator void*() const { return object_; }

 private:
  int (*destroy_)(void*);
  void* object_ = nullptr;
};

// One for each thread and device, since a handle holds the stream that it works on.
void* cudnn_handle(cudaStream_t stream) {
  thread_local std::map<int, CudnnObject> handles;
  const CudnnObject& handle =
      handles.try_emplace(current_device(), cudnn().create, cudnn().destroy).first->second;
  check_cudnn(cudnn().set_stream(handle, stream), "cudnnSetStream");
  return handle;
}

int as_int(int64_t value) {
  check<NotImplementedError>(value <= std::numeric_limits<int>::max(), "convolution: cuDNN counts ",
                             "in 32 bits, and a size is ", value, "; split the batch");
  return static_cast<int>(value);
}

// --- A convolution as cuDNN is told of it, and its algorithm
struct CudnnPlan {
  CudnnObject input{cudnn().create_tensor, cudnn().destroy_tensor};
  CudnnObject output{cudnn().create_tensor, cudnn().destroy_tensor};
  CudnnObject bias{cudnn().create_tensor, cudnn().destroy_tensor};
  CudnnObject weight{cudnn().create_filter, cudnn().destroy_filter};
  CudnnObject convolution{cudnn().create_convolution, cudnn().destroy_convolution};
  void *first, *second, *out;
  const CudnnPart* functions;
  Performance chosen{};

  CudnnPlan(void* handle, ConvolutionPass part, const Convolution& shape, bool is_double);
};

void describe_tensor(void* tensor, int type, const std::vector<int>& sizes) {
  std::vector<int> strides(sizes.size(), 1);
  for (size_t d = sizes.size() - 1; d-- > 0;)
    strides[d] = as_int(int64_t{strides[d + 1]} * sizes[d + 1]);
  check_cudnn(cudnn().set_tensor(tensor, type, static_cast<int>(sizes.size()), sizes.data(),
                                 strides.data()),
              "cudnnSetTensorNdDescriptor");
}

CudnnPlan::CudnnPlan(void* handle, ConvolutionPass part, const Convolution& shape, bool is_double) {
  const int type = is_double ? kDoubleData : kFloatData;
  const int spatial = std::max(shape.spatial, 2);  // cuDNN knows no single dimension
  std::vector<int> in = {as_int(shape.batch), as_int(shape.channels)};
  std::vector<int> to = {as_int(shape.batch), as_int(shape.filters)};
  std::vector<int> taps = {as_int(shape.filters), as_int(shape.group_channels())};
  std::vector<int> offset = {1, as_int(shape.filters)};
  std::vector<int> padding, stride, dilation;
  for (int d = kSpatial - spatial; d < kSpatial; ++d) {
    const WindowDim& dim = shape.dim[d];
    in.push_back(as_int(dim.in)), to.push_back(as_int(dim.out));
    taps.push_back(as_int(dim.kernel)), offset.push_back(1);
    padding.push_back(as_int(dim.padding)), stride.push_back(as_int(dim.stride));
    dilation.push_back(as_int(dim.dilation));
  }
  describe_tensor(input, type, in);
  describe_tensor(output, type, to);
  describe_tensor(bias, type, offset);
  check_cudnn(cudnn().set_filter(weight, type, kRowMajor, spatial + 2, taps.data()),
              "cudnnSetFilterNdDescriptor");
  check_cudnn(cudnn().set_convolution(convolution, spatial, padding.data(), stride.data(),
                                      dilation.data(), kCrossCorrelation, type),
              "cudnnSetConvolutionNdDescriptor");
  check_cudnn(cudnn().set_groups(convolution, as_int(shape.groups)),
              "cudnnSetConvolutionGroupCount");
  check_cudnn(cudnn().set_math(convolution, is_double ? kDefaultMath : kFmaMath),
              "cudnnSetConvolutionMathType");
  switch (part) {
    case ConvolutionPass::fprop:
      first = input, second = weight, out = output, functions = &cudnn().output;
      break;
    case ConvolutionPass::dgrad:
      first = weight, second = output, out = input, functions = &cudnn().input;
      break;
    case ConvolutionPass::wgrad:
      first = input, second = output, out = weight, functions = &cudnn().weight;
      break;
  }
  constexpr size_t kMostMemory = size_t{1} << 30;
  std::array<Performance, 16> ranked{};
  int found = 0;
  check_cudnn(functions->rank(handle, first, second, convolution, out,
                              static_cast<int>(ranked.size()), &found, ranked.data()),
              "cudnnGetConvolution...Algorithm_v7");
  for (int i = 0; i < found; ++i) {
    const Performance& one = ranked[static_cast<size_t>(i)];
    if (one.status != 0 || one.determinism != kDeterministic || one.memory > kMostMemory ||
        (one.math != kDefaultMath && one.math != kFmaMath))
      continue;
    chosen = one;
    return;
  }
  fail<Error>(
      "convolution: cuDNN has no deterministic algorithm for it that needs at most 1 GiB; "
      "try set_convolution_kernel(\"automatic\")");
}

const CudnnPlan& cudnn_plan(void* handle, ConvolutionPass part, const Convolution& shape,
                            bool is_double) {
  std::vector<int64_t> key = {current_device(), static_cast<int64_t>(part),
                              is_double,        shape.spatial,
                              shape.batch,      shape.channels,
                              shape.filters,    shape.groups};
  for (const WindowDim& dim : shape.dim)
    key.insert(key.end(), {dim.in, dim.out, dim.kernel, dim.stride, dim.padding, dim.dilation});
  thread_local std::map<std::vector<int64_t>, std::unique_ptr<CudnnPlan>> plans;
  std::unique_ptr<CudnnPlan>& plan = plans[std::move(key)];
  if (!plan) plan = std::make_unique<CudnnPlan>(handle, part, shape, is_double);
  return *plan;
}
}  // namespace

ArrayRef<std::string_view> convolution_kernels() { return kConvolutionNames; }
std::string_view convolution_kernel() { return convolution_choice().name(); }
void set_convolution_kernel(std::string_view name) {
  const size_t place = convolution_choice().place_of("set_convolution_kernel", name);
  if (place == kCudnn) cudnn();
  convolution_choice().set(place);
}
bool convolves_by_cudnn() { return convolution_choice().place() == kCudnn; }
bool convolves_by_wgmma() { return convolution_choice().place() == kWgmma; }
std::optional<size_t> chosen_tile() {
  const size_t place = convolution_choice().place();
  return place < kTiles ? std::nullopt : std::optional(place - kTiles);
}

void cudnn_convolution(ConvolutionPass part, const Convolution& shape, const Tensor& a,
                       const Tensor& b, const Tensor& bias, const Tensor& out) {
  check_not_captured("convolution: one by cuDNN",
                     "cuDNN may allocate memory of its own for it, which the kernels of "
                     "set_convolution_kernel(\"automatic\") do not");
  const Context context(out);
  void* const handle = cudnn_handle(context.stream);
  const bool is_double = out.dtype() == kDouble;
  const CudnnPlan& plan = cudnn_plan(handle, part, shape, is_double);
  const Scratch workspace(plan.chosen.memory);
  // Factors are of the type that is computed in; the bits of 0 are the same in both.
  const double one_double = 1, zero = 0;
  const float one_float = 1;
  const void* const one = is_double ? static_cast<const void*>(&one_double) : &one_float;
  // a is the input, or the gradient of the output, which cuDNN takes second.
  const bool swapped = part != ConvolutionPass::fprop;
  check_cudnn(
      plan.functions->run(handle, one, plan.first, (swapped ? b : a).data_ptr(), plan.second,
                          (swapped ? a : b).data_ptr(), plan.convolution, plan.chosen.algorithm,
                          workspace.data(), plan.chosen.memory, &zero, plan.out, out.data_ptr()),
      "cudnnConvolution...");
  if (bias.defined())
    check_cudnn(
        cudnn().add(handle, one, plan.bias, bias.data_ptr(), one, plan.output, out.data_ptr()),
        "cudnnAddTensor");
}

}  // namespace gradus::cuda
