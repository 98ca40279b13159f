// Which examples of a data set come next: gradus::data::samplers, with libtorch's names.
#pragma once

#include "gradus/data/samplers/distributed.h"
#include "gradus/data/samplers/random.h"
#include "gradus/data/samplers/sequential.h"
#include "gradus/data/samplers/stream.h"
#include "gradus/data/samplers/weighted.h"
