// gradus.Tensor: what Python's operators and protocols do, and the methods that are no rows.
#include "tensor.h"

#include <gradus/gradus.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "bind.h"
#include "errors.h"
#include "index.h"
#include "rows.h"
#include "shown_objects.h"

namespace gradus::python {

PyTypeObject* tensor_class = nullptr;

PyObject* show(const Tensor& tensor, PyTypeObject* type) {
  if (!tensor.defined()) {
    Py_INCREF(Py_None);
    return Py_None;
  }
  // An object that is about to go, whose weak references are being called, is not shown again.
  if (PyObject* known = shown_objects().find(tensor.unsafeGetTensorImpl());
      known && Py_REFCNT(known) > 0) {
    Py_INCREF(known);
    return known;
  }
  PyObject* made = nb::inst_alloc(reinterpret_cast<PyObject*>(type ? type : tensor_class))
                       .release().ptr();
  if (made) show_as(tensor, made);
  return made;
}

void show_as(const Tensor& tensor, nb::handle object) {
  new (nb::inst_ptr<Shown>(object)) Shown(tensor, object.ptr());
  nb::inst_mark_ready(object);
}

Shown::Shown(Tensor shown, PyObject* object) : tensor(std::move(shown)), self(object) {
  shown_objects().set(tensor.unsafeGetTensorImpl(), object);
}
Shown::~Shown() {
  if (tensor.defined()) shown_objects().remove(tensor.unsafeGetTensorImpl(), self);
}

namespace {

PyObject* not_implemented() {
  Py_INCREF(Py_NotImplemented);
  return Py_NotImplemented;
}

// f(tensor or number, tensor or number), or NotImplemented for another kind of operand.
template <class F>
PyObject* binary(PyObject* left, PyObject* right, const F& f) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    Operand x, y;
    if (!load(left, true, x) || !load(right, true, y)) return not_implemented();
    const auto call = [&]() -> Tensor {
      if (!x.tensor) return f(x.number, *y.tensor);
      return y.tensor ? f(*x.tensor, *y.tensor) : f(*x.tensor, y.number);
    };
    return show(computed_on<Tensor>(call, work_of(x) + work_of(y)));
  });
}
template <class F>
PyObject* in_place(PyObject* self, PyObject* right, const F& f) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    Operand y;
    if (!load(right, true, y)) return not_implemented();
    const Tensor& x = tensor_of(self);
    const auto call = [&]() -> Tensor { return y.tensor ? f(x, *y.tensor) : f(x, y.number); };
    return show(computed_on<Tensor>(call, work_of(x) + work_of(y)));
  });
}
template <class F>
PyObject* unary(PyObject* self, const F& f) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const Tensor& x = tensor_of(self);
    return show(computed_on<Tensor>([&]() -> Tensor { return f(x); }, work_of(x)));
  });
}

PyObject* compare(PyObject* self, PyObject* other, int op) {
  switch (op) {
#define COMPARED(enumerator, name) \
  case enumerator:                 \
    return binary(self, other, [](const auto& x, const auto& y) { return operator name(x, y); });
    COMPARED(Py_LT, <)
    COMPARED(Py_LE, <=)
    COMPARED(Py_EQ, ==)
    COMPARED(Py_NE, !=)
    COMPARED(Py_GT, >)
    COMPARED(Py_GE, >=)
#undef COMPARED
    default:
      return not_implemented();
  }
}

PyObject* power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  if (modulus != Py_None) return not_implemented();
  return binary(base, exponent, [](const auto& x, const auto& y) { return pow(x, y); });
}

PyObject* matrix_product(PyObject* left, PyObject* right) {
  if (!is_tensor(left) || !is_tensor(right)) return not_implemented();
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const Tensor &x = tensor_of(left), &y = tensor_of(right);
    return show(computed_on<Tensor>([&] { return x.matmul(y); }, work_of(x) + work_of(y)));
  });
}

// The element of a tensor that has one, as Python's own number.
PyObject* element(const Tensor& tensor) {
  return to_python(computed_on<Scalar>([&] { return tensor.item(); }, work_of(tensor))).release().ptr();
}

