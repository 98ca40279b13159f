// All of optim.
#pragma once

#include "gradus/optim/optimizer.h"
#include "gradus/optim/sgd.h"
