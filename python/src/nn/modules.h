// A module of C++ as a class of Python: constructed from its options, called with what forward()
// takes.
#pragma once

#include <gradus/nn/nn.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "errors.h"
#include "nn/placement.h"
#include "nn/registered.h"
#include "options.h"
#include "rows/rows.h"

namespace gradus::python {

// The result of a forward() as Python shows it.
template <class T>
nb::object result_object(const T& result) {
  if constexpr (requires { result.output; }) {
    return nb::make_tuple(nb::cast(result.output), result.loss);
  } else if constexpr (std::is_same_v<T, nn::utils::rnn::PackedSequence>) {
    return nb::cast(result);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return std::apply(
        [](const auto&... each) { return nb::object(nb::make_tuple(result_object(each)...)); },
        result);
  } else {
    return to_python(result);
  }
}

// The arguments of forward() by their types: those that the call leaves out keep C++'s defaults.
template <class T>
struct Argument : Param<T> {};
// A switch that keywords pass over is on.
template <>
struct Argument<bool> : Param<bool> {
  bool load(nb::handle from, bool convert) {
    return from.is_none() ? (value = true) : Param<bool>::load(from, convert);
  }
};
template <class... T>
struct Argument<std::tuple<T...>> {
  std::tuple<T...> value;
  bool load(nb::handle from, bool) { return load_option(from, value); }
  const std::tuple<T...>& get() const { return value; }
};
template <class T>
requires nn::detail::Tuple<T>
struct Argument<std::optional<T>> {
  std::optional<T> value;
  bool load(nb::handle from, bool) { return load_option(from, value); }
  const std::optional<T>& get() const { return value; }
};
template <>
struct Argument<std::optional<std::vector<int64_t>>> {
  std::optional<std::vector<int64_t>> value;
  bool load(nb::handle from, bool) { return load_option(from, value); }
  const std::optional<std::vector<int64_t>>& get() const { return value; }
};

// Says what forward() of a module was given, and the types that it takes.
[[noreturn]] void fail_forward(const nn::Module& module, const nb::args& given,
                               const std::vector<std::string>& expected);

template <class>
struct Forward;
template <class M, class R, class... A>
struct Forward<R (M::*)(A...)> {
  using Class = M;
  // The types for a signature: "(self, query: Tensor, mask: Tensor | None = None) -> Tensor".
  template <class Impl>
  static std::string signature(const std::vector<std::string>& names) {
    const std::vector<std::string> types = {type_text<std::decay_t<A>>()...};
    const std::vector<bool> tensors = {std::is_same_v<std::decay_t<A>, Tensor>...};
    const size_t required = fewest<Impl>(std::make_index_sequence<sizeof...(A) + 1>{});
    std::string out = "(self";
    for (size_t i = 0; i < types.size(); ++i) {
      out += ", " + names.at(i) + ": " + types[i];
      if (i >= required)
        out += types[i] == "bool" ? " = True" : tensors[i] ? " | None = None" : " = None";
    }
    return out + ") -> " + type_text<R>();
  }
  // Calls the module with as many arguments as were given; with its hooks, if asked.
  template <bool hooks, class Impl>
  static nb::object call(Impl& module, const nb::args& args) {
    nb::object out;
    const bool called = [&]<size_t... N>(std::index_sequence<N...>) {
      return (... || (args.size() == N &&
                      with<hooks, Impl>(module, args, out, std::make_index_sequence<N>{})));
    }
    (std::make_index_sequence<sizeof...(A) + 1>{});
    if (!called) fail_forward(module, args, {type_text<std::decay_t<A>>()...});
    return out;
  }

