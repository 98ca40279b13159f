// The options of a module, or of a function of nn.functional, as keywords of Python: their names,
// types and defaults come from GRADUS_OPTIONS.
#pragma once

#include <gradus/nn/nn.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "objects.h"
#include "params.h"

namespace gradus::python {

// The texts that Python has for the values of an enumeration, in their order.
template <class E>
inline constexpr std::array<const char*, 0> texts_of{};
template <>
inline constexpr std::array texts_of<Reduction> = {"none", "mean", "sum", "batchmean"};
template <>
inline constexpr std::array texts_of<PaddingMode> = {"zeros", "reflect", "replicate", "circular"};
template <>
inline constexpr std::array texts_of<PaddingSize> = {"valid", "same"};
template <>
inline constexpr std::array texts_of<Maximum> = {"max"};
template <>
inline constexpr std::array texts_of<Interpolation> = {
    "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"};
template <>
inline constexpr std::array texts_of<Nonlinearity> = {
    "linear",           "conv1d",  "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "sigmoid", "tanh",   "relu",   "leaky_relu",       "gelu"};
// Other texts that PyTorch has for some.
template <class E>
inline constexpr std::array<std::pair<const char*, E>, 0> other_texts_of{};
template <>
inline constexpr std::array other_texts_of<PaddingMode> = {
    std::pair("constant", PaddingMode::Constant), std::pair("border", PaddingMode::Replicate),
    std::pair("reflection", PaddingMode::Reflect)};

template <class T>
concept Enumeration = std::is_enum_v<T> && !std::is_same_v<T, ScalarType>;
template <class T>
concept Expanding = is_expanding_array<T>;
template <class T>
concept Holder = requires {
  typename T::ContainedType;
};
template <class>
inline constexpr bool is_function = false;
template <class R, class... A>
inline constexpr bool is_function<std::function<R(A...)>> = true;

// A function of C++ that calls one of Python.
template <class R, class... A>
void wrap(nb::handle callable, std::function<R(A...)>& to) {
  to = [held = hold(callable)](A... args) -> R {
    const Acquired python;
    const nb::object result = nb::handle(held.get())(nb::cast(args)...);
    return nb::cast<R>(result);
  };
}

template <class T>
bool load_option(nb::handle from, T& to);
// Reads one kind of value of a variant.
template <class Alternative, class T>
bool load_alternative(nb::handle from, T& to) {
  Alternative value{};
  if (!load_option(from, value)) return false;
  to = std::move(value);
  return true;
}
// Reads the value of an option. Returns false where the object is of another kind.
template <class T>
bool load_option(nb::handle from, T& to) {
  if constexpr (Enumeration<T>) {
    std::string_view text;
    if (!load(from, true, text)) return false;
    for (size_t i = 0; i < texts_of<T>.size(); ++i)
      if (text == texts_of<T>[i]) {
        to = static_cast<T>(i);
        return true;
      }
    for (const auto& [other, value] : other_texts_of<T>)
      if (text == other) {
        to = value;
        return true;
      }
    return false;
  } else if constexpr (std::is_same_v<T, int>) {
    int64_t value;
    if (!load(from, true, value)) return false;
    to = static_cast<int>(value);
    return true;
  } else if constexpr (std::is_same_v<T, std::string>) {
    std::string_view text;
    if (!load(from, true, text)) return false;
    to = text;
    return true;
  } else if constexpr (std::is_same_v<T, Tensor>) {
    if (!from.is_none() && !is_tensor(from.ptr())) return false;
    to = from.is_none() ? Tensor() : tensor_of(from.ptr());
    return true;
  } else if constexpr (Expanding<T>) {
    using Element = std::remove_cvref_t<decltype(to[0])>;
    if (Element one; load_option(from, one)) {
      to = T(one);
      return true;
    }
    std::vector<Element> list;
    if (!load_option(from, list) || list.size() != to.size()) return false;
    to = T(list);
    return true;
  } else if constexpr (nn::detail::kIsOptional<T>) {
    if (from.is_none()) {
      to.reset();
      return true;
    }
    typename T::value_type value{};
    if (!load_option(from, value)) return false;
    to = std::move(value);
    return true;
  } else if constexpr (nn::detail::kIsVector<T>) {
    to.clear();
    if (!PyTuple_Check(from.ptr()) && !PyList_Check(from.ptr())) {
      if (!std::is_arithmetic_v<typename T::value_type>) return false;
      typename T::value_type one{};
      if (!load_option(from, one)) return false;
      to.push_back(one);
      return true;
    }
    for (const nb::handle item : nb::borrow<nb::iterable>(from)) {
      typename T::value_type one{};
      if (!load_option(item, one)) return false;
      to.push_back(one);
    }
    return true;
  } else if constexpr (is_function<T>) {
    if (!PyCallable_Check(from.ptr())) return false;
    wrap(from, to);
    return true;
  } else if constexpr (Holder<T>) {
    std::shared_ptr<typename T::ContainedType> module;
    if (!nb::try_cast(from, module)) return false;
    to = T(module);
    return true;
  } else if constexpr (requires { to.amounts; }) {  // ConvPadding
    PaddingSize name;
    if (load_option(from, name)) {
      to = T(name);
      return true;
    }
    auto numbers = to.amounts;
    if (!load_option(from, numbers)) return false;
    to = T(numbers);
    return true;
  } else if constexpr (std::is_same_v<T, nn::InterpolationMode>) {
    return load_option(from, to.value);
  } else if constexpr (requires { std::variant_size<T>::value; }) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return (... || load_alternative<std::variant_alternative_t<I, T>>(from, to));
    }
    (std::make_index_sequence<std::variant_size_v<T>>{});
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    if (!PyTuple_Check(from.ptr()) || nb::len(from) != std::tuple_size_v<T>) return false;
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return (... && load_option(nb::object(from[I]), std::get<I>(to)));
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (requires { load(from, true, to); }) {
    return load(from, true, to);
  } else {
    return false;  // nothing of Python is such an option
  }
}

// An option's value as Python shows it.
template <class T>
nb::object option_object(const T& value) {
  if constexpr (Enumeration<T>) {
    const size_t i = static_cast<size_t>(value);
    return i < texts_of<T>.size() ? nb::object(nb::str(texts_of<T>[i])) : nb::none();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return to_python(std::string_view(value));
  } else if constexpr (nn::detail::kIsOptional<T>) {
    return value ? option_object(*value) : nb::none();
  } else if constexpr (Expanding<T> || nn::detail::kIsVector<T>) {
    nb::list out;
    for (const auto& each : value) out.append(option_object(each));
    return nb::tuple(out);
  } else if constexpr (requires { value.amounts; }) {
    return value.name ? option_object(*value.name) : option_object(value.amounts);
  } else if constexpr (std::is_same_v<T, nn::InterpolationMode>) {
    return option_object(value.value);
  } else if constexpr (Holder<T>) {
    return value.is_empty() ? nb::none() : nb::cast(value.ptr());
  } else if constexpr (requires { std::variant_size<T>::value; }) {
    return std::visit([](const auto& each) { return option_object(each); }, value);
  } else if constexpr (requires { to_python(value); }) {
    return to_python(value);
  } else {
    return nb::none();
  }
}

// The texts with `between` between them: "int, str".
std::string joined(const std::vector<std::string>& texts, std::string_view between);
// "int | str", each type once.
std::string one_of_types(const std::vector<std::string>& types);

// How a type is written in a signature.
template <class T>
std::string type_text() {
  if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_integral_v<T>) {
    return "int";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "float";
  } else if constexpr (Enumeration<T> || std::is_same_v<T, std::string> ||
                       std::is_same_v<T, nn::InterpolationMode>) {
    return "str";
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return "Tensor";
  } else if constexpr (std::is_same_v<T, ScalarType>) {
    return "dtype";
  } else if constexpr (nn::detail::kIsOptional<T>) {
    return type_text<typename T::value_type>() + " | None";
  } else if constexpr (nn::detail::kIsVector<T> || Expanding<T>) {
    using Element = std::remove_cvref_t<decltype(std::declval<T>()[0])>;
    const std::string list = "collections.abc.Sequence[" + type_text<Element>() + "]";
    // One number stands for a list of it.
    return nn::detail::kIsVector<T> && !std::is_arithmetic_v<Element>
               ? list
               : type_text<Element>() + " | " + list;
  } else if constexpr (is_function<T>) {
    return "collections.abc.Callable[..., " + type_text<typename T::result_type>() + "]";
  } else if constexpr (Holder<T>) {
    return "Module";
  } else if constexpr (requires(T value) { value.amounts; }) {  // ConvPadding
    return "str | " + type_text<decltype(T::amounts)>();
  } else if constexpr (requires(T value) { value.output; }) {  // ASMoutput
    return "tuple[" + type_text<decltype(T::output)>() + ", " + type_text<decltype(T::loss)>() +
           "]";
  } else if constexpr (requires { std::variant_size<T>::value; }) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return one_of_types({type_text<std::variant_alternative_t<I, T>>()...});
    }
    (std::make_index_sequence<std::variant_size_v<T>>{});
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return "tuple[" + joined({type_text<std::tuple_element_t<I, T>>()...}, ", ") + "]";
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else {
    return "object";
  }
}

