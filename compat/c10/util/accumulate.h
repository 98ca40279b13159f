// c10::sum_integers and c10::multiply_integers, in 64 bits.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>

namespace gradus {

template <std::input_iterator Iterator>
int64_t sum_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, int64_t{0});
}
template <std::input_iterator Iterator>
int64_t multiply_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies<>());
}
template <class List>
int64_t sum_integers(const List& list) {
  return gradus::sum_integers(std::begin(list), std::end(list));
}
template <class List>
int64_t multiply_integers(const List& list) {
  return gradus::multiply_integers(std::begin(list), std::end(list));
}

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
