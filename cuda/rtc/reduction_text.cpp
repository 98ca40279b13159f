// Writes reductions: the user's expressions in functions of their own, and what calls them.
#include "gradus/cuda/rtc/reduction_text.h"

#include "gradus/cuda/rtc/compiler.h"
#include "gradus/cuda/rtc/types.h"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda::rtc {

namespace {

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
  ReductionText(const Call& call, const ReductionForm& form, const std::string& name,
                const std::string& value)
      : call_(call), form_(form), name_(name), value_(value) {}

  std::string program(const ReductionSource& source) const {
    const auto& [map, reduce, post, preamble, identity] = source;
    const std::string results =
        "  const Index result = Index(blockIdx.x) * kResults + result_of();\n";
    const std::string finish =
        "  if (part_of() == 0 && result < results) post(" +
        outputs([](const std::string& name) { return name + "_data[result]"; }) + "value);\n}\n";
    return call_.declarations() + "using Index = " + (form_.wide ? "long long" : "int") + ";\n" +
           kRawText + kOffsetText + at(preamble) + preamble.text() + "\n" + here() +
           "using Value = " + value_ + ";\n#define THREADS " + std::to_string(kThreads) +
           "\n#define PARTS " + std::to_string(form_.parts) + "\n#define SIDE_BY_SIDE " +
           (form_.side_by_side ? "true" : "false") + "\n" +
           // The user's own.
           "__device__ __forceinline__ Value map(" + inputs(&ReductionText::value_parameter) +
           "const Index i) {\n  return Value(\n" + at(map) + map.text() + "\n" + here() +
           ");\n}\n" +
           "__device__ __forceinline__ Value reduce(const Value a, const Value b) {\n  return "
           "Value(\n" +
           at(reduce) + reduce.text() + "\n" + here() + ");\n}\n" +
           "__device__ __forceinline__ void post(" + output_parameters("& ", "") +
           "const Value a) {\n" + at(post) + post.text() + "\n;}\n" + here() + kBlockText +
           "struct Layout {\n" + walk("kept", form_.kept_dims) +
           walk("reduced", form_.reduced_dims) + "};\n" +
           // Elements [first, last) of each result, as far as one thread reduces them.
           "__device__ __forceinline__ Value over_elements(" + inputs(&ReductionText::parameter) +
           "const Layout& layout, Index result, Index first, Index last) {\n"
           "  Value value = " +
           identity +
           ";\n"
           "  for (Index r = first + part_of(); r < last; r += PARTS)\n"
           "    value = reduce(value, map(" +
           inputs(&ReductionText::element) + position("i") +
           "));\n"
           "  return value;\n}\n"
           // One block has all elements of its results.
           "__global__ void " +
           name_ + "(" + inputs(&ReductionText::parameter) + output_parameters("* ", "_data") +
           "const Layout layout, Index results, Index elements) {\n" + results +
           "  Value value = " + identity + ";\n  if (result < results) value = over_elements(" +
           inputs(&ReductionText::argument) +
           "layout, result, 0, elements);\n  value = over_block(value);\n" + finish +
           // Each of gridDim.y blocks has some of them.
           "__global__ void " + name_ + "_chunks(" + inputs(&ReductionText::parameter) +
           "Value* chunks, const Layout layout, Index results, Index elements) {\n" + results +
           "  const Index size = (elements + gridDim.y - 1) / gridDim.y, first = size * "
           "blockIdx.y;\n"
           "  Value value = " +
           identity + ";\n  if (result < results) value = over_elements(" +
           inputs(&ReductionText::argument) +
           "layout, result, first, first + size < elements ? first + size : elements);\n"
           "  value = over_block(value);\n"
           "  if (part_of() == 0 && result < results) chunks[Index(blockIdx.y) * results + result] "
           "= value;\n}\n"
           "__global__ void " +
           name_ + "_last(const Value* chunks, Index count, " + output_parameters("* ", "_data") +
           "Index results) {\n" + results + "  Value value = " + identity +
           ";\n"
           "  if (result < results)\n"
           "    for (Index k = part_of(); k < count; k += PARTS) value = reduce(value, chunks[k * "
           "results + result]);\n"
           "  value = over_block(value);\n" +
           finish;
  }

 private:
  std::string here() const { return line_directive("text of " + name_, 1); }
  static std::string at(const Source& source) {
    return line_directive(source.file(), source.line());
  }
  const std::string& operand(size_t i) const { return call_.operands()[i].name; }
  std::string type(size_t i) const { return std::string(cuda_name(call_.dtype(i))); }

  // --- Each input, as it is written in some place.
  std::string inputs(std::string (ReductionText::*part)(size_t) const) const {
    std::string out;
    for (size_t i = 0; i < call_.inputs(); ++i) out += (this->*part)(i) + ", ";
    return out;
  }
  std::string value_parameter(size_t i) const {
    if (call_.operands()[i].is_raw) return "const Raw<const " + type(i) + ">& " + operand(i);
    return "const " + type(i) + " " + operand(i);
  }
  std::string parameter(size_t i) const {
    if (call_.is_walked(i)) return "const " + type(i) + "* " + operand(i) + "_data";
    if (call_.operands()[i].is_raw) return "const Raw<const " + type(i) + "> " + operand(i);
    return "const " + type(i) + " " + operand(i);
  }
  std::string argument(size_t i) const { return operand(i) + (call_.is_walked(i) ? "_data" : ""); }
  std::string element(size_t i) const {
    if (!call_.is_walked(i)) return operand(i);
    return operand(i) + "_data[" + position(operand(i)) + "]";
  }
  static std::string position(const std::string& name) {
    return "offset(result, layout.kept_size, layout.kept_" + name +
           ") + offset(r, layout.reduced_size, layout.reduced_" + name + ")";
  }
  std::string walk(const std::string& which, size_t dims) const {
    const std::string size = "[" + std::to_string(dims) + "];\n";
    std::string out = "  Index " + which + "_size" + size;
    for (size_t i = 0; i < call_.inputs(); ++i)
      if (call_.is_walked(i)) out += "  Index " + which + "_" + operand(i) + size;
    return out + "  Index " + which + "_i" + size;
  }

  // --- Each output.
  template <class F>
  std::string outputs(F part) const {
    std::string out;
    for (size_t i = call_.inputs(); i < call_.operands().size(); ++i)
      out += part(operand(i)) + ", ";
    return out;
  }
  std::string output_parameters(const char* between, const char* end) const {
    std::string out;
    for (size_t i = call_.inputs(); i < call_.operands().size(); ++i)
      out += type(i) + between + operand(i) + end + ", ";
    return out;
  }

  const Call& call_;
  const ReductionForm& form_;
  const std::string &name_, &value_;
};

}  // namespace

std::string reduction_text(const Call& call, const ReductionForm& form, const std::string& name,
                           const std::string& value, const ReductionSource& source) {
  return ReductionText(call, form, name, value).program(source);
}

}  // namespace gradus::cuda::rtc
