// The extension module gradus._gradus.
#include <nanobind/nanobind.h>

#include "bind.h"
#include "errors.h"
#include "rows.h"
#include "types.h"

NB_MODULE(_gradus, m) {
  using namespace gradus::python;
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
  bind_data(m, tensor);
  bind_exchange(m, tensor);
  bind_files(m);
  bind_modes(m);
  bind_autograd(m, tensor);
  nb::module_ nn = m.def_submodule("nn", "The modules of C++.");
  bind_modules(nn);
  nb::module_ optim = m.def_submodule("optim", "The optimizers of C++.");
  bind_optimizers(optim);
}
