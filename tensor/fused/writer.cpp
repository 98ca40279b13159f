// What the writers of kernels' texts share.
#include "gradus/tensor/fused/writer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "gradus/tensor/fused/tracer.h"

namespace gradus::fused {

Writer::Writer(const Kernel& kernel, int most_vector)
    : kernel_(kernel), nodes_(kernel.program.nodes) {
  collect_arguments();
  join_dimensions();
  source_.vector = width_ = vector_width(most_vector);
}

Source Writer::write() {
  const std::string inside = body();
  std::string& text = source_.text;
  text = "// Made by gradus::fuse.\n";
  if (uses_half_) text += "#include <cuda_fp16.h>\n";
  if (uses_bfloat16_) text += "#include <cuda_bf16.h>\n";
  if (uses_vector_)
    text += "template <class T, int N>\nstruct alignas(sizeof(T) * N) Vector {\n  T at[N];\n};\n";
  text += helpers() + formulas_.text();
  text += "\nextern \"C\" __global__ void __launch_bounds__(" +
          str(source_.threads_x * source_.threads_y) + ")\n    fused(" + parameters() + numbers_ +
          ") {\n" + inside + "}\n";
  return std::move(source_);
}

std::string_view cuda_name(ScalarType dtype) {
  switch (dtype) {
    case kBool:
      return "bool";
    case kByte:
      return "unsigned char";
    case kChar:
      return "signed char";
    case kShort:
      return "short";
    case kInt:
      return "int";
    case kLong:
      return "int64_t";
    case kHalf:
      return "__half";
    case kBFloat16:
      return "__nv_bfloat16";
    case kFloat:
      return "float";
    case kDouble:
      return "double";
  }
  return "";
}

std::string Writer::type(ScalarType dtype) {
  return std::string(cuda_name(dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype));
}

std::string Writer::vector_type(ScalarType dtype) {
  uses_vector_ = true;
  return "Vector<" + std::string(cuda_name(dtype)) + ", " + str(width_) + ">";
}

std::string Writer::loaded(ScalarType dtype, const std::string& x) {
  uses_half_ |= dtype == kHalf, uses_bfloat16_ |= dtype == kBFloat16;
  if (dtype == kHalf) return "__half2float(" + x + ")";
  return dtype == kBFloat16 ? "__bfloat162float(" + x + ")" : x;
}
std::string Writer::stored(ScalarType dtype, const std::string& x) {
  uses_half_ |= dtype == kHalf, uses_bfloat16_ |= dtype == kBFloat16;
  if (dtype == kHalf) return "__float2half_rn(" + x + ")";
  return dtype == kBFloat16 ? "__float2bfloat16_rn(" + x + ")" : x;
}

namespace {
std::string literal(const Scalar& number) {
  if (number.isBoolean()) return number.toBool() ? "true" : "false";
  if (!number.isFloatingPoint()) {
    const int64_t x = number.toLong();
    return x == INT64_MIN ? "(-9223372036854775807LL - 1)" : std::to_string(x);
  }
  const double x = number.toDouble();
  if (std::isnan(x)) return "NAN";
  if (std::isinf(x)) return x > 0 ? "INFINITY" : "-INFINITY";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", x);
  const std::string out = text;
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}
}  // namespace

std::string Writer::name(int node) const {
  return nodes_[node].kind == Kind::number ? literal(nodes_[node].number) : "v" + str(node);
}

std::string Writer::operand(const Node& node, int i, const std::string& of_type) const {
  const int from = node.operands[i];
  if (from < 0) return of_type + "()";
  if (nodes_[from].kind != Kind::number && type(nodes_[from].dtype) == of_type) return name(from);
  return of_type + "(" + name(from) + ")";
}

std::string Writer::computed_in(const Node& node) const {
  if (node.dtype != kBool || node.kind == Kind::convert || node.kind == Kind::where)
    return type(node.dtype);
  for (const int from : node.operands)  // a comparison
    if (from >= 0 && nodes_[from].kind != Kind::number) return type(nodes_[from].dtype);
  return "double";
}

std::string Writer::expression(const Node& node) {
  const std::string t = computed_in(node);
  const bool moves = node.kind == Kind::where || node.kind == Kind::convert;
  if (!moves && node.dtype != kBool && !isFloatingType(node.dtype))
    fail<NotFusable>("fuse: kernels made at run time do not compute in ", node.dtype);
  const auto call = [&](const std::string& f, int operands, const std::string& more = "") {
    std::string out = f + "(";
    for (int i = 0; i < operands; ++i) out += (i ? ", " : "") + operand(node, i, t);
    return out + more + ")";
  };
  switch (node.kind) {
    case Kind::map:
      return call(formulas_.use(static_cast<UnaryOp>(node.op)), 1);
    case Kind::map_grad:
      return operand(node, 0, t) + " * " + formulas_.use_derivative(static_cast<UnaryOp>(node.op)) +
             "(" + operand(node, 1, t) + ", " + operand(node, 2, t) + ")";
    case Kind::zip: {
      const auto op = static_cast<BinaryOp>(node.op);
      const char* const sign = op == BinaryOp::add   ? " + "
                               : op == BinaryOp::sub ? " - "
                               : op == BinaryOp::mul ? " * "
                               : op == BinaryOp::div ? " / "
                                                     : nullptr;
      return sign ? operand(node, 0, t) + sign + operand(node, 1, t) : call(formulas_.use(op), 2);
    }
    case Kind::ternary:
      return call(formulas_.use(static_cast<TernaryOp>(node.op)), 3,
                  ", " + t + "(" + literal(node.number) + ")");
    case Kind::where:
      return operand(node, 0, "bool") + " ? " + operand(node, 1, t) + " : " + operand(node, 2, t);
    case Kind::convert: {
      const std::string from = name(node.operands[0]);
      if (node.dtype == kBool) return from + " != 0";
      const bool narrow = !isFloatingType(node.dtype) && node.dtype != kLong;  // as convert() does
      return narrow ? t + "((long long)" + from + ")" : operand(node, 0, t);
    }
    default:
      fail<NotFusable>("fuse: a kernel made at run time lacks a kind of node");
  }
}

std::string Writer::line(int node, const std::string& indent) {
  const ScalarType dtype = nodes_[node].dtype;
  const std::string value = expression(nodes_[node]);
  const bool rounds = dtype == kHalf || dtype == kBFloat16;
  return line(node, indent, rounds ? loaded(dtype, stored(dtype, value)) : value);
}
std::string Writer::line(int node, const std::string& indent, const std::string& value) const {
  return indent + "const " + type(nodes_[node].dtype) + " v" + str(node) + " = " + value + ";\n";
}

void Writer::collect_arguments() {
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].kind == Kind::input) {
      source_.inputs.push_back(static_cast<int>(i));
      arguments_.push_back({static_cast<int>(i), false, strides_of(nodes_[i])});
    }
  for (const int output : kernel_.program.outputs)
    arguments_.push_back({output, true, strides_of(nodes_[output])});
}

