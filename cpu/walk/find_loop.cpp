// Finds loops in the tables of the instruction sets, and says what an element of them costs.
#include "gradus/cpu/walk/find_loop.h"

#include "gradus/cpu/parallel.h"
#include "gradus/tensor/math/elementwise.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

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

bool gives_bool(TernaryOp) { return false; }

// The loop of an operation in one of the tables of Loops.
template <class Op, size_t n>
TypedLoop find(Op op, ScalarType dtype, Loop const (Loops::*table)[n]) {
  const ScalarType computed = computed_type(dtype);
  if (isComplexType(dtype)) check_computed(op, computed);
  for (const ScalarType reads : {dtype, computed}) {
    const auto loop_in = [&](InstructionSet set) {
      return (loops_of(set, reads).*table)[static_cast<int>(op)];
    };
    Loop loop = loop_in(instruction_set());
    if (!loop) loop = loop_in(instruction_sets()[0]);  // that table is complete
    if (loop) return {loop, reads, gives_bool(op) ? kBool : reads};
  }
  check_computed(op, computed);
  fail<TypeError>(name_of(op), ": has no derivative in dtype ", short_name(dtype),
                  "; detach its input");
}

template <class Row>
constexpr int64_t grain = Row::work <= scalar::Work::cheap    ? kGrain
                          : Row::work != scalar::Work::scalar ? kGrain / 4
                                                              : kGrain / 16;
constexpr int64_t kUnaryGrains[] = {
#define UNARY(name, ...) grain<scalar::Unary<UnaryOp::name>>,
#define PREDICATE(name, ...) UNARY(name)
#include "gradus/tensor/table/elementwise.def"
};
constexpr int64_t kBinaryGrains[] = {
#define BINARY(name, ...) grain<scalar::Binary<BinaryOp::name>>,
#define INTEGER(name, ...) BINARY(name)
#define COMPARISON(name, ...) BINARY(name)
#include "gradus/tensor/table/elementwise.def"
};
constexpr int64_t kTernaryGrains[] = {
#define TERNARY(name, ...) grain<scalar::Ternary<TernaryOp::name>>,
#include "gradus/tensor/table/ternary.def"
};

}  // namespace

TypedLoop map_loop(UnaryOp op, ScalarType dtype) { return find(op, dtype, &Loops::map); }
TypedLoop map_grad_loop(UnaryOp op, ScalarType dtype) { return find(op, dtype, &Loops::map_grad); }
TypedLoop zip_loop(BinaryOp op, ScalarType dtype) {
  TypedLoop out = find(op, dtype, &Loops::zip);
  const Loops& loops = loops_of(instruction_set(), out.reads);
  for (int i = 0; i < 2; ++i) out.of_number[i] = loops.zip_number[i][static_cast<int>(op)];
  return out;
}
TypedLoop ternary_loop(TernaryOp op, ScalarType dtype) { return find(op, dtype, &Loops::ternary); }

Loop convert_loop(ScalarType from, ScalarType to) {
  return loops_of(instruction_set(), from).convert[static_cast<int>(to)];
}
Loop repeat_loop(size_t element_size) {
  const ScalarType dtype = element_size == 1   ? kByte
                           : element_size == 2 ? kShort
                           : element_size == 4 ? kInt
                                               : kLong;
  return loops_of(instruction_set(), dtype).repeat;
}
Loop arange_loop(ScalarType dtype) { return loops_of(instruction_set(), dtype).arange; }

int64_t grain_of(UnaryOp op) { return kUnaryGrains[static_cast<int>(op)]; }
int64_t grain_of(BinaryOp op) { return kBinaryGrains[static_cast<int>(op)]; }
int64_t grain_of(TernaryOp op) { return kTernaryGrains[static_cast<int>(op)]; }

}  // namespace gradus::cpu
