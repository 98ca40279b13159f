#include "gradus/autograd/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw.h"

namespace gradus {

namespace {

// Without the reduced dimensions, which `kept` has as size 1.
Tensor drop(const Tensor& kept, const std::array<bool, kMaxDims>& mask) {
  Dims sizes, strides;
  for (size_t d = 0; d < kept.sizes().size(); ++d)
    if (!mask[d]) sizes.push_back(kept.sizes()[d]), strides.push_back(kept.strides()[d]);
  return raw::alias(raw::as_strided(kept, sizes, strides, kept.storage_offset()));
}

Tensor reduce(ReduceOp op, const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
              std::optional<ScalarType> dtype, const char* node) {
  const auto mask = dim_mask(name_of(op), dim, self.dim());
  Tensor kept = raw::reduce(op, self, dim, dtype);
  Tensor out = keepdim ? kept : drop(kept, mask);
  if (!recording(self) || !isFloatingType(out.dtype())) return out;
  const Dims shape = kept.impl().sizes, full = self.impl().sizes;
  if (op == ReduceOp::sum || op == ReduceOp::mean) {
    double scale = 1;
    if (op == ReduceOp::mean)
      scale = static_cast<double>(kept.numel()) / static_cast<double>(self.numel());
    record(node, out, {self}, {}, [=](Node&, const Tensor& grad) -> TensorList {
      const Tensor scaled = scale == 1 ? grad : grad * scale;
      return {scaled.reshape(shape).expand(full)};
    });
  } else {
    // Equal extremes share the gradient evenly.
    record(node, out, {self}, {self, out}, [=](Node& n, const Tensor& grad) -> TensorList {
      const Tensor x = n.saved(0);
      const Tensor chosen = (x == n.saved(1).reshape(shape)).to(x.dtype());
      Dims reduced;
      for (int64_t d = 0; d < x.dim(); ++d)
        if (mask[static_cast<size_t>(d)]) reduced.push_back(d);
      const Tensor share = x.dim() ? chosen / chosen.sum(reduced, true) : chosen;
      return {grad.reshape(shape) * share};
    });
  }
  return out;
}

TensorPair extreme(const char* op, const char* node, bool largest, const Tensor& self, int64_t dim,
                   bool keepdim) {
  auto [values, indices] = raw::arg_reduce(op, largest, self, dim);
  const int64_t d = wrap_dim(op, dim, self.dim());
  std::array<bool, kMaxDims> mask{};
  mask[static_cast<size_t>(d)] = true;
  const Tensor kept_indices = indices;
  Tensor out = keepdim ? values : drop(values, mask);
  if (recording(self)) {
    record(node, out, {self}, {kept_indices},
           [d, full = self.impl().sizes](Node& n, const Tensor& grad) -> TensorList {
             const Tensor index = n.saved(0);
             return {zeros(full, grad.options())
                         .scatter_add(d, index, grad.reshape(index.sizes()).contiguous())};
           });
  }
  return {out, keepdim ? indices : drop(indices, mask)};
}

Tensor arg_extreme(const char* op, bool largest, const Tensor& self, std::optional<int64_t> dim,
                   bool keepdim) {
  check<TypeError>(self.dtype() != kBool, op,
                   ": dtype bool is not supported; convert with .to(kLong)");
  if (dim) {
    auto [values, indices] = raw::arg_reduce(op, largest, self, *dim);
    std::array<bool, kMaxDims> mask{};
    mask[static_cast<size_t>(wrap_dim(op, *dim, self.dim()))] = true;
    return keepdim ? indices : drop(indices, mask);
  }
  const Tensor flat = self.detach().reshape({self.numel()});
  Tensor index = raw::arg_reduce(op, largest, flat, 0).indices;
  return index.reshape(keepdim ? Dims::filled(self.dim(), 1) : Dims{});
}

}  // namespace

Tensor sum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
           std::optional<ScalarType> dtype) {
  return reduce(ReduceOp::sum, self, dim, keepdim, dtype, "SumBackward1");
}
Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) {
  return reduce(ReduceOp::sum, self, {}, false, dtype, "SumBackward0");
}
Tensor mean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
            std::optional<ScalarType> dtype) {
  return reduce(ReduceOp::mean, self, dim, keepdim, dtype, "MeanBackward1");
}
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) {
  return reduce(ReduceOp::mean, self, {}, false, dtype, "MeanBackward0");
}
Tensor amax(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return reduce(ReduceOp::amax, self, dim, keepdim, std::nullopt, "AmaxBackward0");
}
Tensor amin(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return reduce(ReduceOp::amin, self, dim, keepdim, std::nullopt, "AminBackward0");
}
Tensor max(const Tensor& self) {
  return reduce(ReduceOp::amax, self, {}, false, std::nullopt, "MaxBackward1");
}
Tensor min(const Tensor& self) {
  return reduce(ReduceOp::amin, self, {}, false, std::nullopt, "MinBackward1");
}
TensorPair max(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme("max", "MaxBackward0", true, self, dim, keepdim);
}
TensorPair min(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme("min", "MinBackward0", false, self, dim, keepdim);
}
Tensor max(const Tensor& self, const Tensor& other) { return maximum(self, other); }
Tensor min(const Tensor& self, const Tensor& other) { return minimum(self, other); }
Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return arg_extreme("argmax", true, self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return arg_extreme("argmin", false, self, dim, keepdim);
}

