// pad and constant_pad_nd, with their gradients, and pad_sequence.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/base/checked.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {
// The size of a dimension with so much before and behind it, negative where it is cut off. Each of
// them can be negated after that.
int64_t padded_by(const char* op, int64_t size, int64_t before, int64_t after) {
  for (const int64_t count : {before, after}) (Checked(0) - count).get(op, "the padding");
  return (Checked(size) + before + after).get(op, "the padded size");
}
}  // namespace

Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  check(pad.size() % 2 == 0, "constant_pad_nd: pad ", pad,
        " has an odd length; give two numbers for each dimension");
  check(pad.size() <= 2 * self.operand("constant_pad_nd").sizes().size(), "constant_pad_nd: pad ",
        pad, " is for ", pad.size() / 2, " dimensions, and self has shape ", self.sizes(),
        "; unsqueeze it or give less");
  Dims sizes = self.impl().sizes;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t d = sizes.size() - 1 - i;
    sizes[d] = padded_by("constant_pad_nd", sizes[d], pad[2 * i], pad[2 * i + 1]);
    check(sizes[d] >= 0, "constant_pad_nd: pad ", pad, " leaves nothing of dimension ", d,
          " of size ", self.sizes()[d], "; cut off less");
  }
  Tensor out = raw::empty(sizes, self.dtype(), self.device());
  raw::fill_(out, value);
  Tensor from = self, to = out;
  bool any = true;
  for (size_t i = 0; any && i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - static_cast<int64_t>(i);
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    // The part of dim that stays: it begins at one place in self and at another in out.
    const Checked kept_of =
        Checked(self.sizes()[d]) + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    const int64_t kept = kept_of.fits() ? kept_of.get("constant_pad_nd", "what stays") : 0;
    any = kept > 0;
    if (!any) break;
    from = raw::narrow(from, d, std::max<int64_t>(-before, 0), kept);
    to = raw::narrow(to, d, std::max<int64_t>(before, 0), kept);
  }
  if (any) raw::copy_(to, from);
  if (recording(self)) {
    std::vector<int64_t> back;
    for (int64_t count : pad) back.push_back(-count);
    record("ConstantPadNdBackward0", out, {self}, {},
           [back](Node&, const Tensor& grad) { return Tensors{constant_pad_nd(grad, back)}; });
  }
  return out;
}

namespace {

enum class Border { reflect, replicate, circular };

Border border_named(std::string_view mode) {
  if (mode == "reflect") return Border::reflect;
  if (mode == "replicate") return Border::replicate;
  if (mode == "circular") return Border::circular;
  fail<NotImplementedError>("pad: mode \"", mode,
                            "\" is unknown; there are constant, reflect, replicate and circular");
}

// `count` elements to stand beside the end of x, or its beginning.
Tensor border(Border kind, const Tensor& x, int64_t dim, int64_t count, bool at_end) {
  const int64_t size = x.size(dim);
  switch (kind) {
    case Border::reflect:
      check(count < size, "pad: ", count, " elements cannot be reflected in dimension ", dim,
            " of size ", size, "; pad less than the size");
      return x.narrow(dim, at_end ? size - 1 - count : 1, count).flip(dim);
    case Border::replicate: {
      check(size > 0, "pad: there is nothing to replicate in dimension ", dim,
            " of size 0; pad by a constant");
      Dims shape = x.impl().sizes;
      shape[dim] = count;
      return x.narrow(dim, at_end ? size - 1 : 0, 1).expand(shape);
    }
    case Border::circular:
      check(count <= size, "pad: ", count, " elements wrap around dimension ", dim, " of size ",
            size, " more than once; pad at most the size");
      return x.narrow(dim, at_end ? 0 : size - count, count);
  }
  return {};
}

Tensor grown(Border kind, const Tensor& x, int64_t dim, int64_t before, int64_t after) {
  Tensors parts;
  if (before > 0) parts.push_back(border(kind, x, dim, before, false));
  parts.push_back(x);
  if (after > 0) parts.push_back(border(kind, x, dim, after, true));
  return parts.size() == 1 ? x : cat(parts, dim);
}

Tensor cropped(const Tensor& x, int64_t dim, int64_t before, int64_t after) {
  const int64_t start = std::max<int64_t>(-before, 0);
  const int64_t length = (Checked(x.size(dim)) - start - std::max<int64_t>(-after, 0))
                             .get("pad", "the size that is left");
  check(length >= 0, "pad: ", before, " and ", after, " leave nothing of dimension ", dim,
        " of size ", x.size(dim), "; cut off less");
  return length == x.size(dim) ? x : x.narrow(dim, start, length);
}

}  // namespace

Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode,
           std::optional<double> value) {
  if (mode == "constant") return constant_pad_nd(self, pad, value.value_or(0));
  const Border kind = border_named(mode);
  self.operand("pad");
  check(!value || *value == 0, "pad: mode \"", mode, "\" takes no value, and value is ",
        value.value_or(0), "; leave it out, or use mode \"constant\"");
  const int64_t padded = static_cast<int64_t>(pad.size()) / 2;
  check<NotImplementedError>(
      pad.size() % 2 == 0 && padded >= 1 && padded <= 3 &&
          (self.dim() == padded + 1 || self.dim() == padded + 2),
      "pad: mode \"", mode,
      "\" pads the last 1, 2 or 3 dimensions and needs 1 or 2 before them; pad ", pad, " is for ",
      padded, ", and self has shape ", self.sizes(), "; use unsqueeze or flatten");
  // PyTorch's list has not that of 3 dimensions.
  if (kind == Border::replicate || (kind == Border::reflect && padded < 3))
    GRADUS_AUTOCAST_AS(border_pad, gradus::pad, self, pad, mode, value);
  Tensor out = self;
  for (int64_t i = 0; i < padded; ++i) {
    const int64_t d = self.dim() - 1 - i, before = pad[2 * i], after = pad[2 * i + 1];
    padded_by("pad", self.size(d), before, after);
    // Elements that are cut off are still reflected, but do not go round.
    if (kind == Border::circular)
      out = grown(kind, cropped(out, d, before, after), d, before, after);
    else
      out = cropped(grown(kind, out, d, before, after), d, before, after);
    check(out.size(d) > 0 || self.size(d) == 0, "pad: mode \"", mode, "\" with ", before, " and ",
          after, " leaves nothing of dimension ", d, " of size ", self.size(d), "; cut off less");
  }
  return out.is_same(self) ? self.clone() : out.contiguous();
}

Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first, double padding_value) {
  check(!sequences.empty(), "pad_sequence: received an empty list of sequences; give at least one");
  int64_t longest = 0;
  for (const Tensor& sequence : sequences) {
    check(sequence.operand("pad_sequence", "sequences").dim() > 0,
          "pad_sequence: a sequence has no dimensions, expected (length, ...); unsqueeze it");
    check(sequence.sizes().slice(1) == sequences[0].sizes().slice(1),
          "pad_sequence: sequences have shapes ", sequences[0].sizes(), " and ", sequence.sizes(),
          "; they may differ in dimension 0 alone, reshape one");
    longest = std::max(longest, sequence.size(0));
  }
  Tensors padded;
  for (const Tensor& sequence : sequences) {
    std::vector<int64_t> pad(2 * static_cast<size_t>(sequence.dim()), 0);
    pad.back() = longest - sequence.size(0);
    padded.push_back(constant_pad_nd(sequence, pad, padding_value));
  }
  return stack(padded, batch_first ? 0 : 1);
}

}  // namespace gradus
