// Functions that instrumented code calls before an operation with undefined behaviour. Kernels are
// compiled with -fsanitize=bounds,alignment,... and these functions take the place of those of the
// sanitizer's library. If a function returns, the kernel continues.

#include <sim/loads.h>

#include <bit>
#include <cstdint>
#include <sstream>
#include <string>

#include "gradus/cuda/sim/check/access.h"
#include "gradus/cuda/sim/check/mistake.h"

namespace {

using gradus::cuda::sim::is_checked_here;
using gradus::cuda::sim::Kind;
using gradus::cuda::sim::report_mistake;
using gradus::cuda::sim::stop_for_mistake;

// The layouts are those of GCC's calls: a place in the source text, then the data of each check.
struct Type {
  uint16_t kind;  // 0: an integer, 1: a floating-point number
  uint16_t info;  // integer: 2 * log2(bits) + is_signed; floating-point number: its bits
  char name[1];   // in quotes
};
struct Place {
  const char* file;
  uint32_t line, column;
};
struct Bounds {
  Place place;
  const Type *array, *index;
};
struct Mismatch {
  Place place;
  const Type* type;
  uint8_t log2_of_alignment;
  uint8_t use;  // 0: a load, 1: a store, others
};
struct Shift {
  Place place;
  const Type *left, *right;
};
struct Division {
  Place place;
  const Type* type;
};
struct Cast {
  Place place;
  const Type *from, *to;
};

// A value comes in a register, or behind a pointer if it does not fit into one.
std::string text_of(const Type& type, uintptr_t value) {
  std::ostringstream out;
  if (type.kind == 1) {
    if (type.info == 32)
      out << std::bit_cast<float>(static_cast<uint32_t>(value));
    else if (type.info == 64)
      out << std::bit_cast<double>(uint64_t{value});
    else
      out << "a value";
    return out.str();
  }
  const unsigned bits = 1u << (type.info >> 1);
  if (bits > 64) return "a value";
  if (type.info & 1)
    out << (static_cast<int64_t>(uint64_t{value} << (64 - bits)) >> (64 - bits));
  else
    out << value;
  return out.str();
}
// The access that follows reports an address outside of all memory.
// who(): its text, made where nobody watches.
template <class Who>
void stop_misaligned(uintptr_t address, size_t alignment, const Who& who, const char* what,
                     uintptr_t pc) {
  if (!is_checked_here() || !gradus::cuda::sim::is_in_use(address)) return;
  stop_for_mistake(Kind::misaligned, what, pc, [&] {
    return "the address is no multiple of " + std::to_string(alignment) + ", which " + who() +
           " needs; use a narrower type, or align what it points into";
  });
}

// An integer as the bits of its type.
unsigned bits_of(const Type& type) { return 1u << (type.info >> 1); }

}  // namespace

extern "C" {

void __ubsan_handle_out_of_bounds(const Bounds* where, uintptr_t index) {
  stop_for_mistake(Kind::out_of_bounds, "indexes", GRADUS_SIM_CALLER, [&] {
    return "index " + text_of(*where->index, index) + " of an array of type " + where->array->name;
  });
}

void __ubsan_handle_type_mismatch_v1(const Mismatch* where, uintptr_t address) {
  const char* const what = where->use == 0 ? "reads" : where->use == 1 ? "writes" : "refers to it";
  stop_misaligned(
      address, 1u << where->log2_of_alignment,
      [&] { return "type " + std::string(where->type->name); }, what, GRADUS_SIM_CALLER);
}

// A GPU gives these two operations another result than the host does.
void __ubsan_handle_shift_out_of_bounds(const Shift* where, uintptr_t left, uintptr_t right) {
  report_mistake(Kind::arithmetic, "shifts", GRADUS_SIM_CALLER, [&] {
    const unsigned bits = bits_of(*where->left);
    return "a value of " + std::to_string(bits) + " bits, " + text_of(*where->left, left) +
           ", is shifted by " + text_of(*where->right, right) + "; shift by 0 to " +
           std::to_string(bits - 1);
  });
}
void __ubsan_handle_float_cast_overflow(const Cast* where, uintptr_t value) {
  report_mistake(Kind::arithmetic, "converts", GRADUS_SIM_CALLER, [&] {
    return "type " + std::string(where->to->name) + " has no value for " +
           text_of(*where->from, value) + "; clamp it first, or use __float2int_rz or its like";
  });
}

void __ubsan_handle_divrem_overflow(const Division* where, uintptr_t left, uintptr_t right) {
  stop_for_mistake(Kind::arithmetic, "divides", GRADUS_SIM_CALLER, [&] {
    return text_of(*where->type, left) + " is divided by " + text_of(*where->type, right);
  });
}

}  // extern "C"

void gradus::cuda::sim::refuse_alignment(const void* address, size_t alignment) {
  stop_misaligned(
      reinterpret_cast<uintptr_t>(address), alignment,
      [&] { return "an access of " + std::to_string(alignment) + " bytes"; }, "accesses it",
      GRADUS_SIM_CALLER);
}
