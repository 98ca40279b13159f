// The text of a kernel without reductions: a function of one element, and the loop around it.
#include "gradus/tensor/fused/writer.h"

namespace gradus::fused {

namespace {

class ElementWriter final : public Writer {
 public:
  using Writer::Writer;

  KernelText write(int most_vector) {
    const codegen::Walk walk(kernel_.domain, strides_);
    const codegen::ElementsForm form(walk, element_sizes_, std::min(most_vector, kMostVector));
    form.add_to(out_.more, walk);
    out_.blocks = form.blocks(walk);
    out_.threads_x = codegen::kElementThreads, out_.threads_y = 1;
    out_.vector = form.vector;

    std::string lines;
    for (int i = 0; i < static_cast<int>(exprs_.size()); ++i) {
      if (exprs_[i].kind == Kind::input)
        lines += line(i, "  ", loaded(exprs_[i].dtype, parameters_[tensor_of(i)].name));
      else if (exprs_[i].kind != Kind::number)
        lines += line(i, "  ");
    }
    for (size_t t = out_.inputs.size(); t < tensors_.size(); ++t)
      lines += "  " + parameters_[t].name + " = " +
               stored(exprs_[tensors_[t]].dtype, name(tensors_[t])) + ";\n";
    out_.text = prelude(form.wide) + "__device__ __forceinline__ void element(" +
                codegen::element_parameters(parameters_) + ") {\n" + lines + "}\n" +
                codegen::elements_text("fused", parameters_, form, "element", false);
    return std::move(out_);
  }
};

}  // namespace

KernelText write_elements(const Kernel& kernel, int most_vector) {
  return ElementWriter(kernel).write(most_vector);
}

}  // namespace gradus::fused