Dims Writer::strides_of(const Node& node) const {
  Dims out = Dims::filled(static_cast<int64_t>(kernel_.domain.size()), 0);
  const size_t shift = out.size() - node.sizes.size();
  for (size_t d = 0; d < node.sizes.size(); ++d)
    if (node.sizes[d] != 1) out[d + shift] = node.strides[d];
  return out;
}

void Writer::join_dimensions() {
  std::vector<Dims> joined(arguments_.size());
  for (size_t d = 0; d < kernel_.domain.size(); ++d) {
    const bool is_column = static_cast<int64_t>(d) >= kernel_.columns;
    const int64_t size = kernel_.domain[d];
    if (size == 1) continue;
    bool joins = !domain_.empty() && (columns_ > 0) == is_column;
    for (size_t a = 0; a < arguments_.size() && joins; ++a)
      joins = joined[a].back() == arguments_[a].strides[d] * size;
    if (joins) {
      domain_[domain_.size() - 1] *= size;
    } else {
      domain_.push_back(size);
      columns_ += is_column;
    }
    for (size_t a = 0; a < arguments_.size(); ++a) {
      if (!joins) joined[a].push_back(0);
      joined[a][joined[a].size() - 1] = arguments_[a].strides[d];
    }
  }
  const bool reduces = kernel_.columns < static_cast<int64_t>(kernel_.domain.size());
  if (domain_.empty() || (reduces && columns_ == 0)) {  // one element, or rows of one
    domain_.push_back(1);
    columns_ += reduces;
    for (Dims& strides : joined) strides.push_back(0);
  }
  for (size_t a = 0; a < arguments_.size(); ++a) arguments_[a].strides = joined[a];
}

