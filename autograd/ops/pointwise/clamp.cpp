// clamp, clamp_min, clamp_max and clip. A gradient passes where the bound is met, and none where it
// is not.
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/one_node.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

using Bound = std::optional<Scalar>;
using TensorBound = std::optional<Tensor>;

template <class B>
void check_bounds(const B& min, const B& max) {
  check(min || max, "clamp: neither min nor max is given; give one of them");
}

// The dtype of the result. Errors: TypeError for bool.
template <class B>
ScalarType common_type(const Tensor& x, const B& min, const B& max) {
  x.operand("clamp");
  const ScalarType dtype =
      min && max ? raw::result_type({x, *min, *max}) : raw::result_type(x, min ? *min : *max);
  check<TypeError>(dtype != kBool, "clamp: dtype bool is not supported; convert with .to(kLong)");
  return dtype;
}

// A bound for integers of a type, which may lie beyond all of them where that leaves them as they
// are. Errors: ValueError where it does not, or where a floating point type does not hold it.
Bound reachable(const char* op, const Bound& bound, bool lower, ScalarType dtype) {
  if (!bound) return bound;
  if (isFloatingType(dtype)) {
    raw::check_fits(op, *bound, dtype);
    return bound;
  }
  return visit(dtype, [&]<class T>(TypeTag<T>) -> Bound {
    const auto least = static_cast<int64_t>(std::numeric_limits<T>::lowest()),
               most = static_cast<int64_t>(std::numeric_limits<T>::max()), value = bound->toLong();
    const int64_t held = lower ? std::max(value, least) : std::min(value, most);
    if (held < least || held > most)
      bound->fail_to_fit(op, cpp_name<T>, "convert the tensor to a wider dtype");
    return held;
  });
}

template <class B>
Tensor clamped(const Tensor& x, const B& min, const B& max) {
  if (min && max) return raw::ternary(TernaryOp::clamp, x, *min, *max);
  return min ? maximum(x, *min) : minimum(x, *max);
}

// Where x itself is the result.
template <class B>
Tensor within(const Tensor& x, const B& min, const B& max) {
  if (!min) return x <= *max;
  return max ? (x >= *min).logical_and(x <= *max) : x >= *min;
}

Tensor clamp_by_numbers(const char* node, const Tensor& self, const Bound& min, const Bound& max) {
  const Tensor x = self.to(common_type(self, min, max));
  const Bound lo = reachable("clamp", min, true, x.dtype()),
              hi = reachable("clamp", max, false, x.dtype());
  return one_node(
      node, x, [&](const Tensor& t) { return clamped(t, lo, hi); },
      [lo, hi](const Tensor& grad, const Tensor& t) { return where(within(t, lo, hi), grad, 0); });
}

// Clamps x in place by numbers.
Tensor& clamp_by_numbers_(const char* op, const char* node, const Tensor& self, const Bound& min,
                          const Bound& max) {
  const auto whole = [&](const Tensor& x) { return clamp_by_numbers(node, x, min, max); };
  const bool at_once = common_type(self, min, max) == self.dtype();
  const auto direct = [&](const Tensor& x) {
    if (!at_once) return assign(op, x, whole(x));
    const Bound lo = reachable(op, min, true, x.dtype()), hi = reachable(op, max, false, x.dtype());
    if (lo && hi) return raw::ternary_(TernaryOp::clamp, x, *lo, *hi);
    raw::zip_(lo ? BinaryOp::maximum : BinaryOp::minimum, x, lo ? *lo : *hi);
  };
  return in_place(op, self, recording(self), direct, whole);
}

Tensor clamp_by_tensors(const char* node, const Tensor& self, const TensorBound& min,
                        const TensorBound& max) {
  const Tensor x = self.to(common_type(self, min, max));
  const Tensor out = without_graph([&] { return clamped(x, min, max); });
  const Tensor lo = min.value_or(Tensor()), hi = max.value_or(Tensor());
  if (recording(self, lo, hi))
    record(node, out, {x, lo, hi}, {x, lo, hi}, [](Node& n, const Tensor& grad) {
      const auto bound = [&](size_t i) {
        return n.saved(i).defined() ? TensorBound(n.saved(i)) : std::nullopt;
      };
      const Tensor t = n.saved(0);
      const TensorBound least = bound(1), most = bound(2);
      Tensors grads(3);
      if (n.wants(0)) grads[0] = where(within(t, least, most), grad, 0);
      if (n.wants(1)) {
        const Tensor below = t < *least;
        grads[1] = where(most ? below.logical_and(*least < *most) : below, grad, 0);
      }
      if (n.wants(2)) {
        const Tensor above = t > *most;
        grads[2] = where(least ? above.logical_or(*most < *least) : above, grad, 0);
      }
      return grads;
    });
  return out;
}

}  // namespace

Tensor clamp(const Tensor& self, const Bound& min, const Bound& max) {
  check_bounds(min, max);
  return clamp_by_numbers("ClampBackward1", self, min, max);
}
Tensor& Tensor::clamp_(const Bound& min, const Bound& max) const {
  check_bounds(min, max);
  return clamp_by_numbers_("clamp", "ClampBackward1", *this, min, max);
}
Tensor clamp(const Tensor& self, const TensorBound& min, const TensorBound& max) {
  check_bounds(min, max);
  return clamp_by_tensors("ClampBackward0", self, min, max);
}
Tensor clamp(const Tensor& self, const TensorBound& min) { return clamp(self, min, TensorBound()); }
Tensor clamp(const Tensor& self) { return clamp(self, TensorBound(), TensorBound()); }

Tensor clip(const Tensor& self, const Bound& min, const Bound& max) {
  return clamp(self, min, max);
}
Tensor& Tensor::clip_(const Bound& min, const Bound& max) const { return clamp_(min, max); }
Tensor clip(const Tensor& self, const TensorBound& min, const TensorBound& max) {
  return clamp(self, min, max);
}
Tensor clip(const Tensor& self, const TensorBound& min) { return clamp(self, min); }

Tensor clamp_min(const Tensor& self, const Scalar& min) {
  return clamp_by_numbers("ClampMinBackward0", self, min, Bound());
}
Tensor& Tensor::clamp_min_(const Scalar& min) const {
  return clamp_by_numbers_("clamp_min", "ClampMinBackward0", *this, min, Bound());
}
Tensor clamp_min(const Tensor& self, const Tensor& min) {
  return clamp_by_tensors("ClampMinBackward1", self, min, TensorBound());
}
Tensor clamp_max(const Tensor& self, const Scalar& max) {
  return clamp_by_numbers("ClampMaxBackward0", self, Bound(), max);
}
Tensor& Tensor::clamp_max_(const Scalar& max) const {
  return clamp_by_numbers_("clamp_max", "ClampMaxBackward0", *this, Bound(), max);
}
Tensor clamp_max(const Tensor& self, const Tensor& max) {
  return clamp_by_tensors("ClampMaxBackward1", self, TensorBound(), max);
}

}  // namespace gradus
