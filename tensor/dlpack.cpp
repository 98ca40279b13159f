// Capsules of DLPack, with and without a version.
#include "gradus/tensor/dlpack.h"

#include <memory>

#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

// A capsule with what it points to.
template <class Capsule>
struct Exported {
  Tensor tensor;
  Dims sizes, strides;
  Capsule capsule = {};
};

template <class Capsule>
Capsule* export_capsule(const char* op, const Tensor& src) {
  check<Error>(!src.operand(op, "src").is_meta(), op, ": the tensor is on meta and has no data");
  check<Error>(!src.requires_grad(), op,
               ": Can't export tensors that require gradient, use tensor.detach()");
  auto out = std::make_unique<Exported<Capsule>>();
  out->tensor = src;
  out->sizes = src.impl().sizes, out->strides = src.impl().strides;
  for (int64_t d = 0; d < src.dim();
       ++d)  // some consumers read strides of dimensions that have none
    if (out->sizes[d] < 2) out->strides[d] = 1;
  DLTensor& to = out->capsule.dl_tensor;
  to.data = src.data_ptr();
  to.device = {src.is_cuda() ? kDLCUDA : kDLCPU,
               src.is_cuda() ? static_cast<int32_t>(src.get_device()) : 0};
  to.ndim = static_cast<int32_t>(src.dim());
  to.dtype = getDLDataType(src);
  to.shape = out->sizes.data(), to.strides = out->strides.data();
  out->capsule.manager_ctx = out.get();
  out->capsule.deleter = [](Capsule* self) {
    delete static_cast<Exported<Capsule>*>(self->manager_ctx);
  };
  return &out.release()->capsule;
}

Device device_of(const char* op, const DLDevice& device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost) return kCPU;
  check(device.device_type == kDLCUDA && device.device_id >= 0 && device.device_id < 128, op,
        ": Unsupported device_type: ", static_cast<int>(device.device_type),
        "; copy the data to the CPU or to CUDA first");
  return Device(kCUDA, static_cast<DeviceIndex>(device.device_id));
}

template <class Capsule>
void check_capsule(const char* op, const Capsule* src) {
  check(src != nullptr, op, ": the capsule is null; give one of the producer, whom nobody has ",
        "taken it from");
}

template <class Capsule>
Tensor import_capsule(const char* op, Capsule* src, std::function<void(void*)> deleter) {
  check_capsule(op, src);
  const DLTensor& from = src->dl_tensor;
  check(from.ndim >= 0 && from.ndim <= kMaxDims, op, ": the tensor has ", from.ndim,
        " dimensions; at most ", kMaxDims, " are supported");
  check(from.ndim == 0 || from.shape != nullptr, op, ": the capsule says ", from.ndim,
        " dimensions, and its shape is null; ask the producer for a whole capsule");
  const auto count = static_cast<size_t>(from.ndim);
  const Dims sizes(from.shape, count);
  const Dims strides = from.strides ? Dims(from.strides, count) : contiguous_strides(sizes);
  const TensorOptions options =
      TensorOptions(toScalarType(from.dtype)).device(device_of(op, from.device));
  if (!deleter)
    deleter = [](void* capsule) {
      auto* const self = static_cast<Capsule*>(capsule);
      if (self->deleter) self->deleter(self);
    };
  check(from.data != nullptr || numel_of(sizes) == 0, op, ": the capsule has shape ",
        IntArrayRef(sizes), ", and its data is null; ask the producer for a whole capsule");
  char* const data = static_cast<char*>(from.data) + from.byte_offset;
  return from_blob(
      data, sizes, strides, [src, deleter = std::move(deleter)](void*) { deleter(src); }, options);
}

}  // namespace

DLManagedTensor* toDLPack(const Tensor& src) {
  return export_capsule<DLManagedTensor>("toDLPack", src);
}
DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src) {
  auto* const out = export_capsule<DLManagedTensorVersioned>("toDLPackVersioned", src);
  out->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  return out;
}

Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter) {
  return import_capsule("fromDLPack", src, std::move(deleter));
}
Tensor fromDLPackVersioned(DLManagedTensorVersioned* src, std::function<void(void*)> deleter) {
  check_capsule("fromDLPackVersioned", src);
  check(src->version.major == DLPACK_MAJOR_VERSION, "fromDLPackVersioned: the capsule has version ",
        src->version.major, ".", src->version.minor, "; expected ", DLPACK_MAJOR_VERSION,
        ", ask the producer for that one");
  check<Error>(!(src->flags & DLPACK_FLAG_BITMASK_READ_ONLY),
               "fromDLPackVersioned: the memory is only to be read, which no tensor knows; ask the "
               "producer for a copy");
  return import_capsule("fromDLPackVersioned", src, std::move(deleter));
}

ScalarType toScalarType(const DLDataType& dtype) {
  check<TypeError>(dtype.lanes == 1, "fromDLPack: the type has ", dtype.lanes,
                   " lanes; expected 1, view it as more elements");
  const auto is = [&](DLDataTypeCode code, int bits) {
    return dtype.code == code && dtype.bits == bits;
  };
  if (is(kDLBool, 8)) return kBool;
  if (is(kDLUInt, 8)) return kByte;
  if (is(kDLInt, 8)) return kChar;
  if (is(kDLInt, 16)) return kShort;
  if (is(kDLInt, 32)) return kInt;
  if (is(kDLInt, 64)) return kLong;
  if (is(kDLFloat, 16)) return kHalf;
  if (is(kDLBfloat, 16)) return kBFloat16;
  if (is(kDLFloat, 32)) return kFloat;
  if (is(kDLComplex, 64)) return kComplexFloat;
  if (is(kDLComplex, 128)) return kComplexDouble;
  check<TypeError>(is(kDLFloat, 64), "fromDLPack: Unsupported type: code ",
                   static_cast<int>(dtype.code), " with ", static_cast<int>(dtype.bits),
                   " bits; convert it before");
  return kDouble;
}

DLDataType getDLDataType(const Tensor& x) {
  const auto of = [&](DLDataTypeCode code) {
    return DLDataType{static_cast<uint8_t>(code), static_cast<uint8_t>(8 * x.element_size()), 1};
  };
  const ScalarType dtype = x.scalar_type();
  if (dtype == kBool) return of(kDLBool);
  if (dtype == kByte) return of(kDLUInt);
  if (dtype == kBFloat16) return of(kDLBfloat);
  if (isFloatingType(dtype)) return of(kDLFloat);
  if (isComplexType(dtype)) return of(kDLComplex);
  check<TypeError>(isIntegralType(dtype, false), "toDLPack: dtype ", dtype,
                   " has no name in DLPack; convert it before");
  return of(kDLInt);
}

}  // namespace gradus