// Options made of as few arguments as their constructor needs, each of which is `number` if it may.
template <int number>
struct AnyArgument {
  template <class T>
  requires(!requires { T::argument_count; })  // not the options themselves
  operator const T&() const {
    static const T blank = [] {
      if constexpr (std::is_arithmetic_v<T> || Expanding<T> || !std::is_default_constructible_v<T>)
        return T(number);
      else
        return T{};
    }();
    return blank;
  }
};
template <class Options, int number = 0>
Options blank_options() {
  if constexpr (std::is_default_constructible_v<Options>) {
    return Options{};
  } else {
    return []<size_t... I>(std::index_sequence<I...>) {
      return Options(((void)I, AnyArgument<number>{})...);
    }
    (std::make_index_sequence<Options::argument_count>{});
  }
}

// What an options struct is in Python, apart from its type.
struct OptionText {
  std::string name, type, value;  // value: of the default, empty where there is none
  bool has_place;
};
// ", in_features: int, out_features: int, bias: bool = True"
std::string signature_of(const std::vector<OptionText>& options);
// Errors: TypeError for an argument that no option takes, one given twice and one missing.
[[noreturn]] void fail_argument(const char* function, std::string_view name, const char* what);
// Errors: ValueError for a text that is none of the choices, else TypeError.
[[noreturn]] void fail_value(const char* function, std::string_view name, nb::handle given,
                             const std::string& type, const std::vector<std::string>& choices = {});
