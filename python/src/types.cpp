// gradus.float32, gradus.device, gradus.Generator and their like.
#include "types.h"

#include <gradus/gradus.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>

#include "given.h"

namespace gradus::python {
namespace {

// The module holds these.
nb::handle dtype_objects[16];
nb::handle format_objects[4];
nb::handle layout_objects[2];

template <class E, size_t N>
void add(nb::module_& m, nb::handle (&objects)[N], E value, const char* name) {
  const size_t place = static_cast<size_t>(value);
  const nb::object made = nb::cast(Named<E>{value, name});
  m.attr(name) = made;
  objects[place] = made;
}

template <class E>
nb::class_<Named<E>> named_class(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<Named<E>>(m, name, doc)
      .def("__repr__", [](const Named<E>& self) { return nb::str("gradus.{}").format(self.name); })
      .def("__reduce__", [](const Named<E>& self) { return nb::str(self.name); })
      .def("__hash__", [](const Named<E>& self) { return static_cast<int64_t>(self.value); });
}

}  // namespace

nb::handle dtype_object(ScalarType dtype) { return dtype_objects[static_cast<size_t>(dtype)]; }
nb::handle memory_format_object(MemoryFormat format) {
  return format_objects[static_cast<size_t>(format)];
}
nb::handle layout_object(Layout layout) { return layout_objects[static_cast<size_t>(layout)]; }

void bind_types(nb::module_& m) {
  named_class<ScalarType>(m, "dtype", "The type of a tensor's elements.")
      .def_prop_ro("itemsize", [](const Dtype& d) { return element_size(d.value); })
      .def_prop_ro("is_floating_point", [](const Dtype& d) { return isFloatingType(d.value); })
      .def_prop_ro("is_complex", [](const Dtype& d) { return isComplexType(d.value); })
      .def_prop_ro("is_signed", [](const Dtype& d) { return isSignedType(d.value); });
#define DTYPE(enumerator, type, name, ...) add(m, dtype_objects, ScalarType::enumerator, #name);
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  for (const auto& [second, first] : {std::pair{"half", kHalf},
                                      {"float", kFloat},
                                      {"double", kDouble},
                                      {"short", kShort},
                                      {"int", kInt},
                                      {"long", kLong},
                                      {"cfloat", kComplexFloat},
                                      {"cdouble", kComplexDouble}})
    m.attr(second) = nb::borrow(dtype_object(first));

  named_class<MemoryFormat>(m, "memory_format", "How a tensor's elements lie in memory.");
  add(m, format_objects, MemoryFormat::Contiguous, "contiguous_format");
  add(m, format_objects, MemoryFormat::Preserve, "preserve_format");
  add(m, format_objects, MemoryFormat::ChannelsLast, "channels_last");
  add(m, format_objects, MemoryFormat::ChannelsLast3d, "channels_last_3d");
  named_class<Layout>(m, "layout", "The layout of a tensor: strided.");
  add(m, layout_objects, Layout::Strided, "strided");

  nb::class_<Device>(m, "device", "Where a tensor's memory is: cpu, cuda:0, meta.")
      .def(
          "__init__",
          [](Device* self, std::string_view type, std::optional<int64_t> index) {
            Device device(type);
            if (index) device = Device(device.type(), static_cast<DeviceIndex>(*index));
            new (self) Device(device);
          },
          nb::arg("type"), nb::arg("index") = nb::none())
      .def("__init__", [](Device* self, const Device& other) { new (self) Device(other); })
      .def("__init__",
           [](Device* self, int64_t index) {
             new (self) Device(kCUDA, static_cast<DeviceIndex>(index));
           })
      .def_prop_ro("type", [](const Device& d) { return Device(d.type()).str(); })
      .def_prop_ro("index",
                   [](const Device& d) {
                     return d.has_index() ? std::optional<int64_t>(d.index()) : std::nullopt;
                   })
      .def(
          "__eq__",
          [](const Device& a, nb::handle b) {
            return nb::isinstance<Device>(b) && a == *nb::inst_ptr<Device>(b);
          },
          nb::arg("other").none())
      .def("__hash__", [](const Device& d) { return static_cast<int64_t>(std::hash<Device>()(d)); })
      .def("__str__", &Device::str)
      .def("__reduce__",
           [](const Device& d) {
             return nb::make_tuple(nb::type<Device>(), nb::make_tuple(d.str()));
           })
      .def("__repr__", [](const Device& d) {
        const std::string type = Device(d.type()).str();
        return "device(type='" + type + "'" +
               (d.has_index() ? ", index=" + std::to_string(d.index()) : "") + ")";
      });

  nb::class_<Generator>(m, "Generator", "A stream of random numbers on a device.")
      .def(
          "__init__",
          [](Generator* self, nb::handle device) {
            Device where = kCPU;
            if (!device.is_none() && !load(device, true, where))
              throw nb::type_error("Generator: device is no device");
            new (self) Generator(std::make_shared<GeneratorImpl>(
                where.is_cuda() && !where.has_index() ? Device(kCUDA, 0) : where));
          },
          nb::arg("device") = "cpu")
      .def_prop_ro("device", &Generator::device)
      .def(
          "manual_seed",
          [](nb::pointer_and_handle<Generator> self, int64_t seed) {
            self.p->set_current_seed(static_cast<uint64_t>(seed));
            return nb::borrow(self.h);
          },
          nb::arg("seed"), "Sets the seed, and returns the generator.")
      .def("initial_seed", &Generator::current_seed)
      .def("seed", &Generator::seed)
      .def("get_state", &Generator::get_state)
      .def("set_state", &Generator::set_state, nb::arg("new_state"))
      .def("clone_state", &Generator::clone)
      .def("split", &Generator::split, nb::arg("num") = 2);
  m.attr("default_generator") = nb::cast(Generator(default_generator(kCPU)));
  m.def(
      "_gpu_generator",
      [](int64_t device) {
        return default_generator(Device(kCUDA, static_cast<DeviceIndex>(device)));
      },
      nb::arg("device"), "The generator of a GPU.");
  m.def(
      "manual_seed",
      [](int64_t seed) {
        manual_seed(static_cast<uint64_t>(seed));
        return default_generator(kCPU);
      },
      nb::arg("seed"), "Seeds the generator of every device, and returns that of the CPU.");
}

}  // namespace gradus::python
