// Sequences packed step by step, of gradus.nn.utils.rnn.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "nn/modules.h"

namespace gradus::python {

void bind_packed(nb::module_& m) {
  namespace rnn = nn::utils::rnn;
  using Packed = rnn::PackedSequence;
  using MaybeTensor = Given<Tensor>;
  nb::class_<Packed> c(
      m, "PackedSequence",
      "The steps of sequences one after the other, of the longest sequences first.");
  c.def(
      "__init__",
      [](Packed* self, const Tensor& data, const Tensor& batch_sizes, const MaybeTensor& sorted,
         const MaybeTensor& unsorted) {
        new (self) Packed(data, batch_sizes, sorted.get(), unsorted.get());
      },
      nb::arg("data"), nb::arg("batch_sizes"), nb::arg("sorted_indices") = nb::none(),
      nb::arg("unsorted_indices") = nb::none());
#define PART(name, doc) \
  c.def_prop_ro(        \
      #name, [](const Packed& self) { return to_python(self.name()); }, doc);
  PART(data, "The rows of all steps.")
  PART(batch_sizes, "How many sequences have each step; int64, on the CPU.")
  PART(sorted_indices, "Where the sequences were before they were sorted by length, or None.")
  PART(unsorted_indices, "Where they are now, or None.")
#undef PART
  const auto parts = [](const Packed& self) {
    return nb::make_tuple(to_python(self.data()), to_python(self.batch_sizes()),
                          to_python(self.sorted_indices()), to_python(self.unsorted_indices()));
  };
  c.def("__iter__", [parts](const Packed& self) { return parts(self).attr("__iter__")(); });
  c.def("__repr__", [parts](const Packed& self) {
    return nb::str(
               "PackedSequence(data={}, batch_sizes={}, sorted_indices={}, unsorted_indices={})")
        .attr("format")(*parts(self));
  });
  c.def_prop_ro("is_cuda", &Packed::is_cuda, "Whether the rows are on a GPU.");
  c.def("is_pinned", &Packed::is_pinned, "Whether the rows are in pinned memory.");
  c.def("pin_memory", &Packed::pin_memory, "The same in pinned memory.");
  c.def("cpu", &Packed::cpu, "The same on the CPU.");
  c.def("cuda", &Packed::cuda, "The same on the GPU.");
  c.def(
      "to",
      [](const Packed& self, const Given<std::optional<Device>>& device,
         const Given<std::optional<ScalarType>>& dtype) {
        TensorOptions options = self.data().options();
        if (device.given) options = options.device(*device.get());
        if (dtype.given) options = options.dtype(*dtype.get());
        return self.to(options);
      },
      nb::arg("device") = nb::none(), nb::arg("dtype") = nb::none(),
      "The same on another device, or with rows of another dtype.");

  m.def("_invert_permutation", [](const MaybeTensor& permutation) {
    return to_python(rnn::invert_permutation(permutation.get()));
  });
  m.def("_pack_padded_sequence",
        [](const Tensor& input, const Tensor& lengths, bool batch_first, bool enforce_sorted) {
          return rnn::pack_padded_sequence(input, lengths, batch_first, enforce_sorted);
        });
  m.def(
      "_pad_packed_sequence",
      [](const Packed& sequence, bool batch_first, double padding_value,
         std::optional<int64_t> total_length) {
        return result_object(
            rnn::pad_packed_sequence(sequence, batch_first, padding_value, total_length));
      },
      nb::arg("sequence"), nb::arg("batch_first"), nb::arg("padding_value"),
      nb::arg("total_length").none());
  m.def("_pack_sequence", [](const std::vector<Tensor>& sequences, bool enforce_sorted) {
    return rnn::pack_sequence(sequences, enforce_sorted);
  });
}

}  // namespace gradus::python
