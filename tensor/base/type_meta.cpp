// The names of C++ types that TypeMeta tells.
#include "gradus/tensor/base/type_meta.h"

#include <ostream>

namespace gradus {

std::string_view TypeMeta::name() const {
  switch (type_) {
    case kBool:
      return "bool";
    case kByte:
      return "unsigned char";
    case kChar:
      return "signed char";
    case kShort:
      return "short int";
    case kInt:
      return "int";
    case kLong:
      return "long int";
    case kHalf:
      return "c10::Half";
    case kBFloat16:
      return "c10::BFloat16";
    case kFloat:
      return "float";
    case kDouble:
      return "double";
    case kComplexFloat:
      return "c10::complex<float>";
    case kComplexDouble:
      return "c10::complex<double>";
  }
  return "nullptr (uninitialized)";
}
std::ostream& operator<<(std::ostream& out, TypeMeta type) { return out << type.name(); }

}  // namespace gradus
