// What an element of an operation costs.
#pragma once

#include <cstdint>

#include "gradus/tensor/table/ops.h"

namespace gradus::cpu {

// A few instructions; a formula of tensor/math/; a function of the C library or a loop of steps,
// which no vector instruction makes faster.
enum class Cost : uint8_t { cheap, formula, scalar };

constexpr Cost cost_of(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp:
    case UnaryOp::exp2:
    case UnaryOp::expm1:
    case UnaryOp::log:
    case UnaryOp::log2:
    case UnaryOp::log10:
    case UnaryOp::log1p:
    case UnaryOp::logit:
    case UnaryOp::sin:
    case UnaryOp::cos:
    case UnaryOp::tan:
    case UnaryOp::asin:
    case UnaryOp::acos:
    case UnaryOp::atan:
    case UnaryOp::sinh:
    case UnaryOp::cosh:
    case UnaryOp::tanh:
    case UnaryOp::asinh:
    case UnaryOp::acosh:
    case UnaryOp::atanh:
    case UnaryOp::tanhshrink:
    case UnaryOp::erf:
    case UnaryOp::erfc:
    case UnaryOp::erfinv:
    case UnaryOp::sinc:
    case UnaryOp::lgamma:
    case UnaryOp::sigmoid:
    case UnaryOp::log_sigmoid:
    case UnaryOp::silu:
    case UnaryOp::gelu:
    case UnaryOp::gelu_tanh:
    case UnaryOp::mish:
    case UnaryOp::selu:
      return Cost::formula;
    case UnaryOp::digamma:
    case UnaryOp::i0:
    case UnaryOp::i1:
      return Cost::scalar;
    default:
      return Cost::cheap;
  }
}

constexpr Cost cost_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::floor_divide:
    case BinaryOp::remainder:
    case BinaryOp::fmod:
    case BinaryOp::pow:
    case BinaryOp::atan2:
    case BinaryOp::hypot:
    case BinaryOp::logaddexp:
    case BinaryOp::logaddexp2:
    case BinaryOp::xlogy:
    case BinaryOp::xlog1py:
      return Cost::formula;
    case BinaryOp::digamma_slope:
    case BinaryOp::gcd:
    case BinaryOp::lcm:
      return Cost::scalar;
    default:
      return Cost::cheap;
  }
}

constexpr Cost cost_of(TernaryOp op) {
  return op == TernaryOp::elu || op == TernaryOp::softplus ? Cost::formula : Cost::cheap;
}

}  // namespace gradus::cpu
