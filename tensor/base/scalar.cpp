// Scalars as text, and the error of one that does not fit a type.
#include "gradus/tensor/base/scalar.h"

#include <ostream>

namespace gradus {

void Scalar::fail_to_fit(std::string_view op, std::string_view type, const char* remedy) const {
  fail(op, ": value cannot be converted to type ", type, " without overflow: ", *this,
       " is beyond its limits; ", remedy);
}

Scalar Scalar::operator-() const {
  check<TypeError>(!isBoolean(), "Scalar: -x of a boolean is not defined; subtract it from 1");
  if (isFloatingPoint()) return -real_;
  if (isComplex()) return -toComplexDouble();
  return static_cast<int64_t>(-static_cast<uint64_t>(integer_));  // the least number is its own
}

static void append_parts(std::string& out, std::complex<double> x) {
  out += '(';
  detail::append(out, x.real());
  out += ',';
  detail::append(out, x.imag());
  out += ')';
}

void append(std::string& out, const Scalar& x) {
  if (x.isBoolean())
    detail::append(out, x.toBool());
  else if (x.isFloatingPoint())
    detail::append(out, x.toDouble());
  else if (x.isComplex())
    append_parts(out, x.toComplexDouble());
  else
    detail::append(out, x.toLong());
}

std::ostream& operator<<(std::ostream& out, const Scalar& x) {
  if (x.isBoolean()) return out << (x.toBool() ? "true" : "false");
  if (x.isComplex()) return out << x.toComplexDouble();
  return x.isFloatingPoint() ? out << x.toDouble() : out << x.toLong();
}

}  // namespace gradus
