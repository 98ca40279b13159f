// Writes the kernel around a function of core dimensions, and launches it.
#include "gradus/cuda/rtc/core_kernel.h"

#include <algorithm>

#include "gradus/cuda/rtc/compiler.h"
#include "gradus/cuda/rtc/launch_own.h"
#include "gradus/cuda/rtc/types.h"

namespace gradus::cuda {

struct CoreKernel::State {
  std::vector<CoreParameter> parameters;
  std::string function, file;
  int line;
  rtc::Programs programs;
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
)";

constexpr char kName[] = "guvectorized";

std::string text_of(const std::vector<CoreParameter>& parameters, const std::string& function,
                    const std::string& file, int line, const codegen::ElementsForm& form) {
  using codegen::ElementParameter;
  std::vector<ElementParameter> all;
  for (const auto& [dtype, dims, is_output] : parameters) {
    const std::string name = "p" + std::to_string(all.size()), type(rtc::cuda_name(dtype));
    const std::string core =
        std::string(is_output ? "Core<" : "Core<const ") + type + ", " + std::to_string(dims) + ">";
    all.push_back({dims > 0    ? ElementParameter::item
                   : is_output ? ElementParameter::written
                               : ElementParameter::read,
                   dims > 0 ? core : type, name});
  }
  const auto uses = [&](ScalarType type) {
    return std::ranges::find(parameters, type, &CoreParameter::dtype) != parameters.end();
  };
  return codegen::prelude(uses, form.wide) + kCoreText + rtc::line_directive(file, line) +
         "__device__ __forceinline__ auto function" + function + "\n" +
         rtc::line_directive(std::string("text of ") + kName, 1) +
         codegen::elements_text(kName, all, form, "function", false);
}

}  // namespace

CoreKernel::CoreKernel(std::vector<CoreParameter> parameters, const std::string& function,
                       const std::string& file, int line)
    : state_(new State{std::move(parameters), function, file, line, {}}) {}

void CoreKernel::launch(Device device, const Dims& loop, const std::vector<Dims>& strides,
                        const std::vector<CorePart>& parts) const {
  State& it = *state_;
  const codegen::Walk walk(loop, strides);
  if (walk.elements() == 0) return;
  const codegen::ElementsForm form(walk, std::vector<size_t>(strides.size()), 1);
  const Program program = it.programs.of(form.key(), [&] {
    const Source text(text_of(it.parameters, it.function, it.file, it.line, form), it.file.c_str(),
                      it.line);
    return Program(text, {kName});
  });

  // A Core is its address, sizes and strides, of 8 bytes each.
  codegen::KernelArguments values;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto dims = static_cast<size_t>(it.parameters[i].dims);
    std::vector<int64_t> value{reinterpret_cast<int64_t>(parts[i].data)};
    value.insert(value.end(), parts[i].sizes, parts[i].sizes + dims);
    value.insert(value.end(), parts[i].strides, parts[i].strides + dims);
    values.add(value.data(), value.size() * sizeof value[0]);
  }
  const DeviceGuard guard(device.index());
  rtc::launch_elements(program, kName, form, walk, std::move(values));
}

}  // namespace gradus::cuda
