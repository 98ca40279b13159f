// CUDA's pure device functions: each a function of its arguments, in the global namespace.
#pragma once

// The overloads of abs, sqrt, exp, ... for float, which CUDA too has in the global namespace.
#include <math.h>
#include <stdlib.h>

#include <sim/casts.h>
#include <sim/floats.h>
#include <sim/integers.h>
#include <sim/loads.h>
#include <sim/min_max.h>
#include <sim/rounding.h>
#include <sim/special.h>