Tensor sum_to_size(const Tensor& self, IntArrayRef size) {
  const size_t rank = self.sizes().size();
  check(size.size() <= rank, "sum_to_size: size ", size, " has more dimensions than ",
        self.sizes());
  const size_t lead = rank - size.size();
  Dims reduced;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t want = d < lead ? 1 : size[d - lead];
    check(d < lead || want == 1 || want == self.sizes()[d], "sum_to_size: shape ", self.sizes(),
          " does not reduce to ", size, ": dimension ", d, " of size ", self.sizes()[d],
          " can stay or become 1");
    if (d < lead || (want == 1 && self.sizes()[d] != 1)) reduced.push_back(static_cast<int64_t>(d));
  }
  const Tensor summed = reduced.empty() ? self : sum(self, reduced, /*keepdim=*/true);
  return lead ? summed.reshape(size) : summed;
}

namespace {
// What log_softmax and softmax share; y = forward(x) about the largest element, without a graph.
template <class Forward, class Backward>
Tensor soft(const char* op, const char* node, const Tensor& self, int64_t dim,
            std::optional<ScalarType> dtype, Forward forward, Backward backward) {
  const int64_t d = wrap_dim(op, dim, self.dim());
  const Tensor x = dtype ? self.to(*dtype) : self;
  Tensor y;
  {
    const NoGradGuard guard;
    y = x.numel() == 0 ? raw::clone(x) : forward(x - x.amax(d, true), d);
  }
  if (recording(x))
    record(node, y, {x}, {y}, [d, backward](Node& n, const Tensor& grad) -> TensorList {
      return {backward(grad, n.saved(0), d)};
    });
  return y;
}
}  // namespace

Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return soft(
      "log_softmax", "LogSoftmaxBackward0", self, dim, dtype,
      [](const Tensor& centred, int64_t d) { return centred - centred.exp().sum(d, true).log(); },
      [](const Tensor& grad, const Tensor& y, int64_t d) {
        return grad - y.exp() * grad.sum(d, true);
      });
}

Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return soft(
      "softmax", "SoftmaxBackward0", self, dim, dtype,
      [](const Tensor& centred, int64_t d) {
        const Tensor powers = centred.exp();
        return powers / powers.sum(d, true);
      },
      [](const Tensor& grad, const Tensor& y, int64_t d) {
        return y * (grad - (grad * y).sum(d, true));
      });
}

}  // namespace gradus
