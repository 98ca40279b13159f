// All of nn.
#pragma once

#include "gradus/nn/cloneable.h"
#include "gradus/nn/functional/padding.h"
#include "gradus/nn/init.h"
#include "gradus/nn/layer.h"
#include "gradus/nn/module.h"
#include "gradus/nn/modules/activation.h"
#include "gradus/nn/modules/conv.h"
#include "gradus/nn/modules/distance.h"
#include "gradus/nn/modules/dropout.h"
#include "gradus/nn/modules/linear.h"
#include "gradus/nn/modules/loss.h"
#include "gradus/nn/modules/normalization.h"
#include "gradus/nn/modules/pooling.h"
#include "gradus/nn/modules/shape.h"
#include "gradus/nn/sequential.h"
