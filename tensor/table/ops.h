// The names of the tables' operations, as enums.
#pragma once

#include <cstdint>

namespace gradus {

enum class UnaryOp : uint8_t {
#define UNARY(name, ...) name,
#define PREDICATE(name, ...) name,
#include "gradus/tensor/table/elementwise.def"
};

enum class BinaryOp : uint8_t {
#define BINARY(name, ...) name,
#define INTEGER(name, ...) name,
#define COMPARISON(name, ...) name,
#include "gradus/tensor/table/elementwise.def"
};

enum class TernaryOp : uint8_t {
#define TERNARY(name, ...) name,
#include "gradus/tensor/table/ternary.def"
};

enum class ReduceOp : uint8_t {
#define REDUCTION(name, ...) name,
#include "gradus/tensor/table/reductions.def"
};

enum class ScanOp : uint8_t {
#define SCAN(name, ...) name,
#include "gradus/tensor/table/scans.def"
};

const char* name_of(UnaryOp op);
const char* name_of(BinaryOp op);
const char* name_of(TernaryOp op);
const char* name_of(ReduceOp op);
const char* name_of(ScanOp op);

// Whether results are of Bool, whatever the operands are.
bool gives_bool(UnaryOp op);
bool gives_bool(BinaryOp op);

}  // namespace gradus
