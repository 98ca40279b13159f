// The functions that small programs call most, without a list of overloads in between.
#pragma once

#include "rows/rows.h"

namespace gradus::python {

// Puts them before the rows' own functions, which get the calls that these do not take.
// REQUIRES: the rows are bound.
void bind_direct(const Scopes& scopes);

}  // namespace gradus::python
