// Writes elementwise kernels: the user's operation in a function of its own, and what calls it.
#include "gradus/cuda/rtc/elementwise_text.h"

#include "gradus/cuda/rtc/compiler.h"
#include "gradus/cuda/rtc/types.h"

namespace gradus::cuda::rtc {

namespace {

class ElementwiseText {
 public:
  ElementwiseText(const Call& call, const ElementwiseForm& form, const std::string& name)
      : call_(call), form_(form), name_(name) {}

  std::string kernel(const Source& operation, const Source& preamble) const {
    std::string out = call_.declarations();
    out += std::string("using Index = ") + (form_.wide ? "long long" : "int") + ";\n";
    out += kRawText;
    out += line_directive(preamble.file(), preamble.line()) + preamble.text() + "\n";
    out += line_directive("text of " + name_, 1);
    out += element(operation);
    out += form_.contiguous ? (form_.vector > 1 ? by_vectors() : one_by_one()) : strided();
    return out;
  }

 private:
  std::string type(size_t i) const { return std::string(cuda_name(call_.dtype(i))); }
  bool is_input(size_t i) const { return i < call_.inputs(); }
  const std::string& operand(size_t i) const { return call_.operands()[i].name; }
  // part(i) of each operand, joined by commas.
  template <class F>
  std::string list(F part) const {
    std::string out;
    for (size_t i = 0; i < call_.operands().size(); ++i) out += part(i) + ", ";
    return out;
  }
  std::string raw_type(size_t i) const {
    return "Raw<" + std::string(is_input(i) ? "const " : "") + type(i) + ">";
  }

  // The operation on one element, a function of its own.
  std::string element(const Source& operation) const {
    return "__device__ __forceinline__ void " + name_ + "_element(" + list([&](size_t i) {
             if (call_.operands()[i].is_raw) return "const " + raw_type(i) + "& " + operand(i);
             return (is_input(i) ? "const " + type(i) + " " : type(i) + "& ") + operand(i);
           }) +
           "const Index i, const Index n) {\n" +
           line_directive(operation.file(), operation.line()) + operation.text() + "\n;}\n" +
           line_directive("text of " + name_, 10);
  }

  std::string head(const char* more) const {
    return "__global__ void " + name_ + "(" + list([&](size_t i) {
             if (call_.operands()[i].is_raw) return raw_type(i) + " " + operand(i);
             if (call_.is_number(i)) return type(i) + " " + operand(i);
             return (is_input(i) ? "const " : "") + type(i) + "* " + operand(i) + "_data";
           }) +
           more + "Index n) {\n";
  }
  // The call of the operation, where `element` of each walked tensor is written so.
  template <class F>
  std::string apply(F element, const char* index) const {
    return name_ + "_element(" +
           list([&](size_t i) { return call_.is_walked(i) ? element(i) : operand(i); }) + index +
           ", n);\n";
  }
  template <class F>
  std::string for_each_walked(F line) const {
    std::string out;
    for (size_t i = 0; i < call_.operands().size(); ++i)
      if (call_.is_walked(i)) out += line(i);
    return out;
  }

  std::string one_by_one() const {
    return head("") +
           "  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;\n"
           "  if (i < n) " +
           apply([&](size_t i) { return operand(i) + "_data[i]"; }, "i") + "}\n";
  }

  std::string by_vectors() const {
    const auto pack = [&](size_t i) { return "Pack<" + type(i) + ">"; };
    return "constexpr int V = " + std::to_string(form_.vector) +
           ";  // elements of a thread, which are loaded and stored at once\n"
           "template <class E>\nstruct alignas(sizeof(E) * V) Pack {\n  E at[V];\n};\n" +
           head("") +
           "  const Index first = (Index(blockIdx.x) * blockDim.x + threadIdx.x) * V;\n"
           "  if (first >= n) return;\n"
           "  if (n - first < V) {\n"
           "    for (Index i = first; i < n; ++i) " +
           apply([&](size_t i) { return operand(i) + "_data[i]"; }, "i") + "    return;\n  }\n" +
           for_each_walked([&](size_t i) {
             const std::string from =
                 "*reinterpret_cast<const " + pack(i) + "*>(" + operand(i) + "_data + first)";
             if (is_input(i))
               return "  const " + pack(i) + " " + operand(i) + "_pack = " + from + ";\n";
             return "  " + pack(i) + " " + operand(i) + "_pack" +
                    (form_.reads ? " = " + from : "") + ";\n";
           }) +
           "#pragma unroll\n"
           "  for (int k = 0; k < V; ++k)\n    " +
           apply([&](size_t i) { return operand(i) + "_pack.at[k]"; }, "first + k") +
           for_each_walked([&](size_t i) {
             if (is_input(i)) return std::string();
             return "  *reinterpret_cast<" + pack(i) + "*>(" + operand(i) +
                    "_data + first) = " + operand(i) + "_pack;\n";
           }) +
           "}\n";
  }

  std::string strided() const {
    return kOffsetText +
           ("struct Layout {\n  Index size[" + std::to_string(form_.dims) + "];\n" +
            for_each_walked([&](size_t i) {
              return "  Index " + operand(i) + "[" + std::to_string(form_.dims) + "];\n";
            }) +
            "};\n") +
           head("const Layout layout, ") +
           "  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;\n"
           "  if (i < n) " +
           apply(
               [&](size_t i) {
                 return operand(i) + "_data[offset(i, layout.size, layout." + operand(i) + ")]";
               },
               "i") +
           "}\n";
  }

  const Call& call_;
  const ElementwiseForm& form_;
  const std::string& name_;
};

}  // namespace

std::string elementwise_text(const Call& call, const ElementwiseForm& form, const std::string& name,
                             const Source& operation, const Source& preamble) {
  return ElementwiseText(call, form, name).kernel(operation, preamble);
}

}  // namespace gradus::cuda::rtc
