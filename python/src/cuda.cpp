// gradus.cuda: devices, streams, events and memory.
#include <gradus/cuda/cuda.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bind.h"
#include "errors.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

// A device as Python names one: None (the current one), an index, a text or a device.
int index_of(nb::handle device) {
  if (device.is_none()) return -1;
  Device to = kCPU;
  if (!load(device, true, to)) throw nb::type_error("expected a device, its index or its name");
  check<ValueError>(to.is_cuda(), "cuda: expected a CUDA device, but got ", to);
  return to.index();
}

}  // namespace

void bind_cuda(nb::module_& m) {
  m.def("is_available", &cuda::is_available, "Whether there is a GPU, or a simulated one.");
  m.def("device_count", &cuda::device_count, "The number of GPUs.");
  m.def("current_device", &cuda::current_device, "The index of the current GPU.");
  m.def(
      "set_device", [](nb::handle device) { cuda::set_device(index_of(device)); },
      nb::arg("device"), "Makes a GPU the current one.");
  m.def(
      "synchronize",
      [](nb::handle device) {
        const int index = index_of(device);
        const Released other_threads_run;
        cuda::synchronize(index);
      },
      nb::arg("device") = nb::none(), "Waits for all work of a GPU.");
  const auto properties = [](nb::handle device) -> const cuda::DeviceProperties& {
    const int index = index_of(device);
    return cuda::getDeviceProperties(index < 0 ? cuda::current_device() : index);
  };
  m.def(
      "get_device_name", [properties](nb::handle device) { return properties(device).name; },
      nb::arg("device") = nb::none(), "The name of a GPU.");
  m.def(
      "get_device_capability",
      [properties](nb::handle device) {
        return nb::make_tuple(properties(device).major, properties(device).minor);
      },
      nb::arg("device") = nb::none(), "Its compute capability, as (9, 0).");
  nb::class_<cuda::DeviceProperties>(m, "DeviceProperties")
      .def_ro("name", &cuda::DeviceProperties::name)
      .def_ro("major", &cuda::DeviceProperties::major)
      .def_ro("minor", &cuda::DeviceProperties::minor)
      .def_ro("multi_processor_count", &cuda::DeviceProperties::multiprocessors)
      .def_ro("warp_size", &cuda::DeviceProperties::warp_size)
      .def_ro("total_memory", &cuda::DeviceProperties::total_memory);
  m.def(
      "get_device_properties", [properties](nb::handle device) { return properties(device); },
      nb::arg("device") = nb::none(), "What a GPU is.");
  m.def("empty_cache", &cuda::empty_cache, "Gives memory that no tensor uses back to the GPU.");
#define MEMORY(name, member, doc)                                                          \
  m.def(                                                                                   \
      name, [](nb::handle device) { return cuda::memory_stats(index_of(device)).member; }, \
      nb::arg("device") = nb::none(), doc);
  MEMORY("memory_allocated", allocated, "The bytes that tensors use.")
  MEMORY("max_memory_allocated", peak_allocated, "The most bytes that tensors have used.")
  MEMORY("memory_reserved", reserved, "The bytes that were taken from the GPU.")
  MEMORY("max_memory_reserved", peak_reserved, "The most bytes that were taken from the GPU.")
#undef MEMORY
  m.def(
      "mem_get_info",
      [](nb::handle device) {
        const cuda::DeviceStatus status = cuda::device_status(index_of(device));
        return std::tuple(status.free_memory, status.total_memory);
      },
      nb::arg("device") = nb::none(),
      "The free bytes of a GPU and all that it has, whichever program uses them.");
  m.def(
      "reset_peak_memory_stats",
      [](nb::handle device) { cuda::reset_peak_memory_stats(index_of(device)); },
      nb::arg("device") = nb::none(), "Lets the peaks begin anew.");

  nb::class_<cuda::Stream>(m, "Stream", "A queue of work on a GPU.")
      .def(
          "__init__",
          [](cuda::Stream* self, nb::handle device, int64_t priority) {
            new (self) cuda::Stream(cuda::getStreamFromPool(priority < 0, index_of(device)));
          },
          nb::arg("device") = nb::none(), nb::arg("priority") = 0)
      .def(
          "synchronize",
          [](const cuda::Stream& self) {
            const Released other_threads_run;
            self.synchronize();
          },
          "Waits for all work queued so far.")
      .def("query", &cuda::Stream::query, "Whether all work queued so far is done.")
      .def("wait_event", &cuda::Stream::wait, nb::arg("event"), "Later work waits for the event.")
      .def(
          "wait_stream",
          [](const cuda::Stream& self, const cuda::Stream& other) {
            cuda::Event event;
            event.record(other);
            self.wait(event);
          },
          nb::arg("stream"), "Later work waits for that of another stream so far.")
      .def(
          "record_event",
          [](const cuda::Stream& self) {
            cuda::Event event;
            event.record(self);
            return event;
          },
          "An event behind the work queued so far.")
      .def_prop_ro("device", &cuda::Stream::device)
      .def_prop_ro(
          "cuda_stream",
          [](const cuda::Stream& self) { return reinterpret_cast<uintptr_t>(self.handle()); },
          "The address of CUDA's stream.")
      .def("__eq__", [](const cuda::Stream& a, const cuda::Stream& b) { return a == b; });
  nb::class_<cuda::Event>(m, "Event", "A mark in a stream.")
      .def(
          "__init__",
          [](cuda::Event* self, bool enable_timing) { new (self) cuda::Event(enable_timing); },
          nb::arg("enable_timing") = false)
      .def(
          "record",
          [](cuda::Event& self, nb::handle stream) {
            stream.is_none() ? self.record() : self.record(nb::cast<cuda::Stream&>(stream));
          },
          nb::arg("stream") = nb::none(), "Marks the work queued so far.")
      .def(
          "wait",
          [](const cuda::Event& self, nb::handle stream) {
            self.block(stream.is_none() ? cuda::getCurrentCUDAStream()
                                        : nb::cast<cuda::Stream&>(stream));
          },
          nb::arg("stream") = nb::none(), "Later work of a stream waits for the mark.")
      .def("query", &cuda::Event::query, "Whether the mark has been reached.")
      .def(
          "synchronize",
          [](const cuda::Event& self) {
            const Released other_threads_run;
            self.synchronize();
          },
          "Waits for the mark.")
      .def("elapsed_time", &cuda::Event::elapsed_time, nb::arg("end_event"),
           "Milliseconds from this mark to a later one.");
  m.def(
      "current_stream",
      [](nb::handle device) { return cuda::getCurrentCUDAStream(index_of(device)); },
      nb::arg("device") = nb::none(), "The current stream of a GPU.");
  m.def(
      "default_stream",
      [](nb::handle device) { return cuda::getDefaultCUDAStream(index_of(device)); },
      nb::arg("device") = nb::none(), "The default stream of a GPU.");
  m.def("set_stream", &cuda::setCurrentCUDAStream, nb::arg("stream"),
        "Makes a stream the current one of its GPU.");
  m.def("_record_stream", [](const Tensor& x, const cuda::Stream& stream) {
    cuda::record_stream(x.impl().storage, stream);
  });
}

}  // namespace gradus::python