int truth(PyObject* self) {
  return guarded(-1, [&] {
    const Tensor& x = tensor_of(self);
    check<ValueError>(x.numel() == 1, "Boolean value of Tensor with ",
                      x.numel() ? "more than one value" : "no values",
                      " is ambiguous; use any() or all()");
    return released<Scalar>([&] { return x.item(); }).to<bool>() ? 1 : 0;
  });
}
PyObject* as_int(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const nb::object number = nb::steal(element(tensor_of(self)));
    return PyNumber_Long(number.ptr());
  });
}
PyObject* as_float(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const nb::object number = nb::steal(element(tensor_of(self)));
    return PyNumber_Float(number.ptr());
  });
}
PyObject* as_index(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const Tensor& x = tensor_of(self);
    check<TypeError>(x.numel() == 1 && !x.is_floating_point() && !x.is_complex(),
                     "only integer tensors of a single element can be converted to an index");
    return nb::int_(x.item<int64_t>()).release().ptr();
  });
}

Py_ssize_t length(PyObject* self) {
  return guarded(Py_ssize_t{-1}, [&] {
    const Tensor& x = tensor_of(self);
    check<TypeError>(x.dim() > 0, "len() of a 0-d tensor");
    return static_cast<Py_ssize_t>(x.size(0));
  });
}
PyObject* iterate(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const Tensor& x = tensor_of(self);
    check<TypeError>(x.dim() > 0, "iteration over a 0-d tensor");
    const Tensors parts = released<Tensors>([&] { return x.unbind(0); });
    const nb::object list = results_object(parts.data(), parts.size(), nullptr);
    return PyObject_GetIter(list.ptr());
  });
}
Py_hash_t identity_hash(PyObject* self) {
  const auto address = reinterpret_cast<uintptr_t>(self);
  return static_cast<Py_hash_t>(address >> 4);
}

#define BINARY_SLOT(slot, name)                                              \
  {Py_nb_##slot, reinterpret_cast<void*>(+[](PyObject* x, PyObject* y) {     \
     return binary(x, y, [](const auto& a, const auto& b) { return name(a, b); }); \
   })}
#define IN_PLACE_SLOT(slot, name)                                                   \
  {Py_nb_inplace_##slot, reinterpret_cast<void*>(+[](PyObject* x, PyObject* y) {    \
     return in_place(x, y, [](const Tensor& a, const auto& b) { return a.name(b); }); \
   })}
#define UNARY_SLOT(slot, name)                                                 \
  {Py_nb_##slot, reinterpret_cast<void*>(+[](PyObject* x) {                    \
     return unary(x, [](const Tensor& a) -> Tensor { return name; });          \
   })}