// The texts that stand for values of a type.
template <class T>
std::vector<std::string> choices_of() {
  std::vector<std::string> out;
  if constexpr (Enumeration<T>) {
    out.assign(texts_of<T>.begin(), texts_of<T>.end());
    for (const auto& other : other_texts_of<T>) out.emplace_back(other.first);
  } else if constexpr (std::is_same_v<T, nn::InterpolationMode>) {
    return choices_of<Interpolation>();
  } else if constexpr (requires(T value) { value.amounts; }) {  // ConvPadding
    return choices_of<PaddingSize>();
  } else if constexpr (nn::detail::kIsOptional<T>) {
    return choices_of<typename T::value_type>();
  } else if constexpr (requires { std::variant_size<T>::value; }) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      const auto add = [&](const std::vector<std::string>& texts) {
        out.insert(out.end(), texts.begin(), texts.end());
      };
      (add(choices_of<std::variant_alternative_t<I, T>>()), ...);
    }
    (std::make_index_sequence<std::variant_size_v<T>>{});
  }
  return out;
}
// What Python calls an option: the name that C++ has, but for words of Python and PyTorch's own.
constexpr std::string_view python_name(std::string_view name) {
  return name == "lambda" ? "lambd" : name == "sizes" ? "unflattened_size" : name;
}

template <class Options>
struct OptionBinding {
  // Calls f(option) for each NamedOption.
  template <class F>
  static void each(Options& options, const F& f) {
    if constexpr (requires { options.fields(); })
      std::apply([&](const auto&... field) { (f(field), ...); }, options.fields());
  }
  template <class T>
  static bool has_place(Options& options, const T& value) {
    if constexpr (requires { options.places(); })
      return std::apply(
          [&](auto&... place) {
            return (... || (static_cast<const void*>(&place) == static_cast<const void*>(&value)));
          },
          options.places());
    else
      return false;
  }
  static constexpr size_t required() {
    if constexpr (std::is_default_constructible_v<Options>)
      return 0;
    else
      return Options::argument_count;
  }

  static constexpr size_t arguments() {
    if constexpr (requires { Options::argument_count; })
      return Options::argument_count;
    else
      return 0;
  }
  // Which options have a default that follows from an argument: stride, which is kernel_size.
  static const std::vector<bool>& following() {
    static const std::vector<bool> out = [] {
      std::vector<bool> follows;
      Options zeros = blank_options<Options, 0>(), ones = blank_options<Options, 1>();
      std::vector<nb::object> values;
      each(zeros, [&](const auto& field) { values.push_back(option_object(field.value)); });
      each(ones, [&](const auto& field) {
        const size_t i = follows.size();
        follows.push_back(i >= arguments() && !values[i].equal(option_object(field.value)));
      });
      return follows;
    }();
    return out;
  }