 private:
  template <class Impl, size_t... I>
  static constexpr bool takes(std::index_sequence<I...>) {
    using All = std::tuple<std::decay_t<A>...>;
    return requires(Impl & layer, std::tuple_element_t<I, All> & ... arg) {
      layer.forward(arg...);
    };
  }
  // How many arguments a call needs.
  template <class Impl, size_t... N>
  static constexpr size_t fewest(std::index_sequence<N...>) {
    size_t out = 0;
    (void)(... || (takes<Impl>(std::make_index_sequence<N>{}) || (++out, false)));
    return out;
  }
  // What forward() is given. A tensor of Python's is not copied.
  template <class T>
  static decltype(auto) passed(const Argument<T>& given) {
    if constexpr (std::is_same_v<T, Tensor>)
      return given.get();
    else
      return T(given.get());
  }
  template <bool hooks, class Impl, size_t... I>
  static bool with(Impl& module, const nb::args& args, nb::object& out, std::index_sequence<I...>) {
    using All = std::tuple<std::decay_t<A>...>;
    if constexpr (requires(std::tuple_element_t<I, All> & ... arg) { module.forward(arg...); }) {
      std::tuple<Argument<std::tuple_element_t<I, All>>...> given;
      if (!(... && std::get<I>(given).load(PyTuple_GetItem(args.ptr(), I), true))) return false;
      const R result = released<R>([&]() -> R {
        if constexpr (hooks) return nn::Module::call(module, passed(std::get<I>(given))...);
        return nn::Module::with_path(module,
                                     [&] { return module.forward(passed(std::get<I>(given))...); });
      });
      out = result_object(result);
      return true;
    } else {
      return false;
    }
  }
};

// A layer that takes sequences packed step by step, and the state that it begins with.
template <class Impl>
concept TakesPacked = requires(Impl& layer, const nn::utils::rnn::PackedSequence& input) {
  layer.forward_with_packed_input(input);
};
template <class Impl, class R, class M, class State>
nb::object call_packed(Impl& layer, const nb::args& args,
                       R (M::*)(const nn::utils::rnn::PackedSequence&, State)) {
  Argument<State> state;
  const bool loaded =
      args.size() < 3 &&
      state.load(args.size() == 2 ? nb::handle(args[1]) : nb::handle(Py_None), true);
  check<TypeError>(loaded, "forward: expected a PackedSequence, and the state that it begins with");
  const auto& input = nb::cast<const nn::utils::rnn::PackedSequence&>(args[0]);
  const R result = released<R>([&] {
    return nn::Module::with_path(
        layer, [&] { return layer.forward_with_packed_input(input, state.get()); });
  });
  return result_object(result);
}

// "query, key, value" as names; that of an argument alone is input.
std::vector<std::string> names_of(std::string_view list);
// Keywords of forward() by name, in the order of its parameters.
nb::args with_keywords(const nb::args& args, const nb::kwargs& given,
                       const std::vector<std::string>& names);
// Errors: Error for a module whose __init__ has not been called.
void check_made(nb::handle module);
// Calls the method where the object's class has one of its own, which a constructor of C++ does not
// see.
void call_override(nb::handle object, nb::handle base, const char* method);
// Whether a module of C++ has hooks of Python, or its object a forward() of its own.
bool is_called_by_python(nb::handle module);
// Module._call(). Returns null with an error of Python.
PyObject* call_by_python(PyObject* module, PyObject* args, PyObject* keywords);
// The keyword return_indices: as the last of a signature, and taken out of the keywords.
std::string with_return_indices(const std::string& signature);
bool take_return_indices(const char* function, nb::dict& keywords);
// Errors: TypeError where keywords are left that nothing has taken.
void check_all_taken(const char* function, const nb::dict& keywords);

template <class Impl>
using OptionsOf = std::remove_cvref_t<decltype(std::declval<Impl&>().options)>;

// A pool that can say where its elements come from. Its object keeps return_indices of Python.
template <class Impl>
concept SaysPlaces = requires(Impl& pool, const Tensor& x) {
  pool.forward_with_indices(x);
};
bool returns_indices(nb::handle pool);
void set_return_indices(nb::handle pool, bool on);

// The names of what forward() takes.
template <class Impl>
inline std::vector<std::string> forward_names;

// forward() of a pool that says where its elements come from, with these places.
template <SaysPlaces Impl>
nb::object forward_with_places(Impl& module, const nb::args& args) {
  check<TypeError>(args.size() == 1 && is_tensor(args[0].ptr()), "forward: expected a tensor");
  const Tensor& x = tensor_of(args[0].ptr());
  return result_object(released<TensorPair>([&] {
    return nn::Module::with_path(module, [&] { return module.forward_with_indices(x); });
  }));
}

// forward(), with arguments by place or by name; between the hooks that C++ knows, if asked.
template <class Impl, bool hooks>
nb::object call_forward(nb::handle self, nb::args args, const nb::kwargs& keywords) {
  Impl& module = *nb::inst_ptr<Impl>(self);
  if (keywords.is_valid() && keywords.size() > 0)
    args = with_keywords(args, keywords, forward_names<Impl>);
  if constexpr (SaysPlaces<Impl>)
    if (returns_indices(self)) return forward_with_places(module, args);
  if constexpr (TakesPacked<Impl>)
    if (args.size() > 0 && nb::isinstance<nn::utils::rnn::PackedSequence>(args[0]))
      return call_packed(module, args, &Impl::forward_with_packed_input);
  return Forward<decltype(&Impl::forward)>::template call<hooks>(module, args);
}

// A call of the module, which Python makes without nanobind. Python calls it between hooks of
// Python, and where the object has a forward() of its own.
template <class Impl>
PyObject* call_module(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    check_made(self);
    if (is_called_by_python(self)) return call_by_python(self, args, keywords);
    return call_forward<Impl, true>(self, nb::borrow<nb::args>(args),
                                    nb::borrow<nb::kwargs>(keywords))
        .release()
        .ptr();
  });
}

// The method forward, whose signature is that of a call, too (stubs/make.py).
template <class Impl>
void bind_forward(nb::class_<Impl, nn::Module>& c, std::string_view forward) {
  forward_names<Impl> = names_of(forward);
  c.def(
      "forward",
      [](nb::pointer_and_handle<Impl> self, const nb::args& args, const nb::kwargs& keywords) {
        return call_forward<Impl, false>(self.h, args, keywords);
      },
      nb::sig(kept("def forward" + Forward<decltype(&Impl::forward)>::template signature<Impl>(
                                       forward_names<Impl>))));
}

