// The tensor itself: a handle points to it.
#pragma once

#include <atomic>
#include <memory>

#include "gradus/tensor/base/type_meta.h"
#include "gradus/tensor/shape.h"
#include "gradus/tensor/storage.h"

namespace gradus {

// Base of what autograd stores for a tensor (autograd/engine/meta.h).
struct AutogradMetaBase {
  virtual ~AutogradMetaBase() = default;
};

namespace autograd {
// How a view was made, where that forbids a recorded change of it in place.
enum class CreationMeta : uint8_t {
  DEFAULT,
  IN_CUSTOM_FUNCTION,
  MULTI_OUTPUT_NODE,
  NO_GRAD_MODE,
  INFERENCE_MODE
};
}  // namespace autograd

struct TensorImpl {
  StoragePtr storage;
  ScalarType dtype;
  bool contiguous;
  bool inference;                                                          // made in InferenceMode
  autograd::CreationMeta creation_meta = autograd::CreationMeta::DEFAULT;  // of a view
  std::atomic<uint32_t> history_version = 0;  // of the storage, when a view's history was made
  int64_t numel;
  int64_t offset;  // of element 0, in elements from the start of the storage
  Dims sizes;
  Dims strides;                                // in elements; 0 where broadcast
  std::unique_ptr<AutogradMetaBase> autograd;  // null: requires no grad and never did
  std::shared_ptr<TensorImpl> view_of;         // the tensor that this one is a view of, or null

  TensorImpl(StoragePtr memory, ScalarType type, const Dims& shape, const Dims& steps,
             int64_t first, int64_t count, bool row_major);
};

}  // namespace gradus
