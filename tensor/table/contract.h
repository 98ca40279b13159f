// The last columns of backend.def: what devices take, how many tensors are results, and the rule
// for batches of vmap.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "gradus/tensor/base/device.h"
#include "gradus/tensor/base/dtype.h"

namespace gradus {

// The functions of Backend.
enum class Function : uint8_t {
#define ROW(result, name, ...) name,
#include "gradus/tensor/table/backend.def"
};

namespace contracts {

// Where the elements of a tensor lie: anywhere; neighbours along the last dimension side by side,
// in rows that do not overlap; row-major without gaps.
enum class Strides : uint8_t { any, rows, contiguous };

// A parameter of a function, as contracts::matmul::out is one.
class Parameter {
 public:
  static constexpr int kMost = 16;  // of a function
  template <class Enum>
  requires std::is_enum_v<Enum>
  constexpr Parameter(Enum number) : number_(number) {}  // NOLINT: implicit
  constexpr Parameter(Function f, int place) : number_(static_cast<int>(f) * kMost + place) {}

  constexpr Function function() const { return static_cast<Function>(number_ / kMost); }
  constexpr uint32_t bit() const { return uint32_t{1} << (number_ % kMost); }

 private:
  int number_;
};

// A set of dtypes: a bit for each.
constexpr uint32_t dtypes(std::initializer_list<ScalarType> list) {
  uint32_t out = 0;
  for (const ScalarType dtype : list) out |= uint32_t{1} << static_cast<int>(dtype);
  return out;
}
inline constexpr uint32_t kFloats = dtypes({kFloat, kDouble}), kHalves = dtypes({kHalf, kBFloat16}),
                          kWide = dtypes({kBool, kByte, kChar, kShort, kInt, kLong}) | kFloats,
                          kAny = kWide | kHalves | dtypes({kComplexFloat, kComplexDouble});

// The bits of some parameters; of all where there is none.
constexpr uint32_t bits(auto... of) {
  return sizeof...(of) == 0 ? ~uint32_t{0} : (uint32_t{0} | ... | Parameter(of).bit());
}

// The tensors that every device takes: those of some dtypes, with any strides. A member function
// says something else of the parameters that it is given, and of all where it is given none.
struct Takes {
  constexpr Takes contiguous(auto... of) const {
    return strided(of...).with(&Takes::are_contiguous, of...);
  }
  constexpr Takes rows(auto... of) const { return strided(of...).with(&Takes::are_rows, of...); }
  constexpr Takes strided(auto... of) const {
    Takes out = *this;
    out.are_contiguous &= ~bits(of...), out.are_rows &= ~bits(of...);
    return out;
  }
  // Long, Bool, any dtype.
  constexpr Takes longs(auto... of) const { return with(&Takes::are_long, of...); }
  constexpr Takes bools(auto... of) const { return with(&Takes::are_bool, of...); }
  constexpr Takes of_any(auto... of) const { return with(&Takes::have_any, of...); }
  // Operands of one dtype; one of a single element may have the dtype that they are computed in.
  constexpr Takes alike() const { return with(&Takes::are_alike); }
  constexpr Takes with(uint32_t Takes::*which, auto... of) const {
    Takes out = *this;
    out.*which |= bits(of...);
    return out;
  }

  uint32_t dtypes;
  uint32_t are_contiguous = 0, are_rows = 0, are_long = 0, are_bool = 0,
           have_any = 0;  // parameters
  uint32_t are_alike = 0;
};
// wide: reals but half types.
inline constexpr Takes any{kAny}, reals{kWide | kHalves}, wide{kWide},
    numbers{dtypes({kLong}) | kFloats}, floating{kFloats};

// More that one device takes.
struct Beside {
  bool halves = false;             // half types where others take Float
  bool mixed = false;              // operands of any dtypes: they are converted as they are read
  bool channels_last = false;      // contiguous tensors whose channels lie last
  bool padded = false;             // results in rows that begin at multiples of 16 bytes
  uint32_t strided = 0, rows = 0;  // parameters that others take contiguous
  uint32_t bytes = 0;              // parameters that are Long or Byte where others take Long

