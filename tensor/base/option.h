// Options of modules and optimizers, set by name: LinearOptions(3, 4).bias(false).
#pragma once

#include <concepts>
#include <string_view>
#include <tuple>

namespace gradus {

// An option as `fields()` lists it.
template <class T>
struct NamedOption {
  std::string_view name;
  const T& value;
  bool hidden = false;  // from the text of a module

  // Tensors are equal where they are the same tensor.
  bool operator==(const NamedOption& other) const {
    if constexpr (requires { value.is_same(other.value); })
      return value.defined() ? value.is_same(other.value) : !other.value.defined();
    else
      return value == other.value;
  }
};

template <class T>
NamedOption<T> named_option(std::string_view name, const T& value, bool hidden = false) {
  return {name, value, hidden};
}

}  // namespace gradus

// A member of an options struct with its setter, which returns the struct, and its getter. A base
// from which the struct derives as Base<Options> may use it, too.
#define GRADUS_OPTION(Options, type, name)     \
  Options& name(const type& value) {           \
    this->name##_ = value;                     \
    return static_cast<Options&>(*this);       \
  }                                            \
  const type& name() const { return name##_; } \
  type name##_

// All of an options struct, each option listed once:
//
//   struct ThresholdOptions {
//     GRADUS_OPTIONS(ThresholdOptions, ARGUMENT(double, threshold), OPTION(bool, inplace, false));
//   };
//
// The constructor takes the ARGUMENTs, in order; one without a default must be given. An OPTION is
// set by name alone; its default may be an earlier one's member: OPTION(int64_t, kdim, embed_dim_).
// A HIDDEN one is an OPTION that the text of a module leaves out, a NAMED one an OPTION that has no
// place among the arguments of Python's module. The struct has a setter and a getter for each, and
// `==`. `fields()` is a tuple of NamedOption, `places()` one of references to the options that have
// a place. All three are templates whose bodies depend on an argument, Self or Other: a compiler
// reads types that depend on nothing where a template is defined, and makes tuples of them that
// nobody uses.
#define GRADUS_OPTIONS(Options, ...)                                                  \
  Options(GRADUS_LIST(GRADUS_EACH(GRADUS_PARAMETER_, __VA_ARGS__))) /* NOLINT */      \
      GRADUS_INITIALIZERS(GRADUS_EACH(GRADUS_INITIALIZER_, __VA_ARGS__)) {}           \
  template <class Self = Options>                                                     \
  auto fields() const {                                                               \
    [[maybe_unused]] const Self& self = *this;                                        \
    return std::make_tuple(GRADUS_LIST(GRADUS_EACH(GRADUS_FIELD_, __VA_ARGS__)));     \
  }                                                                                   \
  static constexpr size_t argument_count = 0 GRADUS_EACH(GRADUS_COUNT_, __VA_ARGS__); \
  template <class Self = Options>                                                     \
  auto places() {                                                                     \
    [[maybe_unused]] Self& self = *this;                                              \
    return std::tie(GRADUS_LIST(GRADUS_EACH(GRADUS_PLACE_, __VA_ARGS__)));            \
  }                                                                                   \
  template <std::same_as<Options> Other>                                              \
  bool operator==(const Other& other) const {                                         \
    return static_cast<const Other&>(*this).fields() == other.fields();               \
  }                                                                                   \
  GRADUS_EACH(GRADUS_MEMBER_, __VA_ARGS__)                                            \
  static_assert(true) /* takes the semicolon */

#define GRADUS_PARAMETER_ARGUMENT(type, name, ...) , const type& name __VA_OPT__(= __VA_ARGS__)
#define GRADUS_PARAMETER_OPTION(...)
#define GRADUS_PARAMETER_HIDDEN(...)
#define GRADUS_PARAMETER_NAMED(...)
#define GRADUS_INITIALIZER_ARGUMENT(type, name, ...) , name##_(name)
#define GRADUS_INITIALIZER_OPTION(...)
#define GRADUS_INITIALIZER_HIDDEN(...)
#define GRADUS_INITIALIZER_NAMED(...)
// GRADUS_INITIALIZERS(, a_(a), b_(b)) gives : a_(a), b_(b).
#define GRADUS_INITIALIZERS(...) GRADUS_COLON_BEFORE_REST(~__VA_ARGS__)
#define GRADUS_COLON_BEFORE_REST(first, ...) __VA_OPT__( : __VA_ARGS__)
#define GRADUS_FIELD_ARGUMENT(type, name, ...) , ::gradus::named_option(#name, self.name##_)
#define GRADUS_FIELD_OPTION(...) GRADUS_FIELD_ARGUMENT(__VA_ARGS__)
#define GRADUS_FIELD_HIDDEN(type, name, ...) , ::gradus::named_option(#name, self.name##_, true)
#define GRADUS_FIELD_NAMED(...) GRADUS_FIELD_ARGUMENT(__VA_ARGS__)
#define GRADUS_COUNT_ARGUMENT(...) +1
#define GRADUS_COUNT_OPTION(...)
#define GRADUS_COUNT_HIDDEN(...)
#define GRADUS_COUNT_NAMED(...)
#define GRADUS_PLACE_ARGUMENT(type, name, ...) , self.name##_
#define GRADUS_PLACE_OPTION(...) GRADUS_PLACE_ARGUMENT(__VA_ARGS__)
#define GRADUS_PLACE_HIDDEN(...) GRADUS_PLACE_ARGUMENT(__VA_ARGS__)
#define GRADUS_PLACE_NAMED(...)
#define GRADUS_MEMBER_ARGUMENT(type, name, ...) \
  auto& name(const type& value) {               \
    name##_ = value;                            \
    return *this;                               \
  }                                             \
  const type& name() const { return name##_; }  \
  type name##_ __VA_OPT__(= __VA_ARGS__);
#define GRADUS_MEMBER_OPTION(...) GRADUS_MEMBER_ARGUMENT(__VA_ARGS__)
#define GRADUS_MEMBER_HIDDEN(...) GRADUS_MEMBER_ARGUMENT(__VA_ARGS__)
#define GRADUS_MEMBER_NAMED(...) GRADUS_MEMBER_ARGUMENT(__VA_ARGS__)

// GRADUS_EACH(PREFIX_, A(1), B(2)) is PREFIX_A(1) PREFIX_B(2), for up to 12 elements. A macro does
// not expand itself, so each step leaves the name of the next step for another scan.
#define GRADUS_EACH(prefix, ...) __VA_OPT__(GRADUS_SCAN(GRADUS_EACH_STEP(prefix, __VA_ARGS__)))
#define GRADUS_EACH_STEP(prefix, first, ...) \
  prefix##first __VA_OPT__(GRADUS_EACH_NEXT GRADUS_PARENTHESES(prefix, __VA_ARGS__))
#define GRADUS_EACH_NEXT() GRADUS_EACH_STEP
#define GRADUS_PARENTHESES ()
#define GRADUS_SCAN(...) GRADUS_SCAN4(GRADUS_SCAN4(GRADUS_SCAN4(__VA_ARGS__)))
#define GRADUS_SCAN4(...) GRADUS_SCAN1(GRADUS_SCAN1(GRADUS_SCAN1(GRADUS_SCAN1(__VA_ARGS__))))
#define GRADUS_SCAN1(...) __VA_ARGS__
// GRADUS_LIST(, a, b) is a, b.
#define GRADUS_LIST(...) GRADUS_AFTER_FIRST(~__VA_ARGS__)
#define GRADUS_AFTER_FIRST(first, ...) __VA_ARGS__
