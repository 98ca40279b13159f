// c10::makeArrayRef, which tells the type of the elements by the argument's.
#pragma once

#include "gradus/tensor/shape.h"

namespace gradus {

template <class T>
ArrayRef<T> makeArrayRef(const T& one) {
  return one;
}
template <class T>
ArrayRef<T> makeArrayRef(const T* data, size_t length) {
  return {data, length};
}
template <class T>
ArrayRef<T> makeArrayRef(const T* begin, const T* end) {
  return {begin, end};
}
template <class T>
ArrayRef<T> makeArrayRef(const std::vector<T>& list) {
  return list;
}
template <class T, size_t N>
ArrayRef<T> makeArrayRef(const std::array<T, N>& list) {
  return list;
}
template <class T, size_t N>
ArrayRef<T> makeArrayRef(const T (&list)[N]) {
  return list;
}

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
