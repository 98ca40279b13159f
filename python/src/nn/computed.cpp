// Weights that Python computes for modules of C++, and statistics that it makes anew.
#include "nn/computed.h"

#include <gradus/nn/update_bn.h>
#include <nanobind/stl/string.h>

#include "size.h"
#include "tensor.h"

namespace gradus::python {

void bind_computed(nb::module_& m) {
  m.def("_set_size_class", &set_size_class);
  m.def("_set_member", &set_member, nb::arg("module"), nb::arg("name"), nb::arg("tensor"));
  m.def(
      "_with_statistics_anew",
      [](nn::Module& module, nb::handle batches) {
        const NoGradGuard no_grad;
        const optim::detail::StatisticsAnew anew(module);
        if (anew.has_norms()) batches();
      },
      nb::arg("module"), nb::arg("batches"));
}

}  // namespace gradus::python