// The member of that name, of those that a module of C++ registers; null where there is none.
template <class Impl>
Tensor* member_named(Impl& module, std::string_view name) {
#define MEMBER(member)                                                \
  if constexpr (requires { static_cast<Tensor*>(&module.member); }) { \
    if (name == #member) return &module.member;                       \
  }
  MEMBER(weight)
  MEMBER(bias)
  MEMBER(running_mean)
  MEMBER(running_var)
  MEMBER(num_batches_tracked)
  MEMBER(weight_ih)
  MEMBER(weight_hh)
  MEMBER(bias_ih)
  MEMBER(bias_hh)
  MEMBER(in_proj_weight)
  MEMBER(in_proj_bias)
  MEMBER(q_proj_weight)
  MEMBER(k_proj_weight)
  MEMBER(v_proj_weight)
  MEMBER(bias_k)
  MEMBER(bias_v)
  MEMBER(pos_weight)
  MEMBER(_random_samples)
#undef MEMBER
  return nullptr;
}

// One row: Impl under its name. forward: the names of what forward() takes.
template <class Impl>
void add_module(nb::module_& m, const char* name, const char* doc, std::string_view forward) {
  using Chosen = OptionsOf<Impl>;
  using Binding = OptionBinding<Chosen>;
  auto slots = slots_called_by(&call_module<Impl>);
  nb::class_<Impl, nn::Module> c(m, name, nb::type_slots(slots.data()), doc);
  note_members(typeid(Impl), [](nn::Module& module, std::string_view member) {
    return member_named(static_cast<Impl&>(module), member);
  });
  const std::string listed = signature_of(Binding::texts());
  const std::string own = SaysPlaces<Impl> ? with_return_indices(listed) : listed;
  const std::string signature =
      "def __init__(self" + own +
      (SaysPlaces<Impl> && own.find(", *, ") == own.npos ? ", *, " : ", ") +
      "device: device | str | int | None = None" +
      (own.find(", dtype: ") == own.npos ? ", dtype: dtype | None = None) -> None" : ") -> None");
  c.def(
      "__init__",
      [name](nb::pointer_and_handle<Impl> self, const nb::args& args, const nb::kwargs& kwargs) {
        nb::dict keywords;
        keywords.update(kwargs);
        const bool places = SaysPlaces<Impl> && take_return_indices(name, keywords);
        static const std::optional<size_t> places_of_options = place_count(Binding::texts());
        const nb::args of_options = places_of_options && !SaysPlaces<Impl>
                                        ? take_placement(name, args, *places_of_options, keywords)
                                        : args;
        const Chosen options = Binding::read(name, of_options, 0, keywords);
        // Of what is left: some options are called dtype, too.
        const Placement placement(keywords);
        check_all_taken(name, keywords);
        new (self.p) Impl(options);
        placement.apply(*self.p);
        if constexpr (SaysPlaces<Impl>) set_return_indices(self.h, places);
        if constexpr (requires(Impl & impl) { impl.reset_parameters(); })
          call_override(self.h, nb::type<Impl>(), "reset_parameters");
      },
      nb::sig(kept(signature)));
  // The options, as attributes and for repr().
  c.def("_options", [](Impl& self) {
    nb::dict out;
    Binding::each(self.options, [&](const auto& field) {
      const std::string_view option = python_name(field.name);
      out[nb::str(option.data(), option.size())] = option_object(field.value);
    });
    return out;
  });
  c.def("_defaults", [](const Impl&) { return Binding::defaults(); });
  // Sets an option, which the next forward() reads. Returns whether there is one of that name.
  c.def("_set_option", [name](Impl& self, const std::string& option, nb::handle value) {
    // Those that the shapes of weights follow are fixed.
    if constexpr (requires { self.options_base; })
      if (option != "batch_first" && option != "dropout") return false;
    const bool found = Binding::set(name, self.options, option, value);
    if constexpr (requires { self.options_base; })
      self.options_base = nn::detail::base_of(self.options);
    return found;
  });
  bind_forward(c, forward);
#define METHOD(method)                                    \
  if constexpr (requires(Impl & impl) { impl.method(); }) \
    c.def(#method, [](Impl& self) { self.method(); });
  METHOD(reset_parameters)
  METHOD(reset_running_stats)
  METHOD(flatten_parameters)
#undef METHOD
#define METHOD(method)                                                              \
  if constexpr (requires(Impl & impl, const Tensor& x) { Tensor(impl.method(x)); }) \
    c.def(                                                                          \
        #method,                                                                    \
        [](Impl& self, const Tensor& input) {                                       \
          return released<Tensor>([&] { return self.method(input); });              \
        },                                                                          \
        nb::arg("input"));
  METHOD(log_prob)
  METHOD(predict)
#undef METHOD
}

void bind_layers(nb::module_& m);
void bind_activations(nb::module_& m);
void bind_losses(nb::module_& m);
void bind_functional(nb::module_& m);
void bind_packed(nb::module_& m);

}  // namespace gradus::python
