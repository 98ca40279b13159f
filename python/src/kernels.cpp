// Kernels of one's own, fused functions and graphs of CUDA: what gradus.cuda and gradus.fuse build
// on.
#include <gradus/autograd/tools/fuse.h>
#include <gradus/cuda/cuda.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fstream>
#include <sstream>

#include "bind.h"
#include "errors.h"
#include "objects.h"
#include "place.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

using cuda::Source;

// Text of Python. Its lines count from 1, in "text of FILE:LINE", where the package was called.
Source source_of(const std::string& text) {
  const ProgramPlace place = program_place().value_or(ProgramPlace{"Python", 1});
  return {text, place.file.c_str(), place.line};
}

// The text of a module: given, or that of a file.
Source module_source(const std::optional<std::string>& code, nb::handle path) {
  check<TypeError>(code.has_value() == path.is_none(),
                   "RawModule: expected either code= or path=, and got ",
                   code ? "both" : "neither");
  if (code) return source_of(*code);
  const std::string name = nb::cast<std::string>(nb::str(path));
  std::ifstream in(name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  check<Error>(bool(in), "RawModule: the file ", name, " cannot be read");
  return Source(text.str(), name.c_str(), 1);
}

// A grid or a block: one number, or up to three.
cuda::Dim3 dim3_of(nb::handle size) {
  Numbers numbers;
  check<TypeError>(load(size, true, numbers) && numbers.size >= 1 && numbers.size <= 3,
                   "RawKernel: a grid and a block are one to three integers");
  const auto at = [&](size_t i) { return i < numbers.size ? numbers.data[i] : 1; };
  return {at(0), at(1), at(2)};
}

std::vector<cuda::Argument> arguments_of(const char* kernel, nb::handle args) {
  std::vector<cuda::Argument> out;
  for (const nb::handle arg : nb::borrow<nb::iterable>(args)) {
    if (arg.is_none() || is_tensor(arg.ptr())) {
      out.emplace_back(arg.is_none() ? Tensor() : tensor_of(arg.ptr()));
      continue;
    }
    Scalar number;
    if (!load(arg, true, number))
      fail<TypeError>(kernel, ": argument ", out.size() + 1, " is of type ",
                      nb::cast<std::string>(nb::object(arg.type().attr("__name__"))),
                      "; expected a tensor, a number or None");
    if (number.isBoolean())
      out.emplace_back(number.to<bool>());
    else if (number.isIntegral(false))
      out.emplace_back(number.to<int64_t>());
    else
      out.emplace_back(number.toDouble());
  }
  return out;
}

nb::object all_of(const Tensors& results) {
  return results_object(results.data(), results.size(), nullptr);
}
nb::object one_or_all(const Tensors& results) {
  return results.size() == 1 ? to_python(results[0]) : all_of(results);
}

void bind_own_kernels(nb::module_& m) {
  using Texts = std::vector<std::string>;
  nb::class_<cuda::RawKernel>(m, "RawKernel", "A kernel of one's own, in CUDA C++, as CuPy has it.")
      .def(
          "__init__",
          [](cuda::RawKernel* self, const std::string& code, const std::string& name,
             const Texts& options) { new (self) cuda::RawKernel(source_of(code), name, options); },
          nb::arg("code"), nb::arg("name"), nb::arg("options") = nb::make_tuple(),
          "code: a text with a function `name` that is __global__. Compiles at the first call.")
      .def(
          "__call__",
          [](const cuda::RawKernel& self, nb::handle grid, nb::handle block, nb::handle args,
             size_t shared_mem) {
            const std::vector<cuda::Argument> arguments = arguments_of("RawKernel", args);
            const cuda::Dim3 blocks = dim3_of(grid), threads = dim3_of(block);
            const Released other_threads_run;
            self(blocks, threads, arguments, shared_mem);
          },
          nb::arg("grid"), nb::arg("block"), nb::arg("args") = nb::make_tuple(), nb::kw_only(),
          nb::arg("shared_mem") = 0,
          "Queues the kernel on the current stream. Pointers take tensors of their type, or None; "
          "numbers are converted.")
      .def(
          "compile",
          [](const cuda::RawKernel& self) {
            const Released other_threads_run;
            self.compile();
          },
          "Compiles the kernel now.")
      .def_prop_ro("name", &cuda::RawKernel::name, "The name of the kernel.");
  nb::class_<cuda::RawModule>(m, "RawModule",
                              "A text with several kernels, which share its variables.")
      .def(
          "__init__",
          [](cuda::RawModule* self, const std::optional<std::string>& code, nb::handle path,
             const Texts& options, const std::optional<Texts>& name_expressions) {
            new (self) cuda::RawModule(module_source(code, path), options,
                                       name_expressions.value_or(Texts()));
          },
          nb::kw_only(), nb::arg("code") = nb::none(), nb::arg("path") = nb::none(),
          nb::arg("options") = nb::make_tuple(), nb::arg("name_expressions") = nb::none(),
          "code: the text; path: a file with it. name_expressions: instances of templates that "
          "will "
          "be asked for.")
      .def("get_function", &cuda::RawModule::get_function, nb::arg("name"),
           "The kernel of that name, as a RawKernel.");

  using cuda::ElementwiseKernel;
  nb::class_<ElementwiseKernel>(
      m, "ElementwiseKernel",
      "What is done to one element of tensors, in CUDA C++, as CuPy has it.")
      .def(
          "__init__",
          [](ElementwiseKernel* self, const std::string& in_params, const std::string& out_params,
             const std::string& operation, const std::string& name, const std::string& preamble,
             const Texts& options) {
            new (self) ElementwiseKernel(in_params, out_params, source_of(operation), name,
                                         source_of(preamble), options);
          },
          nb::arg("in_params"), nb::arg("out_params"), nb::arg("operation"),
          nb::arg("name") = "kernel", nb::kw_only(), nb::arg("preamble") = "",
          nb::arg("options") = nb::make_tuple(),
          "in_params, out_params: \"T x, raw float y\". operation: statements that give the "
          "outputs.")
      .def(
          "__call__",
          [](const ElementwiseKernel& self, const nb::args& args, std::optional<int64_t> size) {
            const std::vector<cuda::Argument> arguments = arguments_of(self.name().c_str(), args);
            return one_or_all(
                released<Tensors>([&] { return self.call(arguments, size.value_or(-1)); }));
          },
          nb::arg("args"), nb::arg("size") = nb::none(),
          "The outputs for inputs that broadcast. Outputs may follow the inputs. size: the number "
          "of "
          "elements where all parameters are raw.")
      .def_prop_ro("name", &ElementwiseKernel::name, "The name of the kernel.");
  using cuda::ReductionKernel;
  nb::class_<ReductionKernel>(m, "ReductionKernel",
                              "How elements become one number, in CUDA C++, as CuPy has it.")
      .def(
          "__init__",
          [](ReductionKernel* self, const std::string& in_params, const std::string& out_params,
             const std::string& map_expr, const std::string& reduce_expr,
             const std::string& post_map_expr, nb::handle identity, const std::string& name,
             const std::optional<std::string>& reduce_type, const std::string& preamble,
             const Texts& options) {
            new (self)
                ReductionKernel(in_params, out_params, source_of(map_expr), source_of(reduce_expr),
                                source_of(post_map_expr), nb::cast<std::string>(nb::str(identity)),
                                name, reduce_type.value_or(""), source_of(preamble), options);
          },
          nb::arg("in_params"), nb::arg("out_params"), nb::arg("map_expr"), nb::arg("reduce_expr"),
          nb::arg("post_map_expr"), nb::arg("identity"), nb::arg("name") = "reduce_kernel",
          nb::arg("reduce_type") = nb::none(), nb::kw_only(), nb::arg("preamble") = "",
          nb::arg("options") = nb::make_tuple(),
          "map_expr: of each element; reduce_expr: of two values a and b; post_map_expr: the "
          "outputs "
          "of the last value a; identity: what a reduction begins with.")
      .def(
          "__call__",
          [](const ReductionKernel& self, const nb::args& args, const Tensor& out,
             const Given<OptionalIntArrayRef>& axis, bool keepdims) {
            const std::vector<cuda::Argument> arguments = arguments_of(self.name().c_str(), args);
            Tensors results =
                released<Tensors>([&] { return self.call(arguments, axis.get(), keepdims); });
            if (!out.defined()) return one_or_all(results);
            check<ValueError>(results.size() == 1, self.name(),
                              ": out is one tensor, and the kernel has ", results.size(),
                              " outputs; leave it out");
            Tensor target = out;
            return to_python(detail::write_out(self.name().c_str(), target, results[0]));
          },
          nb::arg("args"), nb::arg("out") = nb::none(), nb::arg("axis") = nb::none(),
          nb::arg("keepdims") = false,
          "The outputs for inputs that broadcast, over some dimensions or all.")
      .def_prop_ro("name", &ReductionKernel::name, "The name of the kernel.");
}

void bind_graphs(nb::module_& m) {
  using cuda::Graph;
  nb::class_<Graph>(m, "CUDAGraph", "The recorded work of a stream, which one call queues again.")
      .def(nb::init<>())
      .def(
          "capture_begin",
          [](Graph& self, std::optional<cuda::MempoolId_t> pool) {
            const Released other_threads_run;
            self.capture_begin(pool.value_or(cuda::MempoolId_t{0, 0}));
          },
          nb::arg("pool") = nb::none(), "Records the work of the current stream from now on.")
      .def(
          "capture_end",
          [](Graph& self) {
            const Released other_threads_run;
            self.capture_end();
          },
          "Ends the recording.")
      .def(
          "replay",
          [](Graph& self) {
            const Released other_threads_run;
            self.replay();
          },
          "Queues the work on the current stream.")
      .def(
          "reset",
          [](Graph& self) {
            const Released other_threads_run;
            self.reset();
          },
          "Gives everything up; the graph can be captured again.")
      .def("pool", &Graph::pool, "The name of its memory, for graphs that are to share it.")
      .def("register_generator_state", &Graph::register_generator_state, nb::arg("generator"),
           "Draws from this generator, too, are new at each replay.");
  m.def("graph_pool_handle", &cuda::graph_pool_handle, "A new name for memory that graphs share.");
  m.def("is_current_stream_capturing", &cuda::is_current_stream_capturing,
        "Whether work on the current stream is recorded.");
  using cuda::StaticInputs;
  const auto list = [](nb::handle tensors) {
    Tensors out;
    check<TypeError>(load(tensors, true, out), "make_graphed: the inputs are tensors");
    return out;
  };
  nb::class_<StaticInputs>(m, "_StaticInputs")
      .def("__init__", [list](StaticInputs* self,
                              nb::handle samples) { new (self) StaticInputs(list(samples)); })
      .def("set",
           [list](const StaticInputs& self, nb::handle given) {
             const Tensors tensors = list(given);
             const Released other_threads_run;
             self.set(tensors);
           })
      .def("__getitem__", [](const StaticInputs& self, size_t i) { return self[i]; })
      .def_prop_ro("device", &StaticInputs::device);
}

}  // namespace

void bind_kernels(nb::module_& m, nb::module_& cuda) {
  bind_own_kernels(cuda);
  bind_graphs(cuda);
  using detail::FusedFunction;
  nb::class_<FusedFunction>(m, "_FusedFunction")
      .def(nb::init<>())
      .def("call",
           [](FusedFunction& self, nb::handle inputs, nb::handle function) {
             Tensors given;
             check<TypeError>(load(inputs, true, given), "fuse: the arguments are tensors");
             const auto f = [held = hold(function)](const Tensors& arguments) {
               const Acquired python;
               try {
                 Tensors out;
                 check<TypeError>(load(nb::handle(held.get())(all_of(arguments)), true, out),
                                  "fuse: the function returns a tensor, or a tuple of tensors");
                 return out;
               } catch (nb::python_error& error) {
                 // What fails on tensors without data is called unfused, and may fail there again.
                 if (arguments[0].is_meta() && error.matches(PyExc_Exception))
                   fail<Error>(nb::cast<std::string>(nb::str(error.value())));
                 rethrow(error);
               }
             };
             return all_of(released<Tensors>([&] { return self.call(given, f); }));
           })
      .def("source", &FusedFunction::source)
      .def("why_not", &FusedFunction::why_not);
}

}  // namespace gradus::python
