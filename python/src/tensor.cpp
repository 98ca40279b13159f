// gradus.Tensor: one object for one tensor, and the methods that are no rows.
#include "tensor.h"

#include <gradus/gradus.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "bind.h"
#include "errors.h"
#include "objects.h"
#include "protocols.h"
#include "rows/rows.h"
#include "shown_objects.h"
#include "size.h"

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
  PyObject* made =
      nb::inst_alloc(reinterpret_cast<PyObject*>(type ? type : tensor_class)).release().ptr();
  if (made) show_as(tensor, made);
  return made;
}

void show_as(const Tensor& tensor, nb::handle object) {
  new (&shown_of(object.ptr())) Shown(tensor, object.ptr());
  nb::inst_mark_ready(object);
}

Shown::Shown(Tensor shown, PyObject* object) : tensor(std::move(shown)), self(object) {
  shown_objects().set(tensor.unsafeGetTensorImpl(), object);
}
void Shown::reset() {
  if (!tensor.defined()) return;
  shown_objects().remove(tensor.unsafeGetTensorImpl(), self);
  const Tensor last = std::exchange(tensor, Tensor());
}

namespace {

struct OwnsObject {
  PyObject* object;
  void operator()(TensorImpl*) const { let_go(object); }
};

}  // namespace

Tensor kept_by_object(nb::handle object) {
  return Tensor(std::shared_ptr<TensorImpl>(tensor_of(object.ptr()).unsafeGetTensorImpl(),
                                            OwnsObject{object.inc_ref().ptr()}));
}
PyObject* object_kept_by(const Tensor& tensor) {
  const auto* owns = std::get_deleter<OwnsObject>(tensor.impl_ptr());
  return owns ? owns->object : nullptr;
}
const void* owner_of(const Tensor& tensor) {
  return std::get_deleter<OwnsObject>(tensor.impl_ptr());
}

namespace {

// Errors: ValueError for a gradient of another shape, dtype or device.
void set_grad(const Tensor& x, const Tensor& grad) {
  if (grad.defined()) {
    check(grad.sizes() == x.sizes(), "grad: assigned a gradient of shape ", grad.sizes(),
          " to a tensor of shape ", x.sizes(), "; expected one of the same shape");
    check<TypeError>(grad.scalar_type() == x.scalar_type(), "grad: assigned a gradient of ",
                     grad.scalar_type(), " to a tensor of ", x.scalar_type(),
                     "; convert it to the dtype of the tensor");
    check(grad.device() == x.device(), "grad: assigned a gradient on ", grad.device(),
          " to a tensor on ", x.device(), "; move it with .to('", x.device(), "')");
  }
  x.mutable_grad() = grad;
}

// The elements from `at` on, which moves behind them, as nested lists of the sizes from `dim` on.
template <class T>
PyObject* nested_list(const T*& at, IntArrayRef sizes, size_t dim) {
  if (dim == sizes.size()) {
    const T value = *at++;
    if constexpr (std::is_same_v<T, bool>) return PyBool_FromLong(value);
    if constexpr (std::is_same_v<T, int64_t>) return PyLong_FromLongLong(value);
    return PyFloat_FromDouble(static_cast<double>(value));
  }
  const nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(sizes[dim])));
  for (int64_t i = 0; i < sizes[dim]; ++i)
    PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), nested_list(at, sizes, dim + 1));
  return nb::object(list).release().ptr();
}
template <class T>
nb::object nested_list_of(const Tensor& x, ScalarType dtype) {
  const Tensor all = x.detach().to(Device(kCPU), dtype).contiguous();
  const T* at = all.const_data_ptr<T>();
  return nb::steal(nested_list(at, all.sizes(), 0));
}
nb::object to_list(const Tensor& x) {
  if (x.dim() == 0) return nb::steal(element(x));
  if (x.scalar_type() == kBool) return nested_list_of<bool>(x, kBool);
  if (isIntegralType(x.scalar_type(), false)) return nested_list_of<int64_t>(x, kLong);
  if (!x.is_complex()) return nested_list_of<double>(x, kDouble);
  nb::list out;
  for (const Tensor& part : x.unbind(0)) out.append(to_list(part));
  return out;
}

