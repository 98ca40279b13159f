// Writes elementwise kernels: one element or one vector for each thread.
#include "gradus/tensor/codegen/elements.h"

#include <algorithm>

#include "gradus/tensor/codegen/prelude.h"

namespace gradus::codegen {

ElementsForm::ElementsForm(const Walk& of, ArrayRef<size_t> element_sizes, int most_vector)
    : vector(vector_width(of, element_sizes, most_vector)),
      wide(is_wide(of.elements(), of.reach())) {
  bool is_flat = of.sizes.size() == 1;
  for (size_t t = 0; t < of.strides.size(); ++t) {
    repeats.push_back(vector > 1 && of.repeats(t));
    is_flat = is_flat && (repeats[t] || of.strides[t].back() == 1);
  }
  if (!is_flat) walk = of.parameter("walk");
}

std::string ElementsForm::key() const {
  std::string out = std::to_string(vector) + (wide ? "w" : "") + walk;
  for (const bool each : repeats) out += each ? '0' : '1';
  return out;
}

void ElementsForm::add_to(KernelArguments& arguments, const Walk& of) const {
  if (!walk.empty()) arguments.add(of.bytes(wide, vector));
  arguments.add(of.elements());
}

int64_t ElementsForm::blocks(const Walk& of) const {
  const int64_t of_block = int64_t{kElementThreads} * vector;
  return (of.elements() + of_block - 1) / of_block;
}

namespace {

using Kind = ElementParameter::Kind;

bool is_written(const ElementParameter& p) {
  return p.kind == Kind::written || p.kind == Kind::both;
}

// part(parameter, number of the tensor) of each, one after the other.
template <class Part>
std::string each(const std::vector<ElementParameter>& parameters, const char* between, Part part) {
  std::string out;
  size_t tensor = 0;
  for (const ElementParameter& p : parameters) {
    const std::string text = part(p, tensor);
    out += (out.empty() || text.empty() ? "" : between) + text;
    tensor += p.kind != Kind::whole;
  }
  return out;
}

}  // namespace

std::string element_parameters(const std::vector<ElementParameter>& parameters) {
  return each(parameters, ", ", [](const ElementParameter& p, size_t) {
    return is_written(p) ? p.type + "& " + p.name
                         : "const " + p.type + (p.kind == Kind::read ? " " : "& ") + p.name;
  });
}

std::string kernel_parameters(const std::vector<ElementParameter>& parameters) {
  return each(parameters, "", [](const ElementParameter& p, size_t) {
    const bool is_pointer = p.kind == Kind::read || is_written(p);
    return (is_written(p) ? "" : "const ") + p.type + (is_pointer ? "* " : " ") + p.name +
           "_data, ";
  });
}

std::string elements_text(const std::string& name, const std::vector<ElementParameter>& parameters,
                          const ElementsForm& form, const std::string& function, bool counted) {
  const std::string width = std::to_string(form.vector);
  const auto offset = [&](size_t tensor, const std::string& i, const std::string& group) {
    if (!form.walk.empty()) return "walk.offset(" + std::to_string(tensor) + ", " + group + ")";
    return form.repeats[tensor] ? "0" : i;
  };
  const auto call = [&](const std::string& i, auto element) {
    return function + "(" + each(parameters, ", ", element) + (counted ? ", " + i + ", n" : "") +
           ");\n";
  };
  const std::string of_one = call("i", [&](const ElementParameter& p, size_t tensor) {
    const std::string data = p.name + "_data";
    if (p.kind == Kind::whole) return data;
    const std::string at = offset(tensor, "i", "i");
    return p.kind == Kind::item ? "item(" + data + ", " + at + ")" : data + "[" + at + "]";
  });

  std::string out = "__global__ void __launch_bounds__(" + std::to_string(kElementThreads) + ")\n" +
                    name + "(" + kernel_parameters(parameters) + form.walk +
                    (form.walk.empty() ? "" : ", ") + "const Index n) {\n";
  const std::string thread =
      "Index(blockIdx.x) * " + std::to_string(kElementThreads) + " + threadIdx.x";
  if (form.vector == 1)
    return out + "  const Index i = " + thread + ";\n  if (i < n) " + of_one + "}\n";

  out += "  const Index group = " + thread + ", first = group * " + width +
         ";\n  if (first >= n) return;\n";
  if (form.walk.empty())
    out += "  if (n - first < " + width +
           ") {\n#pragma unroll 1\n    for (Index i = first; i < n; ++i) " + of_one +
           "    return;\n  }\n";
  out += each(parameters, "", [&](const ElementParameter& p, size_t tensor) -> std::string {
    if (p.kind == Kind::whole) return "";
    const std::string at = p.name + "_data + " + offset(tensor, "first", "group");
    if (form.repeats[tensor]) return "  const " + p.type + " " + p.name + "_one = *(" + at + ");\n";
    const std::string pointer = "  auto* const " + p.name + "_at = " + at + ";\n",
                      vector = " " + p.name + "_vector";
    if (p.kind == Kind::written)
      return pointer + "  gradus::Vector<" + p.type + ", " + width + ">" + vector + ";\n";
    return pointer + "  " + (p.kind == Kind::read ? "const auto" : "auto") + vector +
           " = gradus::load<" + width + ">(" + p.name + "_at);\n";
  });
  out += "#pragma unroll\n  for (int k = 0; k < " + width + "; ++k) ";
  out += call("first + k", [&](const ElementParameter& p, size_t tensor) {
    if (p.kind == Kind::whole) return p.name + "_data";
    return p.name + (form.repeats[tensor] ? "_one" : "_vector.at[k]");
  });
  return out +
         each(parameters, "",
              [&](const ElementParameter& p, size_t) {
                return is_written(p)
                           ? "  gradus::store(" + p.name + "_at, " + p.name + "_vector);\n"
                           : std::string();
              }) +
         "}\n";
}

}  // namespace gradus::codegen
