// x[key] and x[key] = value: numbers, slices, None, ..., masks, tensors and lists.
#include "rows/index.h"

#include <gradus/gradus.h>

#include "bind.h"
#include "errors.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

std::optional<int64_t> slice_end(nb::handle slice, const char* name) {
  const nb::object end = slice.attr(name);
  if (end.is_none()) return std::nullopt;
  int64_t value;
  check<TypeError>(load(end, true, value), "slice indices must be integers or None");
  return value;
}

bool load_one(nb::handle from, indexing::TensorIndex& to) {
  PyObject* object = from.ptr();
  if (object == Py_None) {
    to = indexing::None;
  } else if (object == Py_Ellipsis) {
    to = indexing::Ellipsis;
  } else if (PyBool_Check(object)) {
    to = object == Py_True;
  } else if (PySlice_Check(object)) {
    to =
        indexing::Slice(slice_end(from, "start"), slice_end(from, "stop"), slice_end(from, "step"));
  } else if (is_tensor(object)) {
    const Tensor& tensor = tensor_of(object);
    const bool number = tensor.dim() == 0 && isIntegralType(tensor.scalar_type(), false);
    if (number)
      to = tensor.item<int64_t>();
    else
      to = tensor;
  } else if (int64_t value; load(from, true, value)) {
    to = value;
  } else if (PyList_Check(object) && PyList_Size(object) == 0) {
    to = empty({0}, kLong);
  } else if (std::optional<Tensor> tensor = tensor_from(from)) {
    to = *tensor;
  } else {
    return false;
  }
  return true;
}

// A list that stands for a tuple: [rows, columns] as tensors, or one that has a slice, None or ....
bool is_list_of_indices(nb::handle from) {
  if (!PyList_Check(from.ptr())) return false;
  for (const nb::handle item : nb::borrow<nb::list>(from)) {
    PyObject* const object = item.ptr();
    if (object == Py_None || object == Py_Ellipsis || PySlice_Check(object) ||
        (is_tensor(object) && tensor_of(object).dim() > 0))
      return true;
  }
  return false;
}

std::vector<indexing::TensorIndex> indices_of(nb::handle key) {
  std::vector<indexing::TensorIndex> out;
  check<TypeError>(
      load(key, true, out), "a tensor is indexed by integers, slices, None, ..., ",
      "bools, lists and tensors, not by ",
      nb::cast<const char*>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(key.ptr()))))));
  return out;
}

}  // namespace

bool load(nb::handle from, bool, std::vector<indexing::TensorIndex>& to) {
  to.clear();
  indexing::TensorIndex one(indexing::None);
  if (is_list_of_indices(from)) return load(nb::tuple(nb::borrow<nb::list>(from)), true, to);
  if (!PyTuple_Check(from.ptr()) || PyTuple_Size(from.ptr()) == 0) {
    if (PyTuple_Check(from.ptr()))
      one = indexing::Ellipsis;
    else if (!load_one(from, one))
      return false;
    to.push_back(one);
    return true;
  }
  const Py_ssize_t size = PyTuple_Size(from.ptr());
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (!load_one(PyTuple_GetItem(from.ptr(), i), one)) return false;
    to.push_back(one);
  }
  return true;
}

PyObject* get_item(PyObject* self, PyObject* key) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const Tensor& x = tensor_of(self);
    if (PyLong_CheckExact(key)) {
      int64_t index;
      if (load(key, false, index)) return show(computed_on<Tensor>([&] { return x[index]; }, 0));
    }
    const std::vector<indexing::TensorIndex> indices = indices_of(key);
    return show(computed_on<Tensor>([&] { return x.index(indices); }, work_of(x)));
  });
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(-1, [&] {
    check<TypeError>(value != nullptr, "elements of a tensor cannot be deleted");
    const Tensor& x = tensor_of(self);
    const std::vector<indexing::TensorIndex> indices = indices_of(key);
    Operand operand;
    std::optional<Tensor> made;
    if (!load(value, true, operand)) {
      made = tensor_from(value);
      check<TypeError>(made.has_value(), "elements of a tensor are set to a number, a tensor or ",
                       "nested lists");
      made = made->to(x.device(), x.scalar_type());
      operand.tensor = &*made;
    }
    const Released other_threads_run;
    if (operand.tensor)
      x.index_put_(indices, operand.tensor->to(x.device(), x.scalar_type()));
    else
      x.index_put_(indices, operand.number);
    return 0;
  });
}

}  // namespace gradus::python
