// The values of an options or state struct by name, listed once for reading and for writing.
#pragma once

#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "gradus/tensor/base/option.h"
#include "gradus/tensor/tensor.h"

namespace gradus::optim {

// The shape of a tensor that is kept: that of its parameter, the elements of all parameters as one
// vector, or none.
enum class Extent : uint8_t { parameter, all, number };

struct Field {
  std::string_view name{};
  std::variant<bool*, int64_t*, double*, std::optional<int64_t>*, std::optional<std::string>*,
               Tensor*, std::deque<Tensor>*>
      value{};
  // The range of a double: NaN is never in it.
  double least = -std::numeric_limits<double>::infinity();
  std::optional<double> below{};
  Extent extent = Extent::parameter;
  bool is_new = false;  // dicts of earlier versions lack it
};
using Fields = std::vector<Field>;

namespace field_detail {
// A field's name, and those of its parts where it is a tuple.
struct FieldNames {
  std::string_view whole, parts[3];
};
// Lists a value, or each part of a tuple.
template <class T>
void list(Fields& out, const FieldNames& names, T& value, const Field& like) {
  const auto add = [&](std::string_view name, auto* one) {
    Field field = like;
    field.name = name, field.value = one;
    out.push_back(field);
  };
  if constexpr (requires { std::tuple_size<T>::value; })
    std::apply([&, i = 0](auto&... part) mutable { (add(names.parts[i++], &part), ...); }, value);
  else
    add(names.whole, &value);
}
}  // namespace field_detail

}  // namespace gradus::optim

// All of an options or state struct, each value listed once; the default is left out where the
// constructor sets it:
//
//   struct LionOptions : OptimizerCloneableOptions<LionOptions> {
//     GRADUS_FIELDS(LionOptions, AT_LEAST_0(double, lr), FROM_0_BELOW_1(betas_t, betas));
//   };
//
// VALUE takes any value. AT_LEAST_0 and FROM_0_BELOW_1 take numbers in that range, or tuples of
// them. ADDED is a value that dicts of earlier versions lack: it stays as it is where such a dict
// is loaded. ALL is a tensor of the elements of all parameters, NUMBER a tensor of no dimensions.
// The struct has a setter and a getter for each, and fields().
#define GRADUS_FIELDS(Struct, ...)            \
  using Setters = Struct;                     \
  ::gradus::optim::Fields fields() override { \
    ::gradus::optim::Fields out;              \
    out.reserve(12);                          \
    GRADUS_EACH(GRADUS_LISTED_, __VA_ARGS__)  \
    return out;                               \
  }                                           \
  GRADUS_EACH(GRADUS_DECLARED_, __VA_ARGS__)  \
  static_assert(true) /* takes the semicolon */

#define GRADUS_LISTED(name, ...)                                                                   \
  ::gradus::optim::field_detail::list(out, {#name, {#name ".0", #name ".1", #name ".2"}}, name##_, \
                                      ::gradus::optim::Field{__VA_ARGS__});
#define GRADUS_LISTED_VALUE(type, name, ...) GRADUS_LISTED(name)
#define GRADUS_LISTED_ADDED(type, name, ...) GRADUS_LISTED(name, .is_new = true)
#define GRADUS_LISTED_AT_LEAST_0(type, name, ...) GRADUS_LISTED(name, .least = 0)
#define GRADUS_LISTED_FROM_0_BELOW_1(type, name, ...) GRADUS_LISTED(name, .least = 0, .below = 1)
#define GRADUS_LISTED_ALL(type, name) GRADUS_LISTED(name, .extent = ::gradus::optim::Extent::all)
#define GRADUS_LISTED_NUMBER(type, name) \
  GRADUS_LISTED(name, .extent = ::gradus::optim::Extent::number)
#define GRADUS_DECLARED_VALUE(type, name, ...) \
  GRADUS_OPTION(Setters, type, name) __VA_OPT__(= __VA_ARGS__);
#define GRADUS_DECLARED_ADDED(...) GRADUS_DECLARED_VALUE(__VA_ARGS__)
#define GRADUS_DECLARED_AT_LEAST_0(...) GRADUS_DECLARED_VALUE(__VA_ARGS__)
#define GRADUS_DECLARED_FROM_0_BELOW_1(...) GRADUS_DECLARED_VALUE(__VA_ARGS__)
#define GRADUS_DECLARED_ALL(...) GRADUS_DECLARED_VALUE(__VA_ARGS__)
#define GRADUS_DECLARED_NUMBER(...) GRADUS_DECLARED_VALUE(__VA_ARGS__)
