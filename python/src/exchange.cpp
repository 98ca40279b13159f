// Memory shared with other libraries: DLPack, and the array interface of CUDA.
#include <gradus/cuda/cuda.h>
#include <gradus/tensor/dlpack.h>

#include "bind.h"
#include "errors.h"
#include "params.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

constexpr const char* kName = "dltensor";
constexpr const char* kUsed = "used_dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";
constexpr const char* kUsedVersioned = "used_dltensor_versioned";

[[noreturn]] void fail_buffer(const char* message) { throw nb::buffer_error(message); }

// The stream of another library by its number, as DLPack and the array interface count: 1 is the
// legacy default stream, 2 that of the thread; others are pointers.
cuda::Stream stream_of(int device, int64_t number) {
  return {device, number == 1 ? nullptr : reinterpret_cast<void*>(number)};
}
int64_t number_of(const cuda::Stream& stream) {
  return stream.handle() ? reinterpret_cast<int64_t>(stream.handle()) : 1;
}

// Work on `second` from now on comes after the work on `first` so far.
void order(const cuda::Stream& first, const cuda::Stream& second) {
  if (first == second) return;
  cuda::Event event;
  event.record(first);
  event.block(second);
}

template <class Capsule>
PyObject* capsule_of(Capsule* managed, const char* name) {
  PyObject* out = PyCapsule_New(managed, name, [](PyObject* capsule) {
    // A consumer gives the capsule another name and calls the deleter itself.
    const char* of = PyCapsule_GetName(capsule);
    if (of != kName && std::string_view(of) != kName && std::string_view(of) != kVersionedName)
      return;
    auto* own = static_cast<Capsule*>(PyCapsule_GetPointer(capsule, of));
    if (own && own->deleter) own->deleter(own);
  });
  if (!out && managed->deleter) managed->deleter(managed);
  return out;
}

nb::tuple dlpack_device(const Tensor& x) {
  if (x.is_meta()) fail_buffer("__dlpack_device__: a tensor on meta has no memory");
  return nb::make_tuple(static_cast<int>(x.is_cuda() ? kDLCUDA : kDLCPU),
                        x.is_cuda() ? x.get_device() : int64_t{0});
}

nb::object dlpack(const Tensor& self, nb::handle stream, nb::handle max_version,
                  nb::handle dl_device, nb::handle copy) {
  if (self.is_meta()) fail_buffer("__dlpack__: a tensor on meta has no memory");
  if (self.requires_grad())
    fail_buffer("__dlpack__: a tensor that requires grad is not exported; use tensor.detach()");
  Tensor x = self;
  bool copied = false;
  if (!dl_device.is_none()) {
    const auto type = nb::cast<int>(nb::object(dl_device[0]));
    const bool own = type == (x.is_cuda() ? kDLCUDA : kDLCPU);
    if (!own) {
      if (type != kDLCPU)
        fail_buffer("__dlpack__: dl_device is another device than the tensor's; use tensor.to()");
      if (copy.ptr() == Py_False)
        fail_buffer("__dlpack__: another device needs a copy, which copy=False forbids");
      x = released<Tensor>([&] { return x.cpu(); });
      copied = true;
    }
  }
  if (copy.ptr() == Py_True && !copied) {
    x = released<Tensor>([&] { return x.clone(); });
    copied = true;
  }
  if (x.is_cuda()) {
    int64_t number = 1;
    if (!stream.is_none() && !load(stream, true, number))
      throw nb::type_error("__dlpack__: stream is an integer or None");
    if (number == 0)
      fail_buffer("__dlpack__: stream 0 is ambiguous; expected 1, 2, -1 or a stream");
    const int device = static_cast<int>(x.get_device());
    if (number > 0) order(cuda::getCurrentCUDAStream(device), stream_of(device, number));
  } else if (!stream.is_none() && nb::cast<int64_t>(stream) != -1) {
    fail_buffer("__dlpack__: a tensor of the CPU has no stream; expected None");
  }
  const bool versioned =
      !max_version.is_none() && nb::cast<int>(nb::object(max_version[0])) >= DLPACK_MAJOR_VERSION;
  PyObject* out;
  if (versioned) {
    DLManagedTensorVersioned* managed = toDLPackVersioned(x);
    if (copied) managed->flags |= DLPACK_FLAG_BITMASK_IS_COPIED;
    out = capsule_of(managed, kVersionedName);
  } else {
    out = capsule_of(toDLPack(x), kName);
  }
  if (!out) nb::raise_python_error();
  return nb::steal(out);
}

