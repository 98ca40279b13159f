// DLPack: tensors handed to other libraries, and taken from them, without a copy. The structures
// are those of DLPack 1.0; a program that includes <dlpack/dlpack.h> before has them from there.
#pragma once

#include <cstdint>
#include <functional>

#include "gradus/tensor/tensor.h"

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)
// NOLINTBEGIN: an interface of C, whose names and layout are given
extern "C" {
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6
} DLDataTypeCode;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null where row-major
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
typedef struct {
  uint32_t major, minor;
} DLPackVersion;
typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;
}
// NOLINTEND
#endif

namespace gradus {

// A capsule that shares x's memory, and keeps it until somebody calls its deleter. The consumer of
// one on a GPU sees to it that work on x's stream is done.
// Errors: Error where x has no data of its own (meta), or requires grad: detach() it.
DLManagedTensor* toDLPack(const Tensor& src);
DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src);

// A tensor that shares the capsule's memory. The capsule is its own from now on, and its deleter is
// called when the last tensor of the memory is gone; `deleter` instead where one is given, with the
// capsule. After an error the capsule is still the caller's.
// Errors: ValueError for a device, a version or strides that no tensor has here, TypeError for a
// dtype, Error for memory that is only to be read.
Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter = {});
Tensor fromDLPackVersioned(DLManagedTensorVersioned* src, std::function<void(void*)> deleter = {});

// Errors: TypeError for a type that is none of the other side's.
ScalarType toScalarType(const DLDataType& dtype);
DLDataType getDLDataType(const Tensor& x);

}  // namespace gradus