// Called without a list of overloads in between.
PyMethodDef tensor_methods[] = {
    {"item",
     [](PyObject* self, PyObject*) {
       return guarded(static_cast<PyObject*>(nullptr), [&] { return element(tensor_of(self)); });
     },
     METH_NOARGS, "item($self, /)\n--\n\nThe one element as a number of Python."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot tensor_slots[] = {
    BINARY_SLOT(add, add),
    BINARY_SLOT(subtract, sub),
    BINARY_SLOT(multiply, mul),
    BINARY_SLOT(true_divide, div),
    BINARY_SLOT(floor_divide, floor_divide),
    BINARY_SLOT(remainder, remainder),
    BINARY_SLOT(and, bitwise_and),
    BINARY_SLOT(or, bitwise_or),
    BINARY_SLOT(xor, bitwise_xor),
    BINARY_SLOT(lshift, bitwise_left_shift),
    BINARY_SLOT(rshift, bitwise_right_shift),
    IN_PLACE_SLOT(add, add_),
    IN_PLACE_SLOT(subtract, sub_),
    IN_PLACE_SLOT(multiply, mul_),
    IN_PLACE_SLOT(true_divide, div_),
    IN_PLACE_SLOT(floor_divide, floor_divide_),
    IN_PLACE_SLOT(remainder, remainder_),
    IN_PLACE_SLOT(and, bitwise_and_),
    IN_PLACE_SLOT(or, bitwise_or_),
    IN_PLACE_SLOT(xor, bitwise_xor_),
    IN_PLACE_SLOT(lshift, bitwise_left_shift_),
    IN_PLACE_SLOT(rshift, bitwise_right_shift_),
    {Py_nb_inplace_power, reinterpret_cast<void*>(+[](PyObject* x, PyObject* y, PyObject*) {
       return in_place(x, y, [](const Tensor& a, const auto& b) { return a.pow_(b); });
     })},
    UNARY_SLOT(negative, a.neg()),
    UNARY_SLOT(positive, a),
    UNARY_SLOT(absolute, a.abs()),
    UNARY_SLOT(invert, a.bitwise_not()),
    {Py_nb_power, reinterpret_cast<void*>(power)},
    {Py_nb_matrix_multiply, reinterpret_cast<void*>(matrix_product)},
    {Py_nb_bool, reinterpret_cast<void*>(truth)},
    {Py_nb_int, reinterpret_cast<void*>(as_int)},
    {Py_nb_float, reinterpret_cast<void*>(as_float)},
    {Py_nb_index, reinterpret_cast<void*>(as_index)},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {Py_tp_hash, reinterpret_cast<void*>(identity_hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_methods, tensor_methods},
    {0, nullptr}};

nb::object to_list(const Tensor& x) {
  if (x.dim() == 0) return nb::steal(element(x));
  nb::list out;
  for (const Tensor& part : x.unbind(0)) out.append(to_list(part));
  return out;
}

// x.to(dtype), x.to(device), x.to(other), x.to(device, dtype): in any of these forms.
nb::object to(nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
  const Tensor& x = tensor_of(self.ptr());
  Device device = x.device();
  ScalarType dtype = x.scalar_type();
  bool flags[2] = {false, false};  // non_blocking, copy
  size_t flag = 0;
  std::optional<MemoryFormat> format;
  for (const nb::handle arg : args) {
    if (is_tensor(arg.ptr())) {
      device = tensor_of(arg.ptr()).device(), dtype = tensor_of(arg.ptr()).scalar_type();
    } else if (bool on; flag < 2 && load(arg, true, on)) {
      flags[flag++] = on;
    } else if (!arg.is_none() && !load(arg, true, dtype) && !load(arg, true, device)) {
      throw nb::type_error("to: expected a dtype, a device or a tensor, and then non_blocking, copy");
    }
  }
  for (const auto& [key, value] : kwargs) {
    const std::string name = nb::cast<std::string>(key);
    MemoryFormat given;
    const bool known = value.is_none() || (name == "dtype"          ? load(value, true, dtype)
                                           : name == "device"       ? load(value, true, device)
                                           : name == "non_blocking" ? load(value, true, flags[0])
                                           : name == "copy"         ? load(value, true, flags[1])
                                           : name == "memory_format" && load(value, true, given));
    if (!known) throw nb::type_error("to: takes dtype, device, non_blocking, copy, memory_format");
    if (name == "memory_format" && !value.is_none()) format = given;
  }
  return nb::steal(show(released<Tensor>([&] {
    const bool preserve = format == MemoryFormat::Preserve;
    return x.to(device, dtype, flags[0], flags[1], preserve ? std::nullopt : format);
  })));
}

// A method of C++ as one of Python.
template <auto f>
inline constexpr auto of = [](const Tensor& x) { return (x.*f)(); };

struct GraphNode {
  std::shared_ptr<Node> node;
};

template <class F>
auto method(F f) {
  return [f](const Tensor& self) {
    return released<Tensor>([&]() -> Tensor { return f(self); });
  };
}

}  // namespace

nb::object results_object(const Tensor* results, size_t count, PyTypeObject* type) {
  PyObject* out = type ? PyStructSequence_New(type) : PyTuple_New(static_cast<Py_ssize_t>(count));
  for (size_t i = 0; i < count; ++i) {
    const Py_ssize_t place = static_cast<Py_ssize_t>(i);
    if (type)
      PyStructSequence_SetItem(out, place, show(results[i]));
    else
      PyTuple_SetItem(out, place, show(results[i]));
  }
  return nb::steal(out);
}

nb::handle bind_tensor(nb::module_& m) {
  nb::class_<Shown> c(m, "Tensor", nb::type_slots(tensor_slots), nb::is_weak_referenceable(),
                      nb::dynamic_attr(), nb::pooled(),
                      "Numbers of one dtype on one device, in any number of dimensions.");
  tensor_class = reinterpret_cast<PyTypeObject*>(c.ptr());
  c.attr("__array_priority__") = 1000;
  return c;
}

void bind_tensor_members(nb::module_& m, nb::handle tensor) {
  nb::class_<GraphNode>(m, "Node", "A recorded operation.")
      .def("name", [](const GraphNode& self) { return std::string(self.node->name()); },
           "The name of the operation: AddBackward0.")
      .def("__repr__", [](const GraphNode& self) {
        return "<" + std::string(self.node->name()) + ">";
      })
      .def_prop_ro("next_functions", [](const GraphNode& self) {
        nb::list out;
        for (const auto& edge : self.node->next_edges())
          out.append(nb::make_tuple(
              edge.function ? nb::cast(GraphNode{edge.function}) : nb::none(), edge.input_nr));
        return nb::tuple(out);
      }, "The operations that its gradients go to, and which of their results they belong to.");
  nb::class_<Shown> c = nb::borrow<nb::class_<Shown>>(tensor);
  const auto property = [&](const char* name, auto get, const char* doc) {
    c.def_prop_ro(name, get, doc);
  };
  property("shape", [](const Tensor& x) { return to_python(x.sizes()); }, "The sizes of the dimensions.");
  property("dtype", [](const Tensor& x) { return to_python(x.scalar_type()); }, "The type of the elements.");
  property("device", [](const Tensor& x) { return x.device(); }, "Where the memory is.");
  property("layout", [](const Tensor& x) { return to_python(x.layout()); }, "gradus.strided.");
  property("ndim", of<&Tensor::dim>, "The number of dimensions.");
  property("itemsize", of<&Tensor::itemsize>, "The bytes of an element.");
  property("nbytes", of<&Tensor::nbytes>, "The bytes of all elements.");
  property("is_cuda", of<&Tensor::is_cuda>, "Whether the memory is a GPU's.");
  property("is_meta", of<&Tensor::is_meta>, "Whether there is no memory.");
  property("is_leaf", of<&Tensor::is_leaf>, "Whether no recorded operation made it.");
  property("retains_grad", of<&Tensor::retains_grad>, "Whether a non-leaf keeps its gradient.");
  property("output_nr", of<&Tensor::output_nr>, "Which result of its operation it is.");
  property("_version", of<&Tensor::_version>, "How often it was changed in place.");
  property("T", method([](const Tensor& x) { return x.numpy_T(); }), "All dimensions in reverse order.");
  property("mT", method([](const Tensor& x) { return x.mT(); }), "The matrices transposed.");
  property("H", method([](const Tensor& x) { return x.matrix_H(); }), "The conjugate transpose.");
  property("mH", method([](const Tensor& x) { return x.mH(); }), "The conjugate transposes.");
  property("real", method([](const Tensor& x) { return real(x); }), "The real parts, as a view.");
  property("imag", method([](const Tensor& x) { return imag(x); }), "The imaginary parts, as a view.");
  c.def_prop_rw("requires_grad", of<&Tensor::requires_grad>,
                [](const Tensor& x, bool on) { x.requires_grad_(on); },
                "Whether operations on it are recorded.");
  c.def_prop_rw("grad", [](const Tensor& x) { return x.grad(); },
                [](const Tensor& x, const Tensor& grad) { x.mutable_grad() = grad; },
                nb::arg("grad").none(), "The gradient that backward() added up, or None.");
  c.def_prop_rw("data", [](const Tensor& x) { return x.detach(); },
                [](const Tensor& x, const Tensor& other) { x.set_data(other); },
                "The same memory, outside of the graph.");

  property("grad_fn", [](const Tensor& x) -> nb::object {
    const std::shared_ptr<Node>& node = x.grad_fn();
    return node ? nb::cast(GraphNode{node}) : nb::none();
  }, "The operation that computed it, or None.");

  c.def("dim", of<&Tensor::dim>, "The number of dimensions.");
  c.def("numel", of<&Tensor::numel>, "The number of elements.");
  c.def("nelement", of<&Tensor::numel>, "The number of elements.");
  c.def("element_size", of<&Tensor::element_size>, "The bytes of an element.");
  c.def("storage_offset", of<&Tensor::storage_offset>, "Where element 0 is in the storage.");
  c.def("data_ptr", [](const Tensor& x) { return reinterpret_cast<uintptr_t>(x.data_ptr()); },
        "The address of element 0.");
  c.def("get_device", of<&Tensor::get_device>, "The index of the GPU, or -1.");
  c.def("is_floating_point", of<&Tensor::is_floating_point>);
  c.def("is_complex", of<&Tensor::is_complex>);
  c.def("is_signed", of<&Tensor::is_signed>);
  c.def("is_inference", of<&Tensor::is_inference>);
  c.def("is_contiguous", [](const Tensor& x, const Given<MemoryFormat>&) { return x.is_contiguous(); },
        nb::arg("memory_format") = memory_format_object(MemoryFormat::Contiguous));
  c.def("size", [](const Tensor& x, std::optional<int64_t> dim) -> nb::object {
    return dim ? to_python(x.size(*dim)) : to_python(x.sizes());
  }, nb::arg("dim") = nb::none(), "The sizes, or that of one dimension.");
  c.def("stride", [](const Tensor& x, std::optional<int64_t> dim) -> nb::object {
    return dim ? to_python(x.stride(*dim)) : to_python(x.strides());
  }, nb::arg("dim") = nb::none(), "The strides in elements, or that of one dimension.");
  c.def("tolist", &to_list, "The elements as nested lists.");
  c.def("__complex__", [](const Tensor& x) {
    return to_python(Scalar(x.item().toComplexDouble()));
  });
  c.def("__contains__", [](const Tensor& x, const Given<Operand>& item) {
    return released<bool>([&] {
      return item.value.tensor ? (x == *item.value.tensor).any().item<bool>()
                               : (x == item.value.number).any().item<bool>();
    });
  });
  c.def("__rmatmul__", [](const Tensor&, nb::handle) { return nb::borrow(Py_NotImplemented); });

  c.def("requires_grad_", [](const Tensor& x, bool on) { return x.requires_grad_(on); },
        nb::arg("requires_grad") = true, "Sets requires_grad, and returns the tensor.");
  c.def("detach", method([](const Tensor& x) { return x.detach(); }),
        "The same memory, outside of the graph.");
  c.def("detach_", method([](const Tensor& x) { return x.detach_(); }), "Takes it out of the graph.");
  c.def("retain_grad", of<&Tensor::retain_grad>, "Keeps the gradient of a non-leaf in grad.");
  c.def("backward",
        [](const Tensor& x, const Tensor& gradient, std::optional<bool> retain_graph,
           bool create_graph, const Given<std::optional<ArrayRef<Tensor>>>& inputs) {
          const Released other_threads_run;
          x.backward(gradient, retain_graph, create_graph, inputs.get());
        },
        nb::arg("gradient") = nb::none(), nb::arg("retain_graph") = nb::none(),
        nb::arg("create_graph") = false, nb::arg("inputs") = nb::none(),
        "Adds the derivatives of this tensor to the gradients of the leaves, or of `inputs` alone.");
  c.def("to", &to, "The tensor with another dtype, on another device, or both.");
  c.def("cpu", method([](const Tensor& x) { return x.cpu(); }), "On the CPU.");
  c.def("cuda", [](const Tensor& x, const Given<std::optional<Device>>& device, bool non_blocking) {
    return released<Tensor>([&] {
      return x.to(device.get().value_or(kCUDA), x.scalar_type(), non_blocking);
    });
  }, nb::arg("device") = nb::none(), nb::arg("non_blocking") = false, "On a GPU.");
  c.def("type_as", [](const Tensor& x, const Tensor& other) { return x.to(other); }, nb::arg("other"));
#define CONVERTED(name, dtype) \
  c.def(name, method([](const Tensor& x) { return x.to(dtype); }), "The tensor as gradus." name ".");
  CONVERTED("float", kFloat)
  CONVERTED("double", kDouble)
  CONVERTED("half", kHalf)
  CONVERTED("bfloat16", kBFloat16)
  CONVERTED("long", kLong)
  CONVERTED("int", kInt)
  CONVERTED("short", kShort)
  CONVERTED("bool", kBool)
#undef CONVERTED
  c.def("view", [](const Tensor& x, const Given<ScalarType>& dtype) { return x.view(dtype.value); },
        nb::arg("dtype"), "The same bytes as elements of another dtype.");
  c.def("view_as", [](const Tensor& x, const Tensor& other) { return x.view_as(other); }, nb::arg("other"));
  c.def("reshape_as", [](const Tensor& x, const Tensor& other) { return x.reshape_as(other); }, nb::arg("other"));
  c.def("expand_as", [](const Tensor& x, const Tensor& other) { return x.expand_as(other); }, nb::arg("other"));
  c.def("copy_", [](const Tensor& x, const Tensor& src, bool non_blocking) {
    return released<Tensor>([&] { return x.copy_(src, non_blocking); });
  }, nb::arg("src"), nb::arg("non_blocking") = false, "Copies the elements of src here.");
  c.def("fill_", [](const Tensor& x, const Given<Operand>& value) {
    return released<Tensor>([&] {
      return value.value.tensor ? x.fill_(*value.value.tensor) : x.fill_(value.value.number);
    });
  }, nb::arg("value"), "Sets all elements to a number.");
  c.def("zero_", method([](const Tensor& x) { return x.zero_(); }), "Sets all elements to 0.");
  c.def("_text", [](const Tensor& x) {
    std::ostringstream out;
    out << x;
    return out.str();
  }, "The tensor as C++ prints it.");
}

}  // namespace gradus::python
