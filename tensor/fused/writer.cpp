// The common part of the writers of fused kernels.
#include "gradus/tensor/fused/writer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "gradus/tensor/codegen/prelude.h"
#include "gradus/tensor/fused/tracer.h"
#include "gradus/tensor/table/choices.h"

namespace gradus::fused {

Writer::Writer(const Kernel& kernel) : kernel_(kernel), exprs_(kernel.computation.exprs) {
  for (size_t i = 0; i < exprs_.size(); ++i)
    if (exprs_[i].kind == Kind::input) {
      out_.inputs.push_back(static_cast<int>(i));
      add_tensor(static_cast<int>(i), codegen::ElementParameter::read, "x");
    }
  for (const int output : kernel.computation.outputs)
    add_tensor(output, codegen::ElementParameter::written, "y");
}

void Writer::add_tensor(int number, codegen::ElementParameter::Kind kind,
                        const std::string& letter) {
  const Expr& expr = exprs_[number];
  Dims strides = Dims::filled(static_cast<int64_t>(kernel_.domain.size()), 0);
  const size_t shift = strides.size() - expr.sizes.size();
  for (size_t d = 0; d < expr.sizes.size(); ++d)
    if (expr.sizes[d] != 1) strides[d + shift] = expr.strides[d];
  parameters_.push_back({kind, memory_type(expr.dtype), letter + str(tensors_.size())});
  tensors_.push_back(number);
  strides_.push_back(strides);
  element_sizes_.push_back(element_size(expr.dtype));
}

size_t Writer::tensor_of(int input) const {
  return static_cast<size_t>(std::ranges::find(out_.inputs, input) - out_.inputs.begin());
}

std::string Writer::prelude(bool wide) const {
  const auto uses = [&](ScalarType dtype) {
    return std::ranges::find(exprs_, dtype, &Expr::dtype) != exprs_.end();
  };
  return "// Made by gradus::fuse.\n" + codegen::prelude(uses, wide) + formulas_.text() + "\n";
}

std::string Writer::memory_type(ScalarType dtype) { return std::string(codegen::cuda_name(dtype)); }
std::string Writer::type(ScalarType dtype) {
  return memory_type(dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype);
}
std::string Writer::loaded(ScalarType dtype, const std::string& x) {
  if (dtype == kHalf) return "__half2float(" + x + ")";
  return dtype == kBFloat16 ? "__bfloat162float(" + x + ")" : x;
}
std::string Writer::stored(ScalarType dtype, const std::string& x) {
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

std::string Writer::name(int expr) const {
  return exprs_[expr].kind == Kind::number ? literal(exprs_[expr].number) : "v" + str(expr);
}

std::string Writer::operand(const Expr& expr, int i, const std::string& of_type) const {
  const int from = expr.operands[i];
  if (from < 0) return of_type + "()";
  if (exprs_[from].kind != Kind::number && type(exprs_[from].dtype) == of_type) return name(from);
  return of_type + "(" + name(from) + ")";
}

std::string Writer::computed_in(const Expr& expr) const {
  if (expr.dtype != kBool || expr.kind == Kind::convert || expr.kind == Kind::where)
    return type(expr.dtype);
  for (const int from : expr.operands)  // a comparison
    if (from >= 0 && exprs_[from].kind != Kind::number) return type(exprs_[from].dtype);
  return "double";
}

std::string Writer::value(const Expr& expr) {
  const std::string t = computed_in(expr);
  const bool moves = expr.kind == Kind::where || expr.kind == Kind::convert;
  if (!moves && expr.dtype != kBool && !isFloatingType(expr.dtype))
    fail<NotFusable>("fuse: kernels made at run time do not compute in ", expr.dtype);
  const auto operands = [&](int count) {
    Formulas::Operands out;
    for (int i = 0; i < count; ++i) out.push_back(operand(expr, i, t));
    return out;
  };
  switch (expr.kind) {
    case Kind::map:
      return formulas_.call(static_cast<UnaryOp>(expr.op), operands(1));
    case Kind::map_grad: {
      const auto op = static_cast<UnaryOp>(expr.op);
      const std::string slope =
          formulas_.derivative(op, {operand(expr, 1, t), operand(expr, 2, t)});
      const std::string product = operand(expr, 0, t) + " * " + slope;
      return chooses(op) ? slope + " == 0 ? " + t + "(0) : " + product : product;
    }
    case Kind::zip:
      return formulas_.call(static_cast<BinaryOp>(expr.op), operands(2));
    case Kind::ternary: {
      Formulas::Operands xyzw = operands(3);
      xyzw.push_back(t + "(" + literal(expr.number) + ")");
      return formulas_.call(static_cast<TernaryOp>(expr.op), xyzw);
    }
    case Kind::where:
      return operand(expr, 0, "bool") + " ? " + operand(expr, 1, t) + " : " + operand(expr, 2, t);
    case Kind::convert: {
      const std::string from = name(expr.operands[0]);
      if (expr.dtype == kBool) return from + " != 0";
      const bool narrow = !isFloatingType(expr.dtype) && expr.dtype != kLong;  // as convert() does
      return narrow ? t + "((long long)" + from + ")" : operand(expr, 0, t);
    }
    default:
      fail<NotFusable>("fuse: a kernel made at run time lacks a kind of expr");
  }
}

std::string Writer::line(int expr, const std::string& indent) {
  const ScalarType dtype = exprs_[expr].dtype;
  const std::string value = this->value(exprs_[expr]);
  const bool rounds = dtype == kHalf || dtype == kBFloat16;
  return line(expr, indent, rounds ? loaded(dtype, stored(dtype, value)) : value);
}
std::string Writer::line(int expr, const std::string& indent, const std::string& value) const {
  return indent + "const " + type(exprs_[expr].dtype) + " v" + str(expr) + " = " + value + ";\n";
}

KernelText make_text(const Kernel& kernel, int most_vector) {
  const bool reduces = kernel.columns < static_cast<int64_t>(kernel.domain.size());
  return reduces ? write_rows(kernel, most_vector) : write_elements(kernel, most_vector);
}

}  // namespace gradus::fused
