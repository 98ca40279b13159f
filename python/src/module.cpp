// The extension module gradus._gradus.
#include <gradus/version.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bind.h"
#include "cycles.h"
#include "errors.h"
#include "nn/computed.h"
#include "rows/direct.h"
#include "rows/rows.h"
#include "nn/several_bases.h"
#include "types.h"

namespace nb = nanobind;

NB_MODULE(_gradus, m) {
  using namespace gradus::python;
  // Caches of the typing module keep types until the very end, which would be reported as leaks.
  nb::set_leak_warnings(false);
  m.attr("__version__") = GRADUS_VERSION;
  m.def("show_config", &gradus::show_config, "How the library was built, as text.");
  prepare_cycles(m);
  bind_errors(m);
  bind_types(m);
  const nb::handle tensor = bind_tensor(m);
  const Scopes scopes{m, tensor};
  bind_elementwise(scopes);
  bind_factories(scopes);
  bind_views(scopes);
  bind_reductions(scopes);
  bind_products(scopes);
  bind_windows(scopes);
  bind_tensor_members(m, tensor);
  bind_numpy_keywords(scopes);
  bind_direct(scopes);
  bind_data(m, tensor);
  bind_sampling(tensor);
  bind_tensor_forms(tensor);
  bind_exchange(m, tensor);
  bind_files(m);
  bind_modes(m);
  bind_autograd(m, tensor);
  bind_saved_tensors(m);
  nb::module_ nn = m.def_submodule("_nn", "The modules of C++.");
  bind_modules(nn);
  allow_several_bases(nn.attr("Module"));
  bind_computed(nn);
  nb::module_ optim = m.def_submodule("_optim", "The optimizers of C++.");
  bind_optimizers(optim);
  nb::module_ amp = m.def_submodule("_amp", "The mixed precision of C++.");
  bind_training(nn, amp);
  nb::module_ cuda = m.def_submodule("_cuda", "The GPUs of C++.");
  bind_cuda(cuda);
  bind_kernels(m, cuda);
  nb::module_ sim = m.def_submodule("_sim", "The simulator of C++.");
  bind_sim(sim);
  nb::module_ distributed = m.def_submodule("_distributed", "The ranks of C++.");
  bind_distributed(distributed, nn);
  nb::module_ watch = m.def_submodule("_watch", "What surrounds a training, of C++.");
  nb::module_ metrics = m.def_submodule("_metrics", "The metrics of C++.");
  nb::module_ profiler = m.def_submodule("_profiler", "The profiler of C++.");
  bind_watch(watch, metrics, profiler);
}
