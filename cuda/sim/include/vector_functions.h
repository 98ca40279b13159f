// The make_ functions, which vector_types.h has.
#pragma once

#include <vector_types.h>
