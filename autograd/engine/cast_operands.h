// How a public function obeys autocast: its first line is
//
//   GRADUS_AUTOCAST(addmm, self, mat1, mat2, beta, alpha);
//
// with its own name and parameters. Where the row of autocast.def asks for it, the function is
// called again with converted tensors, and without autocast. A name without a row costs nothing,
// and another one a look at a number of the thread.
#pragma once

#include <string_view>

#include "gradus/autograd/engine/autocast.h"
#include "gradus/tensor/tensor.h"

namespace gradus::autocast {

enum class Cast : uint8_t { none, lower, wide, widest, refused };

struct Row {
  std::string_view name;
  Cast cast[kDeviceTypes] = {};
};

inline constexpr Row kRows[] = {
#define AUTOCAST(name, cpu, cuda) {#name, {Cast::cpu, Cast::cuda}},
#include "gradus/autograd/engine/autocast.def"
};

// The row of this name, or an empty one.
consteval Row row_of(std::string_view name) {
  for (const Row& row : kRows)
    if (row.name == name) return row;
  return {};
}

// The conversions of one call's operands. Errors: Error where the row refuses one of them.
class Operands {
 public:
  template <class... Args>
  explicit Operands(const Row& row, const Args&... args) : row_(row) {
    (see(args), ...);
  }
  // Whether autocast has a say in this call.
  bool cast() const { return cast_; }

  // f of the operands and the other arguments, in their order.
  template <class F, class... Args>
  auto call(F f, const Args&... args) const {
    return [&](const auto&... operands) {
      const Pause pause;
      return f(operands...);
    }(converted(args)...);
  }

 private:
  void see(const Tensor& x);
  void see(ArrayRef<Tensor> list) {
    for (const Tensor& x : list) see(x);
  }
  void see(const std::optional<Tensor>& x) {
    if (x) see(*x);
  }
  template <class T>
  void see(const T&) {}

  Tensor converted(const Tensor& x) const;
  Tensors converted(ArrayRef<Tensor> list) const {
    Tensors out;
    for (const Tensor& x : list) out.push_back(converted(x));
    return out;
  }
  std::optional<Tensor> converted(const std::optional<Tensor>& x) const {
    return x ? std::optional(converted(*x)) : x;
  }
  template <class T>
  const T& converted(const T& x) const {
    return x;
  }

  const Row& row_;
  bool cast_ = false;
  std::optional<ScalarType> widest_;
};

// --- Results of Float that products take in a half type. A kernel can write both at once.
// Memory for the copy in a half type of what is about to be made of x and `weight`. Undefined
// unless autocast had to convert the last such result: on a GPU, of this weight.
Tensor room_for_copy(const Tensor& x, const Tensor& weight);
// Says that `result` was made with `weight`, and that `copy` is the same in its half type;
// undefined: there is no copy. The next product that takes the result, unchanged and on the same
// stream, takes the copy.
void made(const Tensor& result, const Tensor& weight, const Tensor& copy);

// The half type to which autocast lowers operands on such a device now; none where it lowers none.
std::optional<ScalarType> lower_type(DeviceType device);
// Whether autocast keeps a copy of x in that type until its scope ends: x is a leaf that requires
// grad, such as a weight. The copy lies as x does.
bool keeps_copy(const Tensor& x);
// The copy of such an x. A GPU makes those of all weights of the last scope in one launch.
Tensor kept_copy(const Tensor& x);

// The dtype that a row of wide or lower casts converts x to now. A function that reads x as it is
// asks it for the dtype of its result.
ScalarType cast_type(const Row& row, const Tensor& x);

// Not inlined: a call without autocast does not pay for them.
template <class... Args>
[[gnu::cold, gnu::noinline]] bool concerns(const Row& row, const Args&... args) {
  return Operands(row, args...).cast();
}
template <class F, class... Args>
[[gnu::cold, gnu::noinline]] auto call_cast(const Row& row, F f, const Args&... args) {
  return Operands(row, args...).call(f, args...);
}

}  // namespace gradus::autocast

#define GRADUS_AUTOCAST(name, ...) GRADUS_AUTOCAST_AS(name, name, __VA_ARGS__)
// The same for a function of another name than its row.
#define GRADUS_AUTOCAST_AS(row_name, function, ...)                                     \
  if constexpr (static constexpr auto kRow = ::gradus::autocast::row_of(#row_name);     \
                !kRow.name.empty())                                                     \
    if (thread_modes.autocast.casts && ::gradus::autocast::concerns(kRow, __VA_ARGS__)) \
  return ::gradus::autocast::call_cast(                                                 \
      kRow, [](const auto&... args) { return function(args...); }, __VA_ARGS__)
