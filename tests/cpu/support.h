// What the tests of the CPU backend share.
#pragma once

#include "tests/random.h"
