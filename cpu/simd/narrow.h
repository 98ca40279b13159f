// Which operations have loops on integers of 8 to 32 bits, and on bool: those whose result is that
// in int64, wrapped around. The others pass through int64 block by block (run_loop.h).
#pragma once

#include "gradus/tensor/table/ops.h"

namespace gradus::cpu {

constexpr bool stays_narrow(UnaryOp op) {
  switch (op) {
    case UnaryOp::neg:
    case UnaryOp::abs:
    case UnaryOp::square:
    case UnaryOp::relu:
    case UnaryOp::sign:
    case UnaryOp::step:
      return true;
    default:
      return false;
  }
}
constexpr bool stays_narrow(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::maximum:
    case BinaryOp::minimum:
    case BinaryOp::bitwise_and:
    case BinaryOp::bitwise_or:
    case BinaryOp::bitwise_xor:
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
    case BinaryOp::logical_xor:
      return true;
    default:
      return false;
  }
}
constexpr bool stays_narrow(TernaryOp op) {
  return op == TernaryOp::clamp || op == TernaryOp::threshold || op == TernaryOp::product ||
         op == TernaryOp::addcmul;
}

// bool is computed with in uint8, where true is 1: without what would give a 2.
constexpr bool stays_bool(UnaryOp op) { return op == UnaryOp::sign || op == UnaryOp::step; }
constexpr bool stays_bool(BinaryOp op) {
  return stays_narrow(op) && op != BinaryOp::add && op != BinaryOp::sub;
}
constexpr bool stays_bool(TernaryOp op) { return op == TernaryOp::clamp; }

}  // namespace gradus::cpu
