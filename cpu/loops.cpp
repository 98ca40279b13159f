#include "gradus/cpu/loops.h"

#include "gradus/cpu/cost.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/elementwise.h"

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

// Raises the error of an operation that is not computed in a dtype.
void check_computed(UnaryOp op, ScalarType dtype) {
  visit_op(op, [&](auto row) { visit_computed<scalar::Unary<row.value>>(dtype, [](auto) {}); });
}
void check_computed(BinaryOp op, ScalarType dtype) {
  visit_op(op, [&](auto row) { visit_computed<scalar::Binary<row.value>>(dtype, [](auto) {}); });
}
void check_computed(TernaryOp op, ScalarType dtype) {
  visit_op(op, [&](auto row) { visit_computed<scalar::Ternary<row.value>>(dtype, [](auto) {}); });
}

// The loop of an operation in one of the tables of Loops.
template <class Op, size_t n>
Loop find(Op op, ScalarType dtype, Loop const (Loops::*table)[n]) {
  const InstructionSet set = instruction_set();
  const bool has_loops = dtype == kFloat || dtype == kDouble || dtype == kLong;
  if (has_loops)
    for (const InstructionSet s : {set, InstructionSet::baseline})
      if (const Loop loop = (loops_of(s, dtype).*table)[static_cast<int>(op)]) return loop;
  check_computed(op, dtype);
  fail<TypeError>(name_of(op), ": has no derivative in dtype ", short_name(dtype),
                  "; detach its input");
}

int64_t grain_of(Cost cost) {
  return cost == Cost::cheap ? kGrain : cost == Cost::formula ? kGrain / 4 : kGrain / 16;
}

}  // namespace

Loop map_loop(UnaryOp op, ScalarType dtype) { return find(op, dtype, &Loops::map); }
Loop map_grad_loop(UnaryOp op, ScalarType dtype) { return find(op, dtype, &Loops::map_grad); }
Loop zip_loop(BinaryOp op, ScalarType dtype) { return find(op, dtype, &Loops::zip); }
Loop zip3_loop(TernaryOp op, ScalarType dtype) { return find(op, dtype, &Loops::zip3); }

int64_t grain_of(UnaryOp op) { return grain_of(cost_of(op)); }
int64_t grain_of(BinaryOp op) { return grain_of(cost_of(op)); }
int64_t grain_of(TernaryOp op) { return grain_of(cost_of(op)); }

}  // namespace gradus::cpu