int Writer::vector_width(int most) const {
  int width = std::min(4, most);
  for (const Argument& argument : arguments_)
    if (argument.strides.back() != 0)
      width = std::min(
          width, std::max(1, 16 / static_cast<int>(element_size(nodes_[argument.node].dtype))));
  const auto fits = [&](const Argument& argument) {
    const Dims& strides = argument.strides;
    if (strides.back() == 0) return true;
    return strides.back() == 1 && std::all_of(strides.begin(), strides.end() - 1,
                                              [&](int64_t stride) { return stride % width == 0; });
  };
  while (width > 1 && !(domain_.back() % width == 0 && std::ranges::all_of(arguments_, fits)))
    width /= 2;
  return width;
}

std::string Writer::parameters() const {
  std::string out;
  for (size_t a = 0; a < arguments_.size(); ++a)
    out += std::string(a ? ", " : "") + (arguments_[a].is_output ? "" : "const ") +
           std::string(cuda_name(nodes_[arguments_[a].node].dtype)) + "* " + pointer(a);
  return out;
}

size_t Writer::argument_of(int input) const {
  return static_cast<size_t>(std::ranges::find(source_.inputs, input) - source_.inputs.begin());
}

std::string Writer::pointer(size_t argument) const {
  return (arguments_[argument].is_output ? "out" : "in") + str(argument);
}

std::string Writer::number(const std::string& name, int64_t value) {
  const std::string parameter = ", long long " + name;
  const bool known = (numbers_ + ",").find(parameter + ",") != std::string::npos;
  if (!known) numbers_ += parameter, source_.numbers.push_back(value);
  return name;
}

std::string Writer::element(size_t argument) {
  const int64_t stride = arguments_[argument].strides.back();
  if (stride == 0) return pointer(argument) + "[0]";
  if (stride == 1) return pointer(argument) + "[column]";
  return pointer(argument) + "[column * " + number("stride" + str(argument), stride) + "]";
}

std::string Writer::vector(size_t argument) {
  const Argument& of = arguments_[argument];
  return "*(" + std::string(of.is_output ? "" : "const ") + vector_type(nodes_[of.node].dtype) +
         "*)(" + pointer(argument) + " + column)";
}

std::string Writer::offsets(const std::string& from, size_t dims) {
  if (dims == 0) return "";
  std::string text = dims > 1 ? "  long long rest = " + from + ";\n" : "";
  for (size_t d = dims; d-- > 0;) {
    const std::string index = "  const long long i" + str(d) + " = ";
    if (d == 0) {
      text += index + (dims > 1 ? "rest" : from) + ";\n";
    } else {
      const std::string size = number("size" + str(d), domain_[d]);
      text += index + "rest % " + size + ";\n  rest /= " + size + ";\n";
    }
  }
  for (size_t a = 0; a < arguments_.size(); ++a) {
    std::string sum;
    for (size_t d = 0; d < dims; ++d)
      if (const int64_t stride = arguments_[a].strides[d])
        sum += (sum.empty() ? "i" : " + i") + str(d) + " * " +
               number("stride" + str(a) + "_" + str(d), stride);
    if (!sum.empty()) text += "  " + pointer(a) + " += " + sum + ";\n";
  }
  return text;
}

int64_t Writer::size_before(size_t dim) const {
  int64_t out = 1;
  for (size_t d = 0; d < dim; ++d) out *= domain_[d];
  return out;
}

}  // namespace gradus::fused
