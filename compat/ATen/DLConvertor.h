// at::toDLPack and fromDLPack.
#pragma once

#include "gradus/tensor/dlpack.h"

namespace at {
using gradus::fromDLPack, gradus::fromDLPackVersioned, gradus::getDLDataType, gradus::toDLPack,
    gradus::toDLPackVersioned, gradus::toScalarType;
}  // namespace at
