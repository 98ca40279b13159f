// A row of tensor/table/*.def as a Python function: names, defaults and the docstring come from the
// row, the types from its C++ declaration, and a Param (params.h) reads each argument.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "default_device.h"
#include "given.h"

namespace gradus::python {

// A row's parameters: names from its text, defaults from a call; null where there is none.
struct RowParam {
  const char* name;
  nb::object value;
};
using RowParams = std::vector<RowParam>;

// A copy that lives as long as the process.
const char* kept(std::string_view text);
// "(dim, keepdim)" gives these names, but for those that Python calls otherwise.
RowParams named(std::string_view row, std::string_view args, std::vector<nb::object> defaults);
// The type of a tuple where the docstring begins with its names, "(values, indices)"; else null.
PyTypeObject* tuple_type(const char* row, std::string_view doc);

// The values that a row's parameters have where a call gives the required ones alone.
struct Defaults {
  template <class... T>
  static Defaults of(const T&... values) {
    Defaults out;
    out.values.reserve(sizeof...(T));
    (out.values.push_back(to_python(values)), ...);
    return out;
  }
  std::vector<nb::object> values;
};

namespace row_detail {
template <class T>
T blank() {
  if constexpr (std::is_same_v<T, Device>)
    return kCPU;
  else if constexpr (std::is_same_v<T, PaddingName>)
    return "";
  else
    return T{};
}
// Calls f with the first arguments where it takes so few; theirs are no defaults.
template <class... A, class F, size_t... I>
bool call_with(const F& f, std::vector<nb::object>& out, std::index_sequence<I...>) {
  using All = std::tuple<A...>;
  if constexpr (std::is_invocable_v<F, std::tuple_element_t<I, All>...>) {
    out = f(blank<std::tuple_element_t<I, All>>()...).values;
    (out[I].reset(), ...);
    return true;
  } else {
    return false;
  }
}
template <class... A, class F, size_t... N>
std::vector<nb::object> call_with_fewest(const F& f, std::index_sequence<N...>) {
  std::vector<nb::object> out;
  (void)(... || call_with<A...>(f, out, std::make_index_sequence<N>{}));
  return out;
}
}  // namespace row_detail
template <class T>
inline constexpr bool may_be_none = std::is_same_v<T, OptionalIntArrayRef>;
template <class T>
inline constexpr bool may_be_none<std::optional<T>> = true;
// None stands for what may be left out in PyTorch, and has no default in C++ since others follow.
template <class... A, class F>
std::vector<nb::object> defaults_of(const F& f) {
  std::vector<nb::object> out = row_detail::call_with_fewest<std::decay_t<A>...>(
      f, std::make_index_sequence<sizeof...(A) + 1>{});
  out.resize(sizeof...(A));
  size_t i = 0;
  (...,
   (may_be_none<std::decay_t<A>> && !out[i].is_valid() ? void(out[i] = nb::none()) : void(), ++i));
  return out;
}

// --- What is bound: functions of C++ that run with the GIL released

inline constexpr int64_t kManyElements = 1024;

template <class R, class F>
R released(const F& f) {
  const Released other_threads_run;
  return f();
}

// How many elements an argument has to be worked on; those of a GPU count as many.
inline int64_t work_of(const Tensor& x) {
  return !x.defined() ? 0 : x.is_cuda() ? kManyElements : x.numel();
}
template <class T>
int64_t work_of(const Param<T>&) {
  return 0;
}
inline int64_t work_of(const Param<Tensor>& x) { return work_of(*x.value); }
inline int64_t work_of(const Param<Operand>& x) {
  return x.value.tensor ? work_of(*x.value.tensor) : 0;
}
inline int64_t work_of(const Param<IntArrayRef>& x) {
  int64_t out = 1;
  for (size_t i = 0; i < x.value.size; ++i)
    out = std::min(kManyElements, out * std::clamp(x.value.data[i], int64_t{1}, kManyElements));
  return out;
}
template <class T>
int64_t work_of(const Param<ArrayRef<T>>&) {
  return kManyElements;
}
inline int64_t work_of(const Operand& x) { return x.tensor ? work_of(*x.tensor) : 0; }
// f(), with the GIL released where the arguments have many elements: letting go of it and taking it
// again lasts as long as an operation on few.
template <class R, class F>
R computed_on(const F& f, int64_t elements) {
  if (elements >= kManyElements) return released<R>(f);
  Released::prepare();
  return f();
}
template <class R, class F, class... T>
R computed(const F& f, const Param<T>&... given) {
  return computed_on<R>(f, (int64_t{0} + ... + work_of(given)));
}

template <class R, class... A>
struct Call {
  R (*function)(A...);
  PyTypeObject* type;
  Returned<R> operator()(Given<std::decay_t<A>>&... given) const {
    return {computed<R>([&] { return function(given.get()...); }, given...), type};
  }
};

// With an argument out=.
template <class R, class... A>
struct CallOut {
  R (*function)(A...);
  PyTypeObject* type;
  const char* name;
  static constexpr bool one = std::is_same_v<R, Tensor>;
  using Out = std::conditional_t<one, Tensor, ArrayRef<Tensor>>;
  Returned<R> operator()(Given<std::decay_t<A>>&... given, Given<std::optional<Out>>& out) const {
    return {computed<R>(
                [&] {
                  R result = function(given.get()...);
                  return out.given ? write(out.value.value, result) : result;
                },
                given...),
            type};
  }
  Tensor write(const Tensor* out, const Tensor& result) const {
    Tensor target = *out;
    return detail::write_out(name, target, result);
  }
  R write(std::vector<Tensor>& out, const R& results) const {
    return [&]<size_t... I>(std::index_sequence<I...>)->R {
      check<ValueError>(out.size() == sizeof...(I), name, ": out has ", out.size(),
                        " tensors; expected ", sizeof...(I), ", one for each result");
      (detail::write_out(name, out[I], std::get<I>(results)), ...);
      return {out[I]...};
    }
    (std::make_index_sequence<std::tuple_size_v<R>>{});
  }
};

// With numbers as arguments of their own: x.view(2, 3).
template <class R, class... A>
struct CallList {
  R (*function)(const Tensor&, IntArrayRef, A...);
  Returned<R> operator()(Given<Tensor>& self, const nb::args& numbers,
                         Given<std::decay_t<A>>&... given) const {
    Numbers list;
    if (!load(numbers, false, list)) throw nb::next_overload();
    return {computed<R>([&] { return function(self.get(), list, given.get()...); }, self)};
  }
};

// The arguments of Python that become TensorOptions.
struct Options {
  Given<std::optional<ScalarType>>& dtype;
  Given<std::optional<Layout>>& layout;
  Given<std::optional<Device>>& device;
  Given<bool>& requires_grad;
  Given<bool>& pin_memory;
  // like: the result takes the device of a tensor where none is given.
  TensorOptions get(bool like) const {
    TensorOptions out;
    if (dtype.given) out = out.dtype(dtype.get());
    if (layout.given) out = out.layout(layout.get());
    if (device.given || !like) out = out.device(device.given ? device.get() : default_device());
    if (requires_grad.value) out = out.requires_grad(true);
    if (pin_memory.value) out = out.pinned_memory(true);
    return out;
  }
};
#define GRADUS_PYTHON_OPTIONS                                                  \
  Given<std::optional<ScalarType>>&dtype, Given<std::optional<Layout>>&layout, \
      Given<std::optional<Device>>&device, Given<bool>&requires_grad, Given<bool>&pin_memory

// Factories: F is the type of the C++ function, whose parameters are Before, options, After.
template <class F, class Before, class After>
struct Factory;
template <class F, class... B, class... A>
struct Factory<F, std::tuple<B...>, std::tuple<A...>> {
  F function;
  Returned<Tensor> operator()(Given<B>&... before, Given<A>&... after,
                              GRADUS_PYTHON_OPTIONS) const {
    const Options options{dtype, layout, device, requires_grad, pin_memory};
    constexpr bool like = (std::is_same_v<B, Tensor> || ...);
    return {computed<Tensor>(
        [&] { return function(before.get()..., options.get(like), after.get()...); }, before...)};
  }
};
template <class F, class Before, class After>
struct FactoryList;
template <class F, class... B, class... A>
struct FactoryList<F, std::tuple<IntArrayRef, B...>, std::tuple<A...>> {
  F function;
  Returned<Tensor> operator()(const nb::args& size, Given<B>&... before, Given<A>&... after,
                              GRADUS_PYTHON_OPTIONS) const {
    const Options options{dtype, layout, device, requires_grad, pin_memory};
    Numbers list;
    if (!load(size, false, list)) throw nb::next_overload();
    return {released<Tensor>(
        [&] { return function(list, before.get()..., options.get(false), after.get()...); })};
  }
};
#undef GRADUS_PYTHON_OPTIONS

// Binds `functor` under a name. The last `keywords` parameters have names alone.
template <bool method, size_t keywords, class Functor>
void define(nb::handle scope, const char* name, const char* doc, const Functor& functor,
            const RowParams& params) {
  constexpr size_t count = nb::detail::analyze_method<decltype(&Functor::operator())>::argc;
  constexpr size_t places = count - method - keywords;
  const auto arg = [&](size_t i) {
    return nb::arg_v(nb::arg(params[i + method].name), nb::object(params[i + method].value));
  };
  const auto def = [&](const auto&... extra) {
    nb::cpp_function_def(Functor(functor), nb::scope(scope), nb::name(name), doc, extra...);
  };
  [&]<size_t... P, size_t... K>(std::index_sequence<P...>, std::index_sequence<K...>) {
    if constexpr (method && keywords)
      def(nb::is_method(), arg(P)..., nb::kw_only(), arg(places + K)...);
    else if constexpr (method)
      def(nb::is_method(), arg(P)...);
    else if constexpr (keywords)
      def(arg(P)..., nb::kw_only(), arg(places + K)...);
    else
      def(arg(P)...);
  }
  (std::make_index_sequence<places>{}, std::make_index_sequence<keywords>{});
}

// Where rows become attributes: the module and the class Tensor.
struct Scopes {
  nb::handle module, tensor;
};

enum class Form { method, method_out, free, free_out };

template <class>
inline constexpr bool begins_with_list = false;
template <class... A>
inline constexpr bool begins_with_list<std::tuple<const Tensor&, IntArrayRef, A...>> = true;

// --- One row each

// A function, with or without out=, and a method where the first argument is self.
template <Form form, class D, class R, class... A>
void add_row(const Scopes& scopes, const char* name, R (*function)(A...), const D& defaults,
             const char* args, const char* doc) {
  constexpr bool method = form == Form::method || form == Form::method_out;
  constexpr bool out = form == Form::method_out || form == Form::free_out;
  RowParams params;
  if constexpr (method)
    params = [&]<class S, class... Rest>(R (*)(S, Rest...)) {
      RowParams rest = named(name, args, defaults_of<Rest...>(defaults));
      rest.insert(rest.begin(), RowParam{"input", {}});
      return rest;
    }(function);
  else
    params = named(name, args, defaults_of<A...>(defaults));
  PyTypeObject* type = tuple_type(name, doc);
  if constexpr (method) {
    define<true, 0>(scopes.tensor, name, doc, Call<R, A...>{function, type}, params);
    if constexpr (begins_with_list<std::tuple<A...>>) add_list(scopes, name, function, doc, params);
  }
  if constexpr (out) {
    params.push_back({"out", nb::none()});
    define<false, 1>(scopes.module, name, doc, CallOut<R, A...>{function, type, name}, params);
  } else {
    define<false, 0>(scopes.module, name, doc, Call<R, A...>{function, type}, params);
  }
}
// The method whose numbers are arguments of their own, where all others may be left out.
template <class R, class... A>
void add_list(const Scopes& scopes, const char* name,
              R (*function)(const Tensor&, IntArrayRef, A...), const char* doc, RowParams params) {
  for (size_t i = 2; i < params.size(); ++i)
    if (!params[i].value.is_valid()) return;
  params[1].value.reset();  // no numbers are no default
  define<true, 0>(scopes.tensor, name, doc, CallList<R, A...>{function}, params);
}
// The form in place: name_.
template <class D, class... A>
void add_in_place(const Scopes& scopes, const char* name, Tensor (*function)(const Tensor&, A...),
                  const D& defaults, const char* args, const char* doc) {
  RowParams params = named(name, args, defaults_of<A...>(defaults));
  params.insert(params.begin(), RowParam{"input", {}});
  const Call<Tensor, const Tensor&, A...> call{function, nullptr};
  define<true, 0>(scopes.tensor, name, doc, call, params);
  define<false, 0>(scopes.module, name, doc, call, params);
}

namespace row_detail {
template <class Before, class After, class... A>
struct SplitOptions {
  static constexpr bool found = false;
};
template <class... B, class First, class... A>
struct SplitOptions<std::tuple<B...>, std::tuple<>, First, A...>
    : SplitOptions<std::tuple<B..., std::decay_t<First>>, std::tuple<>, A...> {};
template <class... B, class First, class... A>
requires std::is_same_v<std::decay_t<First>, TensorOptions>
struct SplitOptions<std::tuple<B...>, std::tuple<>, First, A...> {
  static constexpr bool found = true;
  using Before = std::tuple<B...>;
  using After = std::tuple<std::decay_t<A>...>;
};
// Whether the numbers of a list may be arguments of their own: zeros(2, 3).
template <class>
inline constexpr bool list_then_optional = false;
template <class... T>
inline constexpr bool list_then_optional<std::tuple<IntArrayRef, std::optional<T>...>> = true;
}  // namespace row_detail

template <class D, class... A>
void add_factory(const Scopes& scopes, const char* name, Tensor (*function)(A...),
                 const D& defaults, const char* args, const char* doc) {
  using Split = row_detail::SplitOptions<std::tuple<>, std::tuple<>, A...>;
  RowParams params = named(name, args, defaults_of<A...>(defaults));
  if constexpr (!Split::found) {
    define<false, 0>(scopes.module, name, doc, Call<Tensor, A...>{function, nullptr}, params);
  } else {
    using Before = typename Split::Before;
    using After = typename Split::After;
    constexpr size_t at = std::tuple_size_v<Before>, after = std::tuple_size_v<After>;
    const nb::object dtype = params[at].value;  // of the row's options
    params.erase(params.begin() + at);
    params.push_back({"dtype", dtype});
    params.push_back({"layout", nb::none()});
    params.push_back({"device", nb::none()});
    params.push_back({"requires_grad", nb::bool_(false)});
    params.push_back({"pin_memory", nb::bool_(false)});
    using F = Tensor (*)(A...);
    define<false, after + 5>(scopes.module, name, doc, Factory<F, Before, After>{function}, params);
    if constexpr (row_detail::list_then_optional<Before>)
      define<false, 0>(scopes.module, name, doc, FactoryList<F, Before, After>{function}, params);
  }
}

// --- The rows of elementwise.def

struct UnaryRow {
  UnaryOp op;
  Tensor (*function)(const Tensor&);
  Returned<Tensor> operator()(Given<Tensor>& self, Given<std::optional<Tensor>>& out) const {
    return {computed<Tensor>(
        [&] {
          if (!out.given) return function(self.get());
          Tensor target = out.get().value();
          return detail::map_out(op, target, self.get());
        },
        self)};
  }
};
struct BinaryRow {
  BinaryOp op;
  Tensor (*tensors)(const Tensor&, const Tensor&);
  Tensor (*number_right)(const Tensor&, const Scalar&);
  Tensor (*number_left)(const Scalar&, const Tensor&);  // null where there is none
  Tensor call(const Operand& self, const Operand& other) const {
    if (self.tensor && other.tensor) return tensors(*self.tensor, *other.tensor);
    if (self.tensor) return number_right(*self.tensor, other.number);
    if (other.tensor && number_left) return number_left(self.number, *other.tensor);
    throw nb::next_overload();
  }
  Tensor call_out(Tensor& out, const Operand& self, const Operand& other) const {
    if (self.tensor && other.tensor) return detail::zip_out(op, out, *self.tensor, *other.tensor);
    if (self.tensor) return detail::zip_out(op, out, *self.tensor, other.number);
    if (other.tensor && number_left) return detail::zip_out(op, out, self.number, *other.tensor);
    throw nb::next_overload();
  }
};

struct BinaryFunction {
  const BinaryRow* row;
  Returned<Tensor> operator()(Given<Operand>& input, Given<Operand>& other,
                              Given<std::optional<Tensor>>& out) const {
    return {computed<Tensor>(
        [&] {
          if (!out.given) return row->call(input.get(), other.get());
          Tensor target = out.get().value();
          return row->call_out(target, input.get(), other.get());
        },
        input, other)};
  }
};
struct BinaryMethod {
  const BinaryRow* row;
  Returned<Tensor> operator()(Given<Tensor>& self, Given<Operand>& other) const {
    return {computed<Tensor>(
        [&] {
          return other.value.tensor ? row->tensors(self.get(), *other.value.tensor)
                                    : row->number_right(self.get(), other.value.number);
        },
        self, other)};
  }
};
struct BinaryInPlace {
  Tensor (*tensors)(const Tensor&, const Tensor&);
  Tensor (*number)(const Tensor&, const Scalar&);
  Returned<Tensor> operator()(Given<Tensor>& self, Given<Operand>& other) const {
    return {computed<Tensor>(
        [&] {
          return other.value.tensor ? tensors(self.get(), *other.value.tensor)
                                    : number(self.get(), other.value.number);
        },
        self, other)};
  }
};

// --- The sources of rows
void bind_elementwise(const Scopes& scopes);
void bind_factories(const Scopes& scopes);
void bind_views(const Scopes& scopes);
void bind_reductions(const Scopes& scopes);
void bind_products(const Scopes& scopes);
void bind_windows(const Scopes& scopes);
// REQUIRES: all rows are bound.
void bind_numpy_keywords(const Scopes& scopes);

}  // namespace gradus::python
