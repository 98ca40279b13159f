// index, index_put and masked_select for Python's x[...]: basic indices give a view, and the
// tensors among them one gather or scatter.
#include "gradus/autograd/ops/index/index.h"

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/base/index_rule.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/indexing.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

using indexing::TensorIndex;

namespace {

bool is_mask(const Tensor& index) { return index.dtype() == kBool || index.dtype() == kByte; }

// How many dimensions an index stands for.
int64_t dims_of(const char* op, const TensorIndex& index) {
  if (!index.is_tensor()) return index.is_integer() || index.is_slice();
  check<IndexError>(index.tensor().defined(), op,
                    ": an index is an undefined tensor; assign it one first");
  return is_mask(index.tensor()) ? index.tensor().dim() : 1;
}

// The rest of an index after its basic parts: a view, and tensors for some of its dimensions.
struct Applied {
  Tensor view;
  Tensors tensors;
};

class Application {
 public:
  Application(const char* op, const Tensor& self, ArrayRef<TensorIndex> indices)
      : op_(op), self_(self.operand(op)), out_{self, {}} {
    check<IndexError>(!indices.empty(), op, ": Passing an empty index list to Tensor::", op,
                      "() is not valid syntax; give an index for a dimension, or Ellipsis for all");
    int64_t named = 0;
    for (const TensorIndex& index : indices) named += dims_of(op, index);
    check<IndexError>(named == 0 || self.dim() > 0, op,
                      ": invalid index of a 0-dim tensor; use item() for its number");
    check<IndexError>(named <= self.dim(), op, ": too many indices for tensor of dimension ",
                      self.dim(), ": ", named, "; give one for each dimension at most");
    for (const TensorIndex& index : indices) apply(index, self.dim() - named);
  }
  Applied result() && { return std::move(out_); }

 private:
  void apply(const TensorIndex& index, int64_t unnamed) {
    using enum TensorIndex::Kind;
    switch (index.kind()) {
      case none:
        add_dim();
        ++dim_;
        return;
      case ellipsis:
        dim_ += unnamed;
        return;
      case integer:
        return apply_integer(index.integer());
      case boolean:
        return apply_bool(index.boolean());
      case slice:
        return apply_slice(index.slice());
      case tensor:
        return apply_tensor(index.tensor());
    }
  }

  void apply_slice(const indexing::Slice& slice) {
    const Tensor part = out_.view.slice(dim_, slice.start(), slice.stop(), slice.step());
    if (part.sizes() != out_.view.sizes()) out_.view = part;  // else all of it
    ++dim_;
  }
  void apply_tensor(const Tensor& index) {
    if (index.dtype() == kByte)
      warn("index: indexing with dtype torch.uint8 is now deprecated; use a mask of kBool");
    if (index.dim() > 0 || !isIntegralType(index.dtype(), true)) return keep(index);
    if (is_mask(index)) return apply_bool(index.item<bool>());
    apply_integer(index.item<int64_t>());
  }
  void apply_integer(int64_t index) {
    const int64_t of_self = dim_ + selected_ - added_;
    const IndexRule rule{op_, of_self, self_.size(of_self), /*wraps=*/true};
    if (!rule.allows(index)) fail_index(rule, index);
    out_.view = out_.view.select(dim_, index);
    ++selected_;
  }
  // All, or nothing, of a dimension of size 1.
  void apply_bool(bool index) {
    add_dim();
    keep(zeros({index}, TensorOptions(kLong).device(out_.view.device())));
  }
  void add_dim() {
    out_.view = out_.view.unsqueeze(dim_);
    ++added_;
  }
  // Undefined tensors stand for the dimensions since the last one that is kept.
  void keep(const Tensor& index) {
    out_.tensors.resize(out_.tensors.size() + static_cast<size_t>(dim_ - kept_));
    out_.tensors.push_back(index);
    dim_ += is_mask(index) ? index.dim() : 1;
    kept_ = dim_;
  }

