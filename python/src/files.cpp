// gradus.save and gradus.load: safetensors files; load_pt: those of torch.save.
#include <gradus/serialize/pt.h>
#include <gradus/serialize/safetensors.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "bind.h"
#include "errors.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

template <class Read>
nb::dict tensors_of(nb::handle path, Given<std::optional<Device>>& device, const Read& read) {
  const std::string name = nb::cast<std::string>(nb::str(path));
  const Device where = device.get().value_or(kCPU);
  const auto contents = released<serialize::SafetensorsContents>([&] { return read(name, where); });
  nb::dict out;
  for (const auto& item : contents.tensors) out[nb::cast(item.key())] = nb::cast(item.value());
  return out;
}

}  // namespace

void bind_files(nb::module_& m) {
  m.def(
      "save_file",
      [](const nb::dict& tensors, nb::handle path, nb::handle metadata) {
        serialize::NamedTensors named;
        for (const auto& [key, value] : tensors) {
          check<TypeError>(is_tensor(value.ptr()), "save_file: the value of a name is no tensor");
          named.insert(nb::cast<std::string>(key), tensor_of(value.ptr()));
        }
        serialize::Metadata text;
        if (!metadata.is_none())
          for (const auto& [key, value] : nb::borrow<nb::dict>(metadata))
            text[nb::cast<std::string>(key)] = nb::cast<std::string>(value);
        const std::string name = nb::cast<std::string>(nb::str(path));
        const Released other_threads_run;
        serialize::save_file(named, name, text);
      },
      nb::arg("tensors"), nb::arg("filename"), nb::arg("metadata") = nb::none(),
      "Writes tensors by name to a safetensors file.");
  m.def(
      "load_file",
      [](nb::handle path, Given<std::optional<Device>>& device, bool mmap) {
        return tensors_of(path, device, [&](const std::string& name, Device where) {
          return serialize::load_file(name, where, mmap);
        });
      },
      nb::arg("filename"), nb::arg("device") = nb::none(), nb::arg("mmap") = false,
      "The tensors of a safetensors file by name.");
  m.def(
      "load_pt",
      [](nb::handle path, Given<std::optional<Device>>& device) {
        return tensors_of(path, device, [](const std::string& name, Device where) {
          return serialize::load_pt(name, where);
        });
      },
      nb::arg("filename"), nb::arg("device") = nb::none(),
      "The tensors of a file of torch.save by name; names of nested dictionaries are joined.");
  m.def("_load_metadata", [](nb::handle path) {
    nb::dict out;
    for (const auto& [key, value] :
         serialize::load_file(nb::cast<std::string>(nb::str(path)), kCPU, true).metadata)
      out[nb::cast(key)] = value;
    return out;
  });
}

}  // namespace gradus::python
