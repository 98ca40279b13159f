// Methods of Tensor that are no rows of the tables: changes of the shape in place, facts, and forms
// that differ from the function of the same name.
#include <gradus/gradus.h>
#include <nanobind/stl/optional.h>

#include "bind.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

using Sizes = Given<IntArrayRef>;

// A method of C++ that changes the tensor and returns it.
template <class... A>
auto changed(Tensor& (Tensor::*method)(A...) const) {
  return [method](const Tensor& self, A... args) {
    return released<Tensor>([&] { return (self.*method)(args...); });
  };
}

void bind_shapes(nb::class_<Shown>& c) {
  c.def(
      "squeeze_",
      [](const Tensor& x, const Given<OptionalIntArrayRef>& dim) {
        const OptionalIntArrayRef dims = dim.get();
        return released<Tensor>(
            [&] { return dims.has_value() ? x.squeeze_(dims.value()) : x.squeeze_(); });
      },
      nb::arg("dim") = nb::none(), "Drops the dimensions of size 1, or those of `dim`, in place.");
  c.def("unsqueeze_", changed(&Tensor::unsqueeze_), nb::arg("dim"),
        "Adds a dimension of size 1 in place.");
  for (const char* name : {"transpose_", "swapdims_"})
    c.def(name, changed(&Tensor::transpose_), nb::arg("dim0"), nb::arg("dim1"),
          "Swaps two dimensions in place.");
  c.def("swapaxes_", changed(&Tensor::swapaxes_), nb::arg("axis0"), nb::arg("axis1"),
        "Swaps two dimensions in place.");
  c.def("t_", changed(&Tensor::t_), "Transposes a matrix in place.");
  c.def(
      "as_strided_",
      [](const Tensor& x, const Sizes& size, const Sizes& stride, std::optional<int64_t> offset) {
        return released<Tensor>([&] { return x.as_strided_(size.get(), stride.get(), offset); });
      },
      nb::arg("size"), nb::arg("stride"), nb::arg("storage_offset") = nb::none(),
      "Shows the memory with other sizes and strides, in place.");
  c.def(
      "resize_",
      [](const Tensor& x, const nb::args& size) {
        Param<IntArrayRef> sizes;
        const bool list = size.size() == 1 && !PyLong_Check(nb::handle(size[0]).ptr());
        check<TypeError>(sizes.load(list ? nb::handle(size[0]) : nb::handle(size), true),
                         "resize_: expected whole numbers, or a list of them");
        return x.resize_(sizes.get());
      },
      nb::sig("def resize_(self, *size: int | collections.abc.Sequence[int]) -> Tensor"),
      "Changes the shape in place; elements beyond the old ones are uninitialized.");
  c.def(
      "resize_as_", [](const Tensor& x, const Tensor& other) { return x.resize_as_(other); },
      nb::arg("other"),
      "Changes the shape to that of another tensor; new elements are uninitialized.");
  c.def(
      "set_",
      [](const Tensor& x, const Tensor& source, int64_t offset,
         const Given<OptionalIntArrayRef>& size, const Given<OptionalIntArrayRef>& stride) {
        if (!source.defined()) return Tensor(x.set_());
        const OptionalIntArrayRef sizes = size.get(), strides = stride.get();
        if (!sizes.has_value()) return Tensor(x.set_(source));
        return Tensor(x.set_(source, offset, sizes.value(),
                             strides.has_value() ? strides.value() : IntArrayRef()));
      },
      nb::arg("source") = nb::none(), nb::arg("storage_offset") = 0, nb::arg("size") = nb::none(),
      nb::arg("stride") = nb::none(),
      "Shows the memory of another tensor from here on, or a part of it.");
}

void bind_facts(nb::class_<Shown>& c) {
  const auto fact = [&](const char* name, auto get, const char* doc) {
    c.def(
        name, [get](const Tensor& x) { return (x.*get)(); }, doc);
  };
  fact("ndimension", &Tensor::ndimension, "The number of dimensions.");
  fact("is_conj", &Tensor::is_conj, "False: conjugates are computed at once.");
  fact("is_neg", &Tensor::is_neg, "False: negatives are computed at once.");
  fact("is_distributed", &Tensor::is_distributed, "False.");
  c.def_prop_ro(
      "is_cpu", [](const Tensor& x) { return x.is_cpu(); }, "Whether the CPU has the memory.");
  c.def_prop_ro(
      "is_sparse", [](const Tensor& x) { return x.is_sparse(); }, "False: tensors are dense.");
  c.def_prop_ro(
      "is_quantized", [](const Tensor& x) { return x.is_quantized(); }, "False.");
  c.def_prop_ro(
      "_base", [](const Tensor& x) { return x.is_view() ? x._base() : Tensor(); },
      "The tensor that this one is a view of, or None.");
  c.def(
      "_is_view", [](const Tensor& x) { return x.is_view(); },
      "Whether it is a view of another tensor.");
}

}  // namespace

void bind_tensor_forms(nb::handle tensor) {
  nb::class_<Shown> c = nb::borrow<nb::class_<Shown>>(tensor);
  bind_shapes(c);
  bind_facts(c);
  c.def(
      "where",
      [](const Tensor& x, const Tensor& condition, const Given<Operand>& other) {
        return released<Tensor>([&] {
          return other.value.tensor ? x.where(condition, *other.value.tensor)
                                    : x.where(condition, other.value.number);
        });
      },
      nb::arg("condition"), nb::arg("other"), "Its elements where condition, else those of other.");
  c.def(
      "fill_diagonal_",
      [](const Tensor& x, const Given<Scalar>& value, bool wrap) {
        return released<Tensor>([&] { return x.fill_diagonal_(value.get(), wrap); });
      },
      nb::arg("fill_value"), nb::arg("wrap") = false,
      "Sets the elements with equal indices; wrap: those of a tall matrix below, too.");
  c.def("conj_physical_", changed(&Tensor::conj_physical_), "Conjugates the elements in place.");
}

}  // namespace gradus::python
