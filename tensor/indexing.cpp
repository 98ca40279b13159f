// Slices and indices as text.
#include "gradus/tensor/indexing.h"

#include <ostream>

namespace gradus::indexing {

std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ':' << slice.stop() << ':' << slice.step();
}

std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  using enum TensorIndex::Kind;
  switch (index.kind()) {
    case none:
      return out << "None";
    case ellipsis:
      return out << "...";
    case integer:
      return out << index.integer();
    case boolean:
      return out << (index.boolean() ? "true" : "false");
    case slice:
      return out << index.slice();
    case tensor:
      return out << index.tensor();
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices) {
  out << '(';
  for (size_t i = 0; i < indices.size(); ++i) out << (i > 0 ? ", " : "") << indices[i];
  return out << ')';
}

}  // namespace gradus::indexing