  static std::vector<OptionText> texts() {
    Options options = blank_options<Options>();
    std::vector<OptionText> out;
    each(options, [&](const auto& field) {
      using T = std::remove_cvref_t<decltype(field.value)>;
      const bool follows = following()[out.size()];
      const std::string type =
          type_text<T>() + (std::is_same_v<T, Tensor> || follows ? " | None" : "");
      std::string value;
      if (follows)
        value = "None";
      else if (out.size() >= required())
        value = nb::cast<std::string>(nb::repr(option_object(field.value)));
      out.push_back(
          {std::string(python_name(field.name)), type, value, has_place(options, field.value)});
    });
    return out;
  }

  // The names of the options as keywords, which last as long as the process.
  static const std::vector<PyObject*>& keys() {
    static const std::vector<PyObject*> out = [] {
      std::vector<PyObject*> names;
      Options options = blank_options<Options>();
      each(options, [&](const auto& field) {
        names.push_back(PyUnicode_InternFromString(std::string(python_name(field.name)).c_str()));
      });
      return names;
    }();
    return out;
  }

  // Options from the positional arguments [first, end), and from keywords, which are taken out.
  static Options read(const char* function, const nb::args& args, size_t first,
                      nb::dict& keywords) {
    if constexpr (required() == 0) {
      static const Options defaults = with_defaults(blank_options<Options>());
      if (args.size() == first && keywords.size() == 0) return defaults;
    }
    Options options = blank_options<Options>();
    size_t at = first;
    const auto take = [&](size_t begin, size_t end) {
      size_t next = 0;
      each(options, [&](const auto& field) {
        const size_t index = next++;
        if (index < begin || index >= end) return;
        using T = std::remove_cvref_t<decltype(field.value)>;
        T& value = const_cast<T&>(field.value);
        const std::string_view name = python_name(field.name);
        const nb::handle key(keys()[index]);
        nb::object given;
        if (has_place(options, value) && at < args.size()) {
          given = args[at++];
          if (keywords.contains(key)) fail_argument(function, name, "is given twice");
        } else if (keywords.contains(key)) {
          given = nb::object(keywords[key]);
          PyDict_DelItem(keywords.ptr(), key.ptr());
        }
        if (!given.is_valid()) {
          if (index < required()) fail_argument(function, name, "is missing");
        } else if (!(given.is_none() && following()[index]) && !load_option(given, value)) {
          fail_value(function, name, given, type_text<T>(), choices_of<T>());
        }
      });
    };
    take(0, arguments());
    options = with_defaults(options);
    take(arguments(), SIZE_MAX);
    if (at < args.size()) fail_argument(function, "", "too many arguments");
    return options;
  }

  // Sets the option of that name. Returns whether there is one. Errors: as for an argument.
  static bool set(const char* function, Options& options, std::string_view name, nb::handle given) {
    bool found = false;
    each(options, [&](const auto& field) {
      using T = std::remove_cvref_t<decltype(field.value)>;
      if (python_name(field.name) != name) return;
      found = true;
      if (!load_option(given, const_cast<T&>(field.value)))
        fail_value(function, name, given, type_text<T>(), choices_of<T>());
    });
    return found;
  }

  // The options that may be left out, and are the same then whatever the others are.
  static nb::dict defaults() {
    nb::dict out;
    size_t i = 0;
    Options options = blank_options<Options>();
    each(options, [&](const auto& field) {
      const bool required_or_following = i < required() || following()[i];
      ++i;
      if (required_or_following) return;
      const std::string_view name = python_name(field.name);
      out[nb::str(name.data(), name.size())] = option_object(field.value);
    });
    return out;
  }

 private:
  // The arguments of `from`, and the defaults that follow from them.
  static Options with_defaults(const Options& from) {
    if constexpr (arguments() > 0) {
      const auto fields = from.fields();
      return [&]<size_t... I>(std::index_sequence<I...>) {
        return Options(std::get<I>(fields).value...);
      }
      (std::make_index_sequence<arguments()>{});
    } else {
      return from;
    }
  }
};

}  // namespace gradus::python
