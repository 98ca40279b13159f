// libtorch's header and namespaces, for programs within the subset:
// #include <torch/torch.h>, torch::, at:: and c10:: name what gradus:: does.
#pragma once

// libtorch's header brings these along, and programs rely on them.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "gradus/compat/ATen/Context.h"
#include "gradus/compat/ATen/Dispatch.h"
#include "gradus/compat/ATen/Parallel.h"
#include "gradus/compat/ATen/ScalarOps.h"
#include "gradus/compat/ATen/core/DeprecatedTypeProperties.h"
#include "gradus/compat/ATen/ops/factories_out.h"
#include "gradus/compat/ATen/ops/special.h"
#include "gradus/compat/ATen/ops/tensor.h"
#include "gradus/compat/c10/core/ScalarType.h"
#include "gradus/compat/c10/util/ArrayRef.h"
#include "gradus/compat/c10/util/Exception.h"
#include "gradus/compat/c10/util/Logging.h"
#include "gradus/compat/c10/util/Optional.h"
#include "gradus/compat/c10/util/irange.h"
#include "gradus/compat/c10/util/string_view.h"
#include "gradus/compat/torch/csrc/autograd/variable.h"
#include "gradus/compat/torch/version.h"
#include "gradus/gradus.h"

// Namespaces of their own, since programs open them.
namespace torch {
using namespace gradus;
using std::make_unique;
}  // namespace torch
namespace at {
using namespace gradus;
using gradus::compat::Backend;
}  // namespace at
namespace c10 {
using namespace gradus;
template <class T>
using complex = std::complex<T>;
}  // namespace c10
namespace caffe2 {
using namespace gradus;
}

#define TORCH_MODULE(Name) GRADUS_MODULE(Name)

// An option of a struct, with its setter and getters.
#define TORCH_ARG(type, name)                           \
 public:                                                \
  auto name(const type& value)->decltype(*this) {       \
    this->name##_ = value;                              \
    return *this;                                       \
  }                                                     \
  const type& name() const noexcept { return name##_; } \
  type& name() noexcept { return name##_; }             \
                                                        \
 private:                                               \
  type name##_ /* NOLINT */
#define FORWARD_HAS_DEFAULT_ARGS(...) GRADUS_FORWARD_HAS_DEFAULT_ARGS(__VA_ARGS__)