// x.to(dtype), x.to(device), x.to(other), x.to(device, dtype): in any of these forms.
Tensor to(const Tensor& x, const nb::args& args, const nb::kwargs& kwargs) {
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
      throw nb::type_error(
          "to: expected a dtype, a device or a tensor, and then non_blocking, copy");
    }
  }
  for (const auto& [key, value] : kwargs) {
    const std::string name = nb::cast<std::string>(key);
    MemoryFormat given;
    const bool known =
        value.is_none() || (name == "dtype"          ? load(value, true, dtype)
                            : name == "device"       ? load(value, true, device)
                            : name == "non_blocking" ? load(value, true, flags[0])
                            : name == "copy"         ? load(value, true, flags[1])
                                             : name == "memory_format" && load(value, true, given));
    if (!known) throw nb::type_error("to: takes dtype, device, non_blocking, copy, memory_format");
    if (name == "memory_format" && !value.is_none()) format = given;
  }
  return released<Tensor>([&] {
    const bool preserve = format == MemoryFormat::Preserve;
    return x.to(device, dtype, flags[0], flags[1], preserve ? std::nullopt : format);
  });
}

// A method of C++ as one of Python.
template <auto f>
inline constexpr auto of = [](const Tensor& x) { return (x.*f)(); };

struct GraphNode {
  std::shared_ptr<Node> node;
};
nb::handle graph_node_class;

// The name without namespaces: AddBackward0, and CubeBackward for CppNode<net::Cube>.
std::string class_name_of(const Node& node) {
  std::string name = node.label();
  if (!name.starts_with("CppNode<")) return name;
  name.pop_back();
  return name.substr(name.find_last_of(":<") + 1) + "Backward";
}
// An object of the class of that name, which derives from Node.
nb::object graph_node(const std::shared_ptr<Node>& node) {
  static nb::dict* const classes = new nb::dict;  // as long as the program
  const std::string text = class_name_of(*node);
  const nb::str name(text.c_str());
  if (!classes->contains(name)) {
    nb::dict attributes;
    attributes["__module__"] = "gradus.autograd.graph";
    (*classes)[name] = nb::handle(reinterpret_cast<PyObject*>(&PyType_Type))(
        name, nb::make_tuple(graph_node_class), attributes);
  }
  const nb::object made = nb::inst_alloc((*classes)[name]);
  new (nb::inst_ptr<GraphNode>(made)) GraphNode{node};
  nb::inst_mark_ready(made);
  return made;
}

template <class F>
auto method(F f) {
  return [f](const Tensor& self) { return released<Tensor>([&]() -> Tensor { return f(self); }); };
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
  const nb::object one = nb::inst_alloc(c);
  shown_offset =
      reinterpret_cast<char*>(nb::inst_ptr<Shown>(one)) - reinterpret_cast<char*>(one.ptr());
  c.attr("__array_priority__") = 1000;
  return c;
}

