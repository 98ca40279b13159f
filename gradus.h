// Gradus, all of it: #include <gradus/gradus.h>
#pragma once

#include "gradus/autograd/anomaly_mode.h"
#include "gradus/autograd/checkpoint.h"
#include "gradus/autograd/engine.h"
#include "gradus/autograd/function.h"
#include "gradus/autograd/functional.h"
#include "gradus/autograd/functions.h"
#include "gradus/autograd/grad_mode.h"
#include "gradus/cuda/cuda.h"
#include "gradus/data/image_dataset.h"
#include "gradus/nn/nn.h"
#include "gradus/optim/optim.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/generator.h"
#include "gradus/tensor/indexing.h"
#include "gradus/tensor/tensor.h"
