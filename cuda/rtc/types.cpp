// Names of types in kernels, and numbers in those types.
#include "gradus/cuda/rtc/types.h"

#include <limits>
#include <map>

namespace gradus::cuda::rtc {

namespace {

KnownType of(ScalarType dtype) {
  return {element_size(dtype), isFloatingType(dtype), isSignedType(dtype), dtype};
}
KnownType unsigned_of(ScalarType dtype) { return {element_size(dtype), false, false, dtype}; }

template <class T>
std::array<char, 8> as_bytes(T value) {
  std::array<char, 8> out{};
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

}  // namespace

std::optional<KnownType> known_type(std::string_view name) {
  static const auto& all =
      *new std::map<std::string_view, KnownType>{{"bool", of(kBool)},
                                                 {"unsigned char", of(kByte)},
                                                 {"uint8_t", of(kByte)},
                                                 {"uint8", of(kByte)},
                                                 {"signed char", of(kChar)},
                                                 {"char", of(kChar)},
                                                 {"int8_t", of(kChar)},
                                                 {"int8", of(kChar)},
                                                 {"short", of(kShort)},
                                                 {"int16_t", of(kShort)},
                                                 {"int16", of(kShort)},
                                                 {"unsigned short", unsigned_of(kShort)},
                                                 {"uint16_t", unsigned_of(kShort)},
                                                 {"int", of(kInt)},
                                                 {"int32_t", of(kInt)},
                                                 {"int32", of(kInt)},
                                                 {"unsigned int", unsigned_of(kInt)},
                                                 {"uint32_t", unsigned_of(kInt)},
                                                 {"long", of(kLong)},
                                                 {"long long", of(kLong)},
                                                 {"int64_t", of(kLong)},
                                                 {"int64", of(kLong)},
                                                 {"ptrdiff_t", of(kLong)},
                                                 {"unsigned long", unsigned_of(kLong)},
                                                 {"unsigned long long", unsigned_of(kLong)},
                                                 {"uint64_t", unsigned_of(kLong)},
                                                 {"size_t", unsigned_of(kLong)},
                                                 {"__half", of(kHalf)},
                                                 {"half", of(kHalf)},
                                                 {"float16", of(kHalf)},
                                                 {"__nv_bfloat16", of(kBFloat16)},
                                                 {"nv_bfloat16", of(kBFloat16)},
                                                 {"bfloat16", of(kBFloat16)},
                                                 {"float", of(kFloat)},
                                                 {"float32", of(kFloat)},
                                                 {"double", of(kDouble)},
                                                 {"float64", of(kDouble)},
                                                 {"void", {0, false, false, std::nullopt}}};
  const auto found = all.find(name);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::array<char, 8>> converted(const Number& number, const KnownType& type) {
  if (type.dtype && isFloatingType(*type.dtype)) {
    if (*type.dtype == kDouble) return as_bytes(number.as_double());
    const auto value = static_cast<float>(number.as_double());
    if (*type.dtype == kHalf) return as_bytes(Half(value));
    if (*type.dtype == kBFloat16) return as_bytes(BFloat16(value));
    return as_bytes(value);
  }
  if (type.dtype == kBool) return as_bytes(number.as_double() != 0);
  const int64_t value = number.integer;
  if (type.size < 8) {
    const int bits = static_cast<int>(8 * type.size);
    const int64_t most = (int64_t{1} << (type.is_signed ? bits - 1 : bits)) - 1;
    const int64_t least = type.is_signed ? -most - 1 : 0;
    if (value < least || value > most) return {};
  } else if (value < 0 && type.is_signed == (number.type == "uint64_t")) {
    return {};  // below 0, or above what int64 holds
  }
  return as_bytes(value);
}

}  // namespace gradus::cuda::rtc
