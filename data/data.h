// Data: data sets, transforms, samplers, loaders, readers of files: gradus::data, with libtorch's
// names.
#pragma once

#include "gradus/data/datasets/base.h"
#include "gradus/data/datasets/chunk.h"
#include "gradus/data/datasets/cifar.h"
#include "gradus/data/datasets/image_dataset.h"
#include "gradus/data/datasets/image_folder.h"
#include "gradus/data/datasets/map.h"
#include "gradus/data/datasets/mnist.h"
#include "gradus/data/datasets/shared.h"
#include "gradus/data/datasets/stateful.h"
#include "gradus/data/datasets/subset.h"
#include "gradus/data/datasets/tensor.h"
#include "gradus/data/datasets/text.h"

#include "gradus/data/readers/csv.h"
#include "gradus/data/readers/image.h"
#include "gradus/data/readers/npy.h"

#include "gradus/data/transforms/border.h"
#include "gradus/data/transforms/color.h"
#include "gradus/data/transforms/image.h"
#include "gradus/data/transforms/imputer.h"
#include "gradus/data/transforms/mixup.h"
#include "gradus/data/transforms/stack.h"
#include "gradus/data/transforms/tensor.h"

#include "gradus/data/samplers/samplers.h"

#include "gradus/data/loader/data_loader.h"
#include "gradus/data/loader/make_data_loader.h"
