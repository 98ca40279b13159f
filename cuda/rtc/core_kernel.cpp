// Writes the kernel around a function of core dimensions, and launches it.
#include "gradus/cuda/rtc/core_kernel.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "gradus/cuda/rtc/compiler.h"
#include "gradus/cuda/rtc/launch_own.h"
#include "gradus/cuda/rtc/operands.h"
#include "gradus/cuda/rtc/types.h"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda {

struct CoreKernel::State {
  std::vector<CoreParameter> parameters;
  std::string function, file;
  int line;
  std::mutex mutex;
  std::map<std::pair<size_t, bool>, Program> programs;  // by dimensions of the loop, and wide
};

namespace {

// The twin of Core in guvectorize.h, and how an item's one is made.
const char* const kCoreText = R"(
namespace gradus {
template <class T, int D = 1>
struct Core {
  T* data;
  int64_t sizes[D], strides[D];
  __device__ int64_t size(int d = 0) const { return sizes[d]; }
  __device__ T& operator[](int64_t i) const { return data[i * strides[0]]; }
  template <class... I>
  __device__ T& operator()(I... i) const {
    static_assert(sizeof...(I) == D, "an index for each core dimension");
    const int64_t at[D] = {int64_t(i)...};
    int64_t out = 0;
    for (int d = 0; d < D; ++d) out += at[d] * strides[d];
    return data[out];
  }
};
}
using gradus::Core;
template <class T, int D>
__device__ __forceinline__ Core<T, D> item(Core<T, D> core, Index offset) {
  core.data += offset;
  return core;
}
template <class T>
__device__ __forceinline__ T& item(T* data, Index offset) { return data[offset]; }
)";

constexpr char kName[] = "guvectorized";

std::string text_of(const std::vector<CoreParameter>& parameters, const std::string& function,
                    const std::string& file, int line, size_t dims, bool wide) {
  const std::string at = "[" + std::to_string(dims) + "]";
  std::string layout = "struct Layout {\n  Index size" + at + ";\n", head, call;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto& [dtype, core_dims, is_output] = parameters[i];
    const std::string name = "p" + std::to_string(i),
                      type = (is_output ? "" : "const ") + std::string(rtc::cuda_name(dtype));
    layout += "  Index " + name + at + ";\n";
    head += (core_dims > 0 ? "const Core<" + type + ", " + std::to_string(core_dims) + "> "
                           : type + "* ") +
            name + ", ";
    call += (i > 0 ? ", item(" : "item(") + name + ", offset(i, layout.size, layout." + name + "))";
  }
  return std::string("using Index = ") + (wide ? "long long" : "int") + ";\n" + kCoreText +
         rtc::line_directive(file, line) + "__device__ __forceinline__ auto function" + function +
         "\n" + rtc::line_directive(std::string("text of ") + kName, 1) + rtc::kOffsetText +
         layout + "};\n__global__ void " + kName + "(" + head +
         "const Layout layout, const Index n) {\n"
         "  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;\n"
         "  if (i < n) function(" +
         call + ");\n}\n";
}

}  // namespace

CoreKernel::CoreKernel(std::vector<CoreParameter> parameters, const std::string& function,
                       const std::string& file, int line)
    : state_(new State{std::move(parameters), function, file, line, {}, {}}) {}

void CoreKernel::launch(Device device, const Dims& loop, const std::vector<Dims>& strides,
                        const std::vector<CorePart>& parts) const {
  State& it = *state_;
  int64_t n = 1, reached = 0;
  for (const int64_t size : IntArrayRef(loop)) n *= size;
  if (n == 0) return;
  std::vector<std::vector<int64_t>> steps;
  for (const Dims& each : strides) {
    steps.emplace_back(each.begin(), each.end());
    int64_t last = 0;
    for (size_t d = 0; d < loop.size(); ++d) last += (loop[d] - 1) * each[d];
    reached = std::max(reached, last);
  }
  const rtc::Walk walk = rtc::joined({loop.begin(), loop.end()}, std::move(steps));
  const bool wide = std::max(n, reached) > INT32_MAX - kThreads;
  const Program program = [&] {
    const std::lock_guard lock(it.mutex);
    const auto key = std::make_pair(walk.sizes.size(), wide);
    const auto found = it.programs.find(key);
    if (found != it.programs.end()) return found->second;
    const Source text(text_of(it.parameters, it.function, it.file, it.line, key.first, wide),
                      it.file.c_str(), it.line);
    return it.programs.emplace(key, Program(text, {kName})).first->second;
  }();

  // A Core is its address, sizes and strides, of 8 bytes each.
  std::vector<std::vector<int64_t>> values;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto dims = static_cast<size_t>(it.parameters[i].dims);
    auto& value = values.emplace_back();
    value.push_back(reinterpret_cast<int64_t>(parts[i].data));
    value.insert(value.end(), parts[i].sizes, parts[i].sizes + dims);
    value.insert(value.end(), parts[i].strides, parts[i].strides + dims);
  }
  std::vector<void*> pointers;
  for (auto& value : values) pointers.push_back(value.data());
  std::vector<char> layout = rtc::packed({&walk}, wide);
  pointers.push_back(layout.data());
  pointers.push_back(&n);
  const DeviceGuard guard(device.index());
  rtc::launch_own(program, 0, kName, dim3(static_cast<unsigned>(ceil_div(n, int64_t{kThreads}))),
                  kThreads, 0, pointers.data());
}

}  // namespace gradus::cuda