void bind_tensor_members(nb::module_& m, nb::handle tensor) {
  graph_node_class =
      nb::class_<GraphNode>(m, "Node", "A recorded operation.")
          .def(
              "name", [](const GraphNode& self) { return std::string(self.node->name()); },
              "The name of the operation: AddBackward0.")
          .def("__repr__",
               [](const GraphNode& self) { return "<" + class_name_of(*self.node) + ">"; })
          .def("__eq__",
               [](const GraphNode& self, nb::handle other) {
                 return nb::isinstance<GraphNode>(other) &&
                        nb::cast<const GraphNode&>(other).node == self.node;
               })
          .def("__hash__",
               [](const GraphNode& self) { return std::hash<const Node*>()(self.node.get()); })
          .def_prop_ro(
              "next_functions",
              [](const GraphNode& self) {
                nb::list out;
                for (const auto& edge : self.node->next_edges())
                  out.append(nb::make_tuple(edge.function ? graph_node(edge.function) : nb::none(),
                                            edge.input_nr));
                return nb::tuple(out);
              },
              "The operations that its gradients go to, and which of their results they belong "
              "to.");
  nb::class_<Shown> c = nb::borrow<nb::class_<Shown>>(tensor);
  const auto property = [&](const char* name, auto get, const char* doc) {
    c.def_prop_ro(name, get, doc);
  };
  property(
      "shape", [](const Tensor& x) { return size_object(x.sizes()); },
      "The sizes of the dimensions.");
  property(
      "dtype", [](const Tensor& x) { return to_python(x.scalar_type()); },
      "The type of the elements.");
  property(
      "device", [](const Tensor& x) { return x.device(); }, "Where the memory is.");
  property(
      "layout", [](const Tensor& x) { return to_python(x.layout()); }, "gradus.strided.");
  property("ndim", of<&Tensor::dim>, "The number of dimensions.");
  property("itemsize", of<&Tensor::itemsize>, "The bytes of an element.");
  property("nbytes", of<&Tensor::nbytes>, "The bytes of all elements.");
  property("is_cuda", of<&Tensor::is_cuda>, "Whether the memory is a GPU's.");
  property("is_meta", of<&Tensor::is_meta>, "Whether there is no memory.");
  property("is_leaf", of<&Tensor::is_leaf>, "Whether no recorded operation made it.");
  property("retains_grad", of<&Tensor::retains_grad>, "Whether a non-leaf keeps its gradient.");
  property("output_nr", of<&Tensor::output_nr>, "Which result of its operation it is.");
  property("_version", of<&Tensor::_version>, "How often it was changed in place.");
  property("T", method([](const Tensor& x) { return x.numpy_T(); }),
           "All dimensions in reverse order.");
  property("mT", method([](const Tensor& x) { return x.mT(); }), "The matrices transposed.");
  property("H", method([](const Tensor& x) { return x.matrix_H(); }), "The conjugate transpose.");
  property("mH", method([](const Tensor& x) { return x.mH(); }), "The conjugate transposes.");
  property("real", method([](const Tensor& x) { return real(x); }), "The real parts, as a view.");
  property("imag", method([](const Tensor& x) { return imag(x); }),
           "The imaginary parts, as a view.");
  c.def_prop_rw(
      "requires_grad", of<&Tensor::requires_grad>,
      [](const Tensor& x, bool on) { x.requires_grad_(on); },
      "Whether operations on it are recorded.");
  c.def_prop_rw(
      "grad", [](const Tensor& x) { return x.grad(); }, &set_grad, nb::arg("grad").none(),
      "The gradient that backward() added up, or None.");
  c.def_prop_rw(
      "data", [](const Tensor& x) { return x.detach(); },
      [](const Tensor& x, const Tensor& other) { x.set_data(other); },
      "The same memory, outside of the graph.");

  property(
      "grad_fn",
      [](const Tensor& x) -> nb::object {
        const std::shared_ptr<Node>& node = x.grad_fn();
        return node ? graph_node(node) : nb::none();
      },
      "The operation that computed it, or None.");

  c.def("dim", of<&Tensor::dim>, "The number of dimensions.");
  c.def("numel", of<&Tensor::numel>, "The number of elements.");
  c.def("nelement", of<&Tensor::numel>, "The number of elements.");
  c.def("element_size", of<&Tensor::element_size>, "The bytes of an element.");
  c.def("storage_offset", of<&Tensor::storage_offset>, "Where element 0 is in the storage.");
  c.def(
      "data_ptr", [](const Tensor& x) { return reinterpret_cast<uintptr_t>(x.data_ptr()); },
      "The address of element 0.");
  c.def("get_device", of<&Tensor::get_device>, "The index of the GPU, or -1.");
  c.def("is_floating_point", of<&Tensor::is_floating_point>);
  c.def("is_complex", of<&Tensor::is_complex>);
  c.def("is_signed", of<&Tensor::is_signed>);
  c.def("is_inference", of<&Tensor::is_inference>);
  c.def(
      "is_contiguous",
      [](const Tensor& x, Given<MemoryFormat>& format) { return x.is_contiguous(format.get()); },
      nb::arg("memory_format") = memory_format_object(MemoryFormat::Contiguous));
  c.def(
      "size",
      [](const Tensor& x, std::optional<int64_t> dim) -> nb::object {
        return dim ? to_python(x.size(*dim)) : size_object(x.sizes());
      },
      nb::arg("dim") = nb::none(), "The sizes, or that of one dimension.");
  c.def(
      "stride",
      [](const Tensor& x, std::optional<int64_t> dim) -> nb::object {
        return dim ? to_python(x.stride(*dim)) : to_python(x.strides());
      },
      nb::arg("dim") = nb::none(), "The strides in elements, or that of one dimension.");
  c.def("tolist", &to_list, "The elements as nested lists.");
  c.def("__complex__",
        [](const Tensor& x) { return to_python(Scalar(x.item().toComplexDouble())); });
  c.def("__contains__", [](const Tensor& x, const Given<Operand>& item) {
    return released<bool>([&] {
      return item.value.tensor ? (x == *item.value.tensor).any().item<bool>()
                               : (x == item.value.number).any().item<bool>();
    });
  });
  c.def("__rmatmul__", [](const Tensor&, nb::handle) { return nb::borrow(Py_NotImplemented); });

  c.def(
      "requires_grad_", [](const Tensor& x, bool on) { return x.requires_grad_(on); },
      nb::arg("requires_grad") = true, "Sets requires_grad, and returns the tensor.");
  c.def("detach", method([](const Tensor& x) { return x.detach(); }),
        "The same memory, outside of the graph.");
  c.def("detach_", method([](const Tensor& x) { return x.detach_(); }),
        "Takes it out of the graph.");
  c.def("retain_grad", of<&Tensor::retain_grad>, "Keeps the gradient of a non-leaf in grad.");
  c.def(
      "backward",
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
  c.def(
      "cuda",
      [](const Tensor& x, const Given<std::optional<Device>>& device, bool non_blocking) {
        return released<Tensor>(
            [&] { return x.to(device.get().value_or(kCUDA), x.scalar_type(), non_blocking); });
      },
      nb::arg("device") = nb::none(), nb::arg("non_blocking") = false, "On a GPU.");
  c.def(
      "type_as", [](const Tensor& x, const Tensor& other) { return x.to(other); },
      nb::arg("other"));
#define CONVERTED(name, dtype)                                     \
  c.def(name, method([](const Tensor& x) { return x.to(dtype); }), \
        "The tensor as gradus." name ".");
  CONVERTED("float", kFloat)
  CONVERTED("double", kDouble)
  CONVERTED("half", kHalf)
  CONVERTED("bfloat16", kBFloat16)
  CONVERTED("long", kLong)
  CONVERTED("int", kInt)
  CONVERTED("short", kShort)
  CONVERTED("bool", kBool)
  CONVERTED("byte", kByte)
  CONVERTED("char", kChar)
  CONVERTED("cfloat", kComplexFloat)
  CONVERTED("cdouble", kComplexDouble)
#undef CONVERTED
  c.def(
      "view", [](const Tensor& x, const Given<ScalarType>& dtype) { return x.view(dtype.value); },
      nb::arg("dtype"), "The same bytes as elements of another dtype.");
  c.def(
      "view_as", [](const Tensor& x, const Tensor& other) { return x.view_as(other); },
      nb::arg("other"));
  c.def(
      "reshape_as", [](const Tensor& x, const Tensor& other) { return x.reshape_as(other); },
      nb::arg("other"));
  c.def(
      "expand_as", [](const Tensor& x, const Tensor& other) { return x.expand_as(other); },
      nb::arg("other"));
  c.def(
      "copy_",
      [](const Tensor& x, const Tensor& src, bool non_blocking) {
        return released<Tensor>([&] { return x.copy_(src, non_blocking); });
      },
      nb::arg("src"), nb::arg("non_blocking") = false, "Copies the elements of src here.");
  c.def(
      "fill_",
      [](const Tensor& x, const Given<Operand>& value) {
        return released<Tensor>([&] {
          return value.value.tensor ? x.fill_(*value.value.tensor) : x.fill_(value.value.number);
        });
      },
      nb::arg("value"), "Sets all elements to a number.");
  c.def("zero_", method([](const Tensor& x) { return x.zero_(); }), "Sets all elements to 0.");
  c.def(
      "_text",
      [](const Tensor& x) {
        std::ostringstream out;
        out << x;
        return out.str();
      },
      "The tensor as C++ prints it.");
}

}  // namespace gradus::python
