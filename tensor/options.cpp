// Checks of TensorOptions, and merging two of them.
#include "gradus/tensor/options.h"

#include <ostream>

namespace gradus {

TensorOptions TensorOptions::layout(std::optional<Layout> layout) const {
  check<NotImplementedError>(!layout || *layout == kStrided,
                             "TensorOptions: layout Sparse is not supported; use kStrided");
  return with([&](TensorOptions& out) { out.layout_ = layout; });
}

TensorOptions TensorOptions::memory_format(std::optional<MemoryFormat> format) const {
  return with([&](TensorOptions& out) { out.memory_format_ = format; });
}

TensorOptions TensorOptions::merge_in(const TensorOptions& other) const {
  return with([&](TensorOptions& out) {
    const auto take = [](auto& mine, const auto& theirs) {
      if (theirs) mine = theirs;
    };
    take(out.dtype_, other.dtype_);
    take(out.device_, other.device_);
    take(out.requires_grad_, other.requires_grad_);
    take(out.pinned_memory_, other.pinned_memory_);
    take(out.layout_, other.layout_);
    take(out.memory_format_, other.memory_format_);
  });
}

std::ostream& operator<<(std::ostream& out, Layout layout) {
  return out << (layout == kStrided ? "Strided" : "Sparse");
}

std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  const auto part = [&](const char* name, bool given, const auto& value, const char* end) {
    out << name << '=' << value << (given ? "" : " (default)") << end;
  };
  const auto word = [](bool value) { return value ? "true" : "false"; };
  out << "TensorOptions(";
  part("dtype", options.has_dtype(), options.dtype(), ", ");
  part("device", options.has_device(), options.device(), ", ");
  part("layout", options.has_layout(), options.layout(), ", ");
  part("requires_grad", options.has_requires_grad(), word(options.requires_grad()), ", ");
  part("pinned_memory", options.has_pinned_memory(), word(options.pinned_memory()), ", ");
  out << "memory_format=";
  if (const auto format = options.memory_format_opt())
    out << *format;
  else
    out << "(nullopt)";
  return out << ")";
}

}  // namespace gradus
