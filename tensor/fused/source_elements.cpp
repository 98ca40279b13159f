// The text of a kernel without reductions: each thread has a few neighbours.
#include "gradus/tensor/fused/writer.h"

namespace gradus::fused {

namespace {

constexpr int kThreads = 256;

class ElementWriter final : public Writer {
 public:
  using Writer::Writer;

 private:
  std::string body() override {
    const size_t last = domain_.size() - 1;
    const int64_t groups = size_before(last + 1) / width_;
    source_.blocks = (groups + kThreads - 1) / kThreads;
    source_.threads_x = kThreads, source_.threads_y = 1;

    std::string text =
        "  const long long group = blockIdx.x * " + str(kThreads) + "LL + threadIdx.x;\n";
    text += "  if (group >= " + number("groups", groups) + ") return;\n";
    if (last > 0) {
      const std::string columns = number("columns", domain_.back() / width_);
      text += "  const long long column = group % " + columns + times(width_) + ";\n";
      text += offsets("group / " + columns, last);
    } else {
      text += "  const long long column = group" + times(width_) + ";\n";
    }
    if (width_ == 1) return text + values("  ") + results("  ");

    for (const int input : source_.inputs)
      if (moves_vectors(argument_of(input)))
        text += "  const auto x" + str(input) + " = " + vector(argument_of(input)) + ";\n";
    std::string stores;
    for (size_t a = source_.inputs.size(); a < arguments_.size(); ++a) {
      text += "  " + vector_type(nodes_[arguments_[a].node].dtype) + " y" + str(a) + ";\n";
      stores += "  " + vector(a) + " = y" + str(a) + ";\n";
    }
    text += "#pragma unroll\n  for (int k = 0; k < " + str(width_) + "; ++k) {\n";
    return text + values("    ") + results("    ") + "  }\n" + stores;
  }

  bool moves_vectors(size_t argument) const {
    return width_ > 1 && arguments_[argument].strides.back() != 0;
  }

  std::string values(const std::string& indent) {
    std::string text;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto node = static_cast<int>(i);
      if (nodes_[i].kind == Kind::number) continue;
      if (nodes_[i].kind == Kind::input) {
        const size_t a = argument_of(node);
        const std::string from = moves_vectors(a) ? "x" + str(i) + ".at[k]" : element(a);
        text += line(node, indent, loaded(nodes_[i].dtype, from));
      } else {
        text += line(node, indent);
      }
    }
    return text;
  }

  std::string results(const std::string& indent) {
    std::string text;
    for (size_t a = source_.inputs.size(); a < arguments_.size(); ++a) {
      const int node = arguments_[a].node;
      text += indent + (width_ > 1 ? "y" + str(a) + ".at[k]" : element(a)) + " = " +
              stored(nodes_[node].dtype, name(node)) + ";\n";
    }
    return text;
  }
};

}  // namespace

Source write_elements(const Kernel& kernel, int most_vector) {
  return ElementWriter(kernel, most_vector).write();
}

Source make_source(const Kernel& kernel, int most_vector) {
  const bool reduces = kernel.columns < static_cast<int64_t>(kernel.domain.size());
  return reduces ? write_rows(kernel, most_vector) : write_elements(kernel, most_vector);
}

}  // namespace gradus::fused
