// What most sources of the extension include.
#pragma once

#include <nanobind/nanobind.h>

#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
