#include "gradus/cpu/loops.h"

#include "gradus/cpu/parallel.h"
#include "gradus/tensor/dispatch.h"

namespace gradus::cpu {

const Loops& loops_of(InstructionSet set, ScalarType dtype) {
  if (dtype == kLong) return baseline::long_loops;
  const bool narrow = dtype == kFloat;
#ifdef __x86_64__
  if (set == InstructionSet::avx512) return narrow ? avx512::float_loops : avx512::double_loops;
  if (set == InstructionSet::avx2) return narrow ? avx2::float_loops : avx2::double_loops;
#endif
  return narrow ? baseline::float_loops : baseline::double_loops;
}

namespace {

// The loop of an operation in one of the tables of Loops.
template <class Op, size_t n>
Loop find(Op op, ScalarType dtype, Loop const (Loops::*table)[n]) {
  visit_numbers(name_of(op), dtype, [](auto) {});
  const Loop loop = (loops_of(instruction_set(), dtype).*table)[static_cast<int>(op)];
  if (!loop) visit_floating(name_of(op), dtype, [](auto) {});  // says what is wrong
  return loop;
}

// Of functions that are vector code, and of those of the C library, which are not.
constexpr int64_t kFormulaGrain = kGrain / 2, kLibraryGrain = kGrain / 16;

}  // namespace

Loop map_loop(UnaryOp op, ScalarType dtype) { return find(op, dtype, &Loops::map); }
Loop map_grad_loop(UnaryOp op, ScalarType dtype) { return find(op, dtype, &Loops::map_grad); }
Loop zip_loop(BinaryOp op, ScalarType dtype) { return find(op, dtype, &Loops::zip); }

int64_t grain_of(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp:
    case UnaryOp::exp2:
    case UnaryOp::expm1:
    case UnaryOp::log:
    case UnaryOp::log2:
    case UnaryOp::log10:
    case UnaryOp::log1p:
    case UnaryOp::sin:
    case UnaryOp::cos:
    case UnaryOp::tanh:
    case UnaryOp::erf:
    case UnaryOp::sigmoid:
    case UnaryOp::log_sigmoid:
    case UnaryOp::silu:
    case UnaryOp::gelu:
      return kFormulaGrain;
    case UnaryOp::tan:
    case UnaryOp::asin:
    case UnaryOp::acos:
    case UnaryOp::atan:
    case UnaryOp::sinh:
    case UnaryOp::cosh:
    case UnaryOp::asinh:
    case UnaryOp::acosh:
    case UnaryOp::atanh:
    case UnaryOp::erfc:
      return kLibraryGrain;
    default:
      return kGrain;
  }
}
int64_t grain_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::logaddexp:
    case BinaryOp::xlogy:
      return kFormulaGrain;
    case BinaryOp::pow:
    case BinaryOp::atan2:
    case BinaryOp::hypot:
      return kLibraryGrain;
    default:
      return kGrain;
  }
}

}  // namespace gradus::cpu