  constexpr Beside operator|(const Beside& other) const {
    return {halves || other.halves, mixed || other.mixed,    channels_last || other.channels_last,
            padded || other.padded, strided | other.strided, rows | other.rows,
            bytes | other.bytes};
  }
};
inline constexpr Beside nothing, halves{.halves = true}, mixed{.mixed = true},
    channels_last{.channels_last = true};
constexpr Beside any_strides(auto... of) { return {.strided = bits(of...)}; }
constexpr Beside in_rows(auto... of) { return {.rows = bits(of...)}; }
constexpr Beside as_bytes(auto... of) { return {.bytes = bits(of...)}; }
constexpr Beside padded_rows(auto of) { return {.padded = true, .rows = bits(of)}; }

// How the samples of a batch are computed. lift: by one call, with the batch axes in front of every
// tensor. shift: the same, and `dim` counts them. draw: by one call for the axes whose samples draw
// different numbers, and a call for each sample of the others, which draw the same ones. loop: by a
// call for each sample, which is said once, or by the default that a function has.
enum class Rule : uint8_t { lift, shift, draw, loop };
// special: by the function of this name in batching::Special, and by `rule` where that declines.
struct Batch {
  Rule rule;
  bool special = false;
};
inline constexpr Batch lift{Rule::lift}, shift{Rule::shift}, draw{Rule::draw}, loop{Rule::loop},
    special{Rule::loop, true}, special_or_lift{Rule::lift, true};

struct Contract {
  int results;  // how many of the last tensors
  Batch batch;
  Takes takes;
  Beside cuda = nothing;

  constexpr const Beside& beside(DeviceType device) const {
    return device == kCUDA ? cuda : nothing;
  }
};

// The parameters and the contract of each function, in a namespace of its name.
#define GRADUS_ENUMERATED(...) __VA_ARGS__
#define ROW(result, name, called, parameters, arguments, ...)          \
  namespace name {                                                     \
  enum : int {                                                         \
    kBefore = static_cast<int>(Function::name) * Parameter::kMost - 1, \
    GRADUS_ENUMERATED arguments                                        \
  };                                                                   \
  inline constexpr Contract kContract = {__VA_ARGS__};                 \
  }
#include "gradus/tensor/table/backend.def"
#undef GRADUS_ENUMERATED

inline constexpr Contract kContracts[] = {
#define ROW(result, name, ...) name::kContract,
#include "gradus/tensor/table/backend.def"
};
constexpr const Contract& of(Function f) { return kContracts[static_cast<int>(f)]; }
constexpr bool takes_dtype(Parameter p, DeviceType device, ScalarType dtype) {
  const Contract& row = of(p.function());
  const bool bytes = row.beside(device).bytes & p.bit();
  const uint32_t taken = row.takes.are_long & p.bit()   ? dtypes({kLong, bytes ? kByte : kLong})
                         : row.takes.are_bool & p.bit() ? dtypes({kBool})
                         : row.takes.have_any & p.bit() ? kAny
                         : row.beside(device).halves    ? row.takes.dtypes | kHalves
                                                        : row.takes.dtypes;
  return (taken & dtypes({dtype})) != 0;
}
constexpr Strides strides_of(Parameter p, DeviceType device) {
  const Contract& row = of(p.function());
  const Beside& beside = row.beside(device);
  return beside.strided & p.bit()             ? Strides::any
         : beside.rows & p.bit()              ? Strides::rows
         : row.takes.are_contiguous & p.bit() ? Strides::contiguous
         : row.takes.are_rows & p.bit()       ? Strides::rows
                                              : Strides::any;
}

}  // namespace contracts
}  // namespace gradus
