// All of nn.
#pragma once

#include "gradus/nn/activation.h"
#include "gradus/nn/cloneable.h"
#include "gradus/nn/functional/activation.h"
#include "gradus/nn/functional/distance.h"
#include "gradus/nn/functional/dropout.h"
#include "gradus/nn/functional/normalization.h"
#include "gradus/nn/init.h"
#include "gradus/nn/linear.h"
#include "gradus/nn/loss.h"
#include "gradus/nn/module.h"
#include "gradus/nn/padding.h"
#include "gradus/nn/sequential.h"
