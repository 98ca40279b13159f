// Writes reductions: the user's expressions in functions of their own, and what calls them.
#include "gradus/cuda/rtc/reduction_text.h"

#include "gradus/cuda/rtc/compiler.h"
#include "gradus/cuda/rtc/types.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/codegen/elements.h"

namespace gradus::cuda::rtc {

namespace {

using codegen::ElementParameter;

// The part of the text that does not depend on the operands. Value is the type that is reduced.
constexpr const char* kBlockText = R"(
constexpr int kResults = THREADS / PARTS;  // of a block
__device__ __forceinline__ int result_of() {
  return SIDE_BY_SIDE ? threadIdx.x / PARTS : threadIdx.x % kResults;
}
__device__ __forceinline__ int part_of() {
  return SIDE_BY_SIDE ? threadIdx.x % PARTS : threadIdx.x / kResults;
}

// The values of all parts reduced, in the first one of each result.
__device__ __forceinline__ Value over_block(Value value) {
  __shared__ Value shared[THREADS];
  const int part = part_of(), at = part * kResults + result_of();
  shared[at] = value;
#pragma unroll
  for (int step = PARTS / 2; step > 0; step /= 2) {
    __syncthreads();
    if (part < step) shared[at] = value = reduce(value, shared[at + step * kResults]);
  }
  return value;
}
)";

class ReductionText {
 public:
  ReductionText(const Call& call, const ReductionForm& form, const std::string& name)
      : call_(call), form_(form), name_(name) {
    for (size_t i = 0; i < call.parameters().size(); ++i)
      (i < call.inputs() ? inputs_ : outputs_).push_back(call.kernel_parameter(i));
  }

  std::string program(const ReductionSource& source, const std::string& value) const {
    const auto& [map, reduce, post, preamble, identity] = source;
    size_t tensors = 0;
    std::string elements, passed, results;
    for (const ElementParameter& input : inputs_) {
      const std::string data = input.name + "_data";
      passed += data + ", ";
      elements +=
          (input.kind == ElementParameter::read ? data + "[" + place(tensors++) + "]" : data) +
          ", ";
    }
    elements += place(tensors);  // of i
    for (const ElementParameter& output : outputs_) results += output.name + "_data[result], ";
    const std::string head = "__global__ void __launch_bounds__(THREADS)\n" + name_,
                      of_inputs = codegen::kernel_parameters(inputs_),
                      of_outputs = codegen::kernel_parameters(outputs_),
                      begin =
                          "  const Index result = Index(blockIdx.x) * kResults + result_of();\n"
                          "  Value value = " +
                          identity + ";\n",
                      finish =
                          "  value = over_block(value);\n"
                          "  if (part_of() == 0 && result < results) ";
    return call_.prelude(form_.wide) + at(preamble) + preamble.text() + "\n" + here() +
           "using Value = " + value + ";\n#define THREADS " + std::to_string(kThreads) +
           "\n#define PARTS " + std::to_string(form_.parts) + "\n#define SIDE_BY_SIDE " +
           (form_.side_by_side ? "true" : "false") + "\n" +
           // The user's own.
           "__device__ __forceinline__ Value map(" + codegen::element_parameters(inputs_) +
           ", const Index i) {\n  return Value(\n" + at(map) + map.text() + "\n" + here() +
           ");\n}\n__device__ __forceinline__ Value reduce(const Value a, const Value b) {\n"
           "  return Value(\n" +
           at(reduce) + reduce.text() + "\n" + here() +
           ");\n}\n__device__ __forceinline__ void post(" + codegen::element_parameters(outputs_) +
           ", const Value a) {\n" + at(post) + post.text() + "\n;}\n" + here() + kBlockText +
           // Elements [first, last) of each result, as far as one thread reduces them.
           "__device__ __forceinline__ Value over_elements(" + of_inputs + form_.walks +
           "Index result, Index first, Index last, Value value) {\n"
           "  for (Index r = first + part_of(); r < last; r += PARTS)\n"
           "    value = reduce(value, map(" +
           elements + "));\n  return value;\n}\n" +
           // One block has all elements of its results.
           head + "(" + of_inputs + of_outputs + form_.walks +
           "Index results, Index elements) {\n" + begin +
           "  if (result < results)\n    value = over_elements(" + passed +
           "kept, reduced, result, 0, elements, value);\n" + finish + "post(" + results +
           "value);\n}\n" +
           // Each of gridDim.y blocks has some of them.
           head + "_chunks(" + of_inputs + "Value* chunks, " + form_.walks +
           "Index results, Index elements) {\n" + begin +
           "  const Index size = (elements + gridDim.y - 1) / gridDim.y, first = size * "
           "blockIdx.y;\n"
           "  const Index last = first + size < elements ? first + size : elements;\n"
           "  if (result < results)\n    value = over_elements(" +
           passed + "kept, reduced, result, first, last, value);\n" + finish +
           "chunks[Index(blockIdx.y) * results + result] = value;\n}\n" + head +
           "_last(const Value* chunks, Index count, " + of_outputs + "Index results) {\n" + begin +
           "  if (result < results)\n    for (Index k = part_of(); k < count; k += PARTS)\n"
           "      value = reduce(value, chunks[k * results + result]);\n" +
           finish + "post(" + results + "value);\n}\n";
  }

 private:
  std::string here() const { return line_directive("text of " + name_, 1); }
  static std::string at(const Source& source) {
    return line_directive(source.file(), source.line());
  }
  // Where tensor t has element r of the result.
  static std::string place(size_t t) {
    const std::string tensor = "offset(" + std::to_string(t) + ", ";
    return "kept." + tensor + "result) + reduced." + tensor + "r)";
  }

  const Call& call_;
  const ReductionForm& form_;
  const std::string& name_;
  std::vector<ElementParameter> inputs_, outputs_;
};

}  // namespace

std::string reduction_text(const Call& call, const ReductionForm& form, const std::string& name,
                           const std::string& value, const ReductionSource& source) {
  return ReductionText(call, form, name).program(source, value);
}

}  // namespace gradus::cuda::rtc
