// The names of operations as enums: rows of the tables, draws of random numbers, and ways to
// scatter.
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

// Backend::random says what their numbers a and b are.
enum class Distribution : uint8_t {
  uniform,
  normal,
  log_normal,
  exponential,
  cauchy,
  geometric,
  bernoulli,
  randint
};
// The kind of number drawn for each element of a tensor; see Backend::random_map.
enum class RandomMap : uint8_t { bernoulli, dropout };
enum class CountOp : uint8_t { poisson, binomial };
// How scatter combines a number with the one in its place.
enum class ScatterOp : uint8_t { set, sum, prod, amax, amin };

const char* name_of(UnaryOp op);
const char* name_of(BinaryOp op);
const char* name_of(TernaryOp op);
const char* name_of(ReduceOp op);
const char* name_of(ScanOp op);

// Whether results are of Bool, whatever the operands are.
bool gives_bool(UnaryOp op);
bool gives_bool(BinaryOp op);

}  // namespace gradus