  const char* op_;
  const Tensor& self_;
  Applied out_;
  int64_t dim_ = 0;                   // of out_.view, which the next index is for
  int64_t kept_ = 0;                  // dimensions that out_.tensors stand for
  int64_t selected_ = 0, added_ = 0;  // dimensions of self that are gone, and others in the view
};

Tensors saved_list(Node& node, size_t count) {
  Tensors out;
  for (size_t i = 0; i < count; ++i) out.push_back(node.saved(i));
  return out;
}

// grad added at the places of the list among zeros: the adjoint of gathered.
Tensor spread(const char* op, const Tensor& grad, const Tensors& list, const Dims& sizes) {
  Tensor out = zeros(sizes, grad.options());
  raw::index_put_(op, out, list, grad, /*accumulate=*/true);
  if (recording(grad))
    record("IndexPutBackward0", out, {grad}, list,
           [op, n = list.size()](Node& node, const Tensor& g) {
             return Tensors{gathered(op, "IndexBackward0", g, saved_list(node, n))};
           });
  return out;
}

}  // namespace

Tensor gathered(const char* op, const char* node_name, const Tensor& self, const Tensors& list) {
  Tensor out = raw::index(op, self, list);
  if (recording(self))
    record(node_name, out, {self}, list,
           [op, n = list.size(), sizes = self.impl().sizes](Node& node, const Tensor& grad) {
             return Tensors{spread(op, grad, saved_list(node, n), sizes)};
           });
  return out;
}

namespace {
// grad at the places that were put; 0 for what was overwritten by a later value.
Tensor of_put(const char* op, const Tensor& grad, const Tensors& list) {
  const Tensor values = gathered(op, "IndexBackward0", grad, list);
  const Tensor numbers =
      arange(values.numel(), TensorOptions(kLong).device(grad.device())).view(values.sizes());
  const Tensor last = zeros(grad.sizes(), numbers.options());
  raw::index_put_(op, last, list, numbers, false);
  return where(raw::index(op, last, list) == numbers, values, 0);
}
}  // namespace

Tensor with_put(const char* op, const char* node_name, const Tensor& self, const Tensors& list,
                const Tensor& values, bool accumulate) {
  Tensor out = raw::clone(self);
  raw::index_put_(op, out, list, values, accumulate);
  if (recording(self, values))
    record(node_name, out, {self, values}, list,
           [=, n = list.size()](Node& node, const Tensor& grad) {
             const Tensors places = saved_list(node, n);
             Tensors grads(2);
             if (node.wants(0))
               grads[0] = accumulate
                              ? grad
                              : with_put(op, node_name, grad, places, number_of(grad, 0), false);
             if (node.wants(1))
               grads[1] = accumulate ? gathered(op, "IndexBackward0", grad, places)
                                     : of_put(op, grad, places);
             return grads;
           });
  return out;
}

Tensor number_of(const Tensor& self, const Tensor& number) {
  return number.to(number.is_cpu() && !recording(number) ? number.device() : self.device(),
                   self.dtype());
}
Tensor number_of(const Tensor& self, const Scalar& number) {
  return full({}, number, self.options().device(kCPU));
}

namespace {

// values as index_put takes them beside a tensor of `rank` dimensions.
Tensor fitting(const Tensor& values, const Applied& to) {
  Tensor out = values;
  if (out.dim() == 0 && out.is_cpu() && recording(out)) out = out.to(to.view.device());
  if (!to.tensors.empty())
    check<TypeError>(out.dtype() == to.view.dtype(), "index_put: values have dtype ", out.dtype(),
                     ", self has ", to.view.dtype(), "; convert one with .to(...)");
  while (out.dim() > 0 && out.size(0) == 1) out = out.select(0, 0);  // as copies broadcast it
  return out;
}

// The mask, where it is all that is left to apply, in a shape that broadcasts to the view's.
Tensor only_mask(const Applied& to) {
  const size_t at = to.tensors.size() - 1;
  const Tensor& mask = to.tensors[at];
  for (size_t i = 0; i < at; ++i)
    if (to.tensors[i].defined()) return {};
  const size_t rank = to.view.sizes().size(), end = at + mask.sizes().size();
  if (!is_mask(mask) || end > rank || to.view.sizes().slice(at, end - at) != mask.sizes())
    return {};
  Dims sizes = mask.impl().sizes;
  for (size_t d = end; d < rank; ++d) sizes.push_back(1);
  return mask.to(to.view.device()).reshape(sizes);
}

}  // namespace

Tensor index(const Tensor& self, ArrayRef<TensorIndex> indices) {
  const auto [part, tensors] = Application("index", self, indices).result();
  if (tensors.size() == 1 && is_mask(tensors[0]) && !recording(part))
    return raw::masked_select("index", part, tensors[0]);
  if (!tensors.empty())
    return gathered("index", "IndexBackward0", part, raw::index_list("index", part, tensors));
  return part.is_same(self) ? view(self, self.sizes()) : part;
}

