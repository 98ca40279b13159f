// Changes of a few elements in place, made on a copy of these elements alone.
#pragma once

#include <functional>

#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

// Whether an index names so few elements of x that a copy of these alone is worth a sort.
bool touches_few(const Tensor& x, IntArrayRef index_sizes);

// Replaces the elements of x under an index by those that f returns for a copy of them. f gets the
// copy, of index's shape, and the place in it of each element of the index along dim. One element
// of the copy counts for a place that the index names several times. x changes last.
// REQUIRES: geometry as of Backend::scatter; index is not empty; f returns a tensor of that shape.
// Errors: IndexError as of scatter.
void change_touched(const IndexRule& rule, const Tensor& x, int64_t dim, const Tensor& index,
                    const std::function<Tensor(const Tensor& copy, const Tensor& places)>& f);

}  // namespace gradus::raw