Tensor from_capsule(nb::handle capsule) {
  PyObject* object = capsule.ptr();
  if (PyCapsule_IsValid(object, kVersionedName)) {
    auto* managed =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(object, kVersionedName));
    const Tensor out = fromDLPackVersioned(managed);
    PyCapsule_SetName(object, kUsedVersioned);
    return out;
  }
  if (PyCapsule_IsValid(object, kName)) {
    const Tensor out =
        fromDLPack(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(object, kName)));
    PyCapsule_SetName(object, kUsed);
    return out;
  }
  throw nb::value_error("from_dlpack: the capsule holds no tensor, or was consumed already");
}

Tensor from_dlpack(nb::handle from, const Given<std::optional<Device>>& device, nb::handle copy) {
  Tensor out;
  if (PyCapsule_CheckExact(from.ptr())) {
    out = from_capsule(from);
  } else {
    if (!nb::hasattr(from, "__dlpack__") || !nb::hasattr(from, "__dlpack_device__"))
      throw nb::type_error("from_dlpack: expected an object with __dlpack__ and __dlpack_device__");
    const nb::object where = from.attr("__dlpack_device__")();
    nb::dict arguments;
    if (nb::cast<int>(nb::object(where[0])) == kDLCUDA) {
      const int index = nb::cast<int>(nb::object(where[1]));
      arguments["stream"] = number_of(cuda::getCurrentCUDAStream(index));
    }
    nb::dict newer;
    newer.update(arguments);
    newer["max_version"] = nb::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
    if (copy.ptr() == Py_True) newer["copy"] = true;
    nb::object capsule;
    try {
      capsule = from.attr("__dlpack__")(**newer);
    } catch (nb::python_error& error) {
      // Producers of the time before versions do not know the argument.
      if (!error.matches(PyExc_TypeError)) throw;
      capsule = from.attr("__dlpack__")(**arguments);
      if (copy.ptr() == Py_True) return from_capsule(capsule).clone();
    }
    out = from_capsule(capsule);
  }
  const std::optional<Device> to = device.get();
  if (!to || *to == out.device()) return out;
  if (copy.ptr() == Py_False)
    throw nb::value_error("from_dlpack: another device needs a copy, which copy=False forbids");
  return released<Tensor>([&] { return out.to(*to, out.scalar_type()); });
}

nb::dict cuda_array_interface(const Tensor& x) {
  if (!x.is_cuda())
    throw nb::attribute_error(
        "__cuda_array_interface__: the tensor is not on a GPU; use tensor.cuda()");
  check<Error>(!x.requires_grad(),
               "__cuda_array_interface__: a tensor that requires grad is not "
               "exported; use tensor.detach()");
  nb::dict out = array_interface(x);
  if (x.is_contiguous()) out["strides"] = nb::none();
  out["stream"] = number_of(cuda::getCurrentCUDAStream(static_cast<int>(x.get_device())));
  return out;
}

}  // namespace

Tensor from_cuda_interface(nb::handle object) {
  const nb::dict interface(object.attr("__cuda_array_interface__"));
  const int device = cuda::current_device();
  if (interface.contains("stream") && !nb::object(interface["stream"]).is_none())
    order(stream_of(device, nb::cast<int64_t>(nb::object(interface["stream"]))),
          cuda::getCurrentCUDAStream(device));
  return from_interface(object, interface, Device(kCUDA, static_cast<DeviceIndex>(device)));
}

void bind_exchange(nb::module_& m, nb::handle tensor) {
  nb::class_<Shown> c = nb::borrow<nb::class_<Shown>>(tensor);
  c.def("__dlpack__", &dlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
        nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
        nb::arg("copy") = nb::none(), "A capsule of DLPack over the same memory.");
  c.def("__dlpack_device__", &dlpack_device, "The kind of device and its index, as DLPack counts.");
  c.def_prop_ro("__cuda_array_interface__", &cuda_array_interface,
                "The memory of a tensor on a GPU, for CuPy, Numba and their like.");
  m.def("from_dlpack", &from_dlpack, nb::arg("ext_tensor"), nb::kw_only(),
        nb::arg("device") = nb::none(), nb::arg("copy") = nb::none(),
        "A tensor over the memory of another library's array.");
}

}  // namespace gradus::python