Tensor index_put(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& values,
                 bool accumulate) {
  GRADUS_AUTOCAST(index_put, self, indices, values, accumulate);
  Tensor out = self.clone(MemoryFormat::Contiguous);
  return out.index_put_(indices, values, accumulate);
}
Tensor index_put(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value,
                 bool accumulate) {
  return index_put(self, indices, number_of(self, value), accumulate);
}

Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Tensor& values,
                           bool accumulate) const {
  Applied to = Application("index_put_", *this, indices).result();
  const Tensor fresh = fitting(values, to);
  if (to.tensors.empty()) {
    if (accumulate)
      to.view.add_(fresh);
    else if (fresh.dim() == 0)
      to.view.fill_(fresh);
    else
      to.view.copy_(fresh);
    return handle();
  }
  const Tensor& part = to.view.is_same(*this) ? *this : to.view;
  if (fresh.dim() == 0 && !accumulate)
    if (const Tensor mask = only_mask(to); mask.defined()) {  // needs no count of its elements
      part.masked_fill_(mask, fresh);
      return handle();
    }
  const Tensors list = raw::index_list("index_put", part, to.tensors);
  in_place(
      "index_put", part, recording(part, fresh),
      [&](Tensor& x) { raw::index_put_("index_put", x, list, fresh, accumulate); },
      [&](const Tensor& x) {
        return with_put("index_put", "IndexPutBackward0", x, list, fresh, accumulate);
      });
  return handle();
}
Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Scalar& value,
                           bool accumulate) const {
  return index_put_(indices, number_of(*this, value), accumulate);
}

Tensor Tensor::operator[](const Scalar& index) const {
  check<IndexError>(index.isIntegral(false),
                    "operator[]: the index is not a whole number; x.index({i}) takes masks");
  return select(0, index.toLong());
}
Tensor Tensor::operator[](const Tensor& index) const {
  index.operand("operator[]", "index");
  check<IndexError>(index.dim() == 0, "operator[]: the index is ", index.dtype(), " of shape ",
                    index.sizes(),
                    ", expected a tensor without dimensions; x.index({i}) takes masks and lists");
  return (*this)[index.item()];
}

Tensor take(const Tensor& self, const Tensor& index) {
  index.operand("take", "index");
  check<TypeError>(index.dtype() == kLong, "take: index has dtype ", index.dtype(),
                   ", expected int64; convert with .to(kLong)");
  const Tensor flat = self.reshape({-1});
  return gathered("take", "TakeBackward0", flat, raw::index_list("take", flat, index));
}

namespace {
void check_put(const Tensor& self, const Tensor& index, const Tensor& source) {
  index.operand("put", "index");
  check<TypeError>(index.dtype() == kLong, "put: index has dtype ", index.dtype(),
                   ", expected int64; convert with .to(kLong)");
  check<TypeError>(source.dtype() == self.dtype(), "put: source has dtype ", source.dtype(),
                   ", self has ", self.dtype(), "; convert one with .to(...)");
  check<IndexError>(source.numel() == index.numel(), "put: source has ", source.numel(),
                    " elements, index ", index.numel(), "; expected the same number");
  raw::check_same_device("put", self, "self", source, "source");
}
}  // namespace

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  check_put(self, index, source);
  const Tensor flat = self.reshape({-1});
  return with_put("put", "PutBackward0", flat, raw::index_list("put", flat, index),
                  source.reshape(index.sizes()), accumulate)
      .reshape(self.sizes());
}
Tensor& Tensor::put_(const Tensor& index, const Tensor& source, bool accumulate) const {
  const auto direct = [&](Tensor& x) {
    check_put(x, index, source);
    const std::optional<Tensor> part = raw::try_view(x, {x.numel()});
    const Tensor flat = part ? *part : *raw::try_view(raw::clone(x), {x.numel()});
    raw::index_put_("put", flat, raw::index_list("put", flat, index), source.reshape(index.sizes()),
                    accumulate);
    if (!part) raw::copy_(x, *raw::try_view(flat, x.sizes()));
  };
  return in_place("put", *this, recording(*this, source), direct,
                  [&](const Tensor& x) { return gradus::put(x, index, source, accumulate); });
}

}  // namespace gradus
