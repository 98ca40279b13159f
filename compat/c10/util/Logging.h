// Containers in a stream, as libtorch prints them: std::cout << std::vector<int64_t>{1, 2} is "1
// 2".
#pragma once

#include <map>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

// The namespace of the containers is the only one in which every caller finds these.
namespace std {

template <class A, class B>
ostream& operator<<(ostream& out, const pair<A, B>& x);  // NOLINT

#define GRADUS_PRINTED(container)                                     \
  template <class... Types>                                           \
  ostream& operator<<(ostream& out, const container<Types...>& all) { \
    const char* separator = "";                                       \
    for (const auto& x : all) {                                       \
      out << separator << x;                                          \
      separator = " ";                                                \
    }                                                                 \
    return out;                                                       \
  }
GRADUS_PRINTED(vector)
GRADUS_PRINTED(map)
GRADUS_PRINTED(set)
#undef GRADUS_PRINTED

template <class A, class B>
ostream& operator<<(ostream& out, const pair<A, B>& x) {  // NOLINT
  return out << '(' << x.first << ", " << x.second << ')';
}

}  // namespace std

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
