// How cross entropy reads its targets, for host and device.
#pragma once

#include <cstdint>

#include "gradus/tensor/base/index_rule.h"

namespace gradus {

// The way in which cross_entropy reads its targets.
struct CrossEntropyRule {
  IndexRule classes;
  int64_t ignored;   // a target of this number counts for nothing
  double smoothing;  // this part of a target is spread over all classes
};

}  // namespace gradus
