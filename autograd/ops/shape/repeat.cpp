// repeat, repeat_interleave, tile, flip and roll.
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/base/checked.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  check(repeats.size() >= self.sizes().size(),
        "repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions "
        "of tensor: ",
        repeats, " for shape ", self.sizes(), "; tile() takes that");
  const size_t lead = repeats.size() - self.sizes().size();
  // Each size n that repeats becomes (1, n), of which the 1 expands.
  Dims split, expanded, out;
  for (size_t i = 0; i < repeats.size(); ++i) {
    const int64_t size = i < lead ? 1 : self.sizes()[i - lead], times = repeats[i];
    check(times >= 0, "repeat: repeats ", repeats, " has the negative number ", times,
          "; give 0 or more");
    out.push_back((Checked(size) * times).get("repeat", "a repeated size"));
    if (times != 1) split.push_back(1), expanded.push_back(times);
    if (times == 1 || size != 1) split.push_back(size), expanded.push_back(size);
  }
  return self.reshape(split).expand(expanded).clone(MemoryFormat::Contiguous).view(out);
}

Tensor tile(const Tensor& self, IntArrayRef dims) {
  Dims repeats;
  for (size_t i = dims.size(); i < self.sizes().size(); ++i) repeats.push_back(1);
  for (int64_t times : dims) repeats.push_back(times);
  return repeat(self, repeats);
}

namespace {
void check_output_size(int64_t size, std::optional<int64_t> output_size) {
  check(!output_size || *output_size == size, "repeat_interleave: output_size is ",
        output_size.value_or(0), ", and the repeats give ", size);
}
}  // namespace

Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  check(repeats.operand("repeat_interleave", "repeats").dim() == 1,
        "repeat_interleave: repeats has shape ", repeats.sizes(), ", expected a vector");
  check<TypeError>(repeats.dtype() == kLong || repeats.dtype() == kInt,
                   "repeat_interleave: repeats has dtype ", repeats.dtype(),
                   ", expected int64 or int32");
  const Tensor counts = raw::contiguous(raw::to(raw::to(repeats, kCPU), kLong));
  const int64_t* count = counts.data_ptr<int64_t>();
  Checked total = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    check(count[i] >= 0, "repeat_interleave: repeats has the negative number ", count[i],
          " at position ", i, "; give 0 or more");
    total = total + count[i];
  }
  const int64_t size = total.get("repeat_interleave", "the sum of the repeats");
  check_output_size(size, output_size);
  const Tensor out = raw::empty({size}, kLong, kCPU, "repeat_interleave");
  int64_t* to = out.data_ptr<int64_t>();
  for (int64_t i = 0; i < counts.numel(); ++i) to = std::fill_n(to, count[i], i);
  return out.to(repeats.device(), repeats.dtype());
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  if (!dim) return repeat_interleave(self.flatten(), repeats, 0, output_size);
  check<IndexError>(self.dim() > 0, "repeat_interleave: self has no dimensions; leave dim out");
  const int64_t d = wrap_dim("repeat_interleave", *dim, self), size = self.sizes()[d];
  check(repeats.operand("repeat_interleave", "repeats").dim() <= 1 &&
            (repeats.numel() == 1 || repeats.numel() == size),
        "repeat_interleave: repeats has shape ", repeats.sizes(), ", expected one number, or ",
        size, ", the size of dimension ", d);
  Tensor index = repeat_interleave(repeats.expand({size}), output_size).to(kLong);
  Dims shape = Dims::filled(self.dim(), 1), target = self.impl().sizes;
  shape[d] = target[d] = index.numel();
  return self.gather(d, index.view(shape).expand(target));
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  if (!dim) return repeat_interleave(self.flatten(), repeats, 0, output_size);
  check<IndexError>(self.dim() > 0, "repeat_interleave: self has no dimensions; leave dim out");
  check(repeats >= 0, "repeat_interleave: repeats = ", repeats, " is negative; give 0 or more");
  const int64_t d = wrap_dim("repeat_interleave", *dim, self);
  check_output_size((Checked(self.sizes()[d]) * repeats).get("repeat_interleave", "the size"),
                    output_size);
  Dims shape = self.impl().sizes;
  shape.insert(d + 1, repeats);
  return self.unsqueeze(d + 1).expand(shape).clone(MemoryFormat::Contiguous).flatten(d, d + 1);
}

namespace {
Tensor rolled(const Tensor& x, int64_t shift, int64_t dim) {
  const int64_t size = x.size(dim);
  if (size == 0) return raw::clone(x);
  const int64_t start = (size - shift % size) % size;
  return raw::cat({raw::narrow(x, dim, start, size - start), raw::narrow(x, dim, 0, start)}, dim);
}
}  // namespace

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  check(!shifts.empty(), "roll: shifts is empty; give one for each of dims");
  if (dims.empty() && shifts.size() == 1)
    return roll(self.reshape({-1}), shifts, 0).view(self.sizes());
  check(shifts.size() == dims.size(), "roll: shifts ", shifts, " and dims ", dims,
        " differ in length; give one shift for each dimension");
  check<IndexError>(self.dim() > 0, "roll: self has no dimensions; leave dims out");
  Tensor out = self;
  for (size_t i = 0; i < dims.size(); ++i)
    out = rolled(out, shifts[i], wrap_dim("roll", dims[i], self));
  out = raw::alias(out);
  if (recording(self)) {
    std::vector<int64_t> back;
    for (size_t i = 0; i < dims.size(); ++i)
      back.push_back(-(shifts[i] % std::max<int64_t>(self.size(dims[i]), 1)));
    record("RollBackward0", out, {self}, {}, [back, dims = dims.vec()](Node&, const Tensor& grad) {
      return Tensors{grad.roll(back, dims)};
    });
  }
  return out;
}

Tensor flip(const Tensor& self, IntArrayRef dims) {
  Tensor out = raw::flip(self, dims);
  if (recording(self))
    record("FlipBackward0", out, {self}, {},
           [dims = dims.vec()](Node&, const Tensor& grad) { return Tensors{grad.flip(dims)}; });
  return out;
}

Tensor fliplr(const Tensor& self) {
  check(self.operand("fliplr").dim() >= 2, "fliplr: self has shape ", self.sizes(),
        ", expected 2 dimensions or more");
  return flip(self, 1);
}
Tensor flipud(const Tensor& self) {
  check(self.operand("flipud").dim() >= 1, "flipud: self has no dimensions; expected 1 or more");
  return flip(self, 0);
}

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  check(dims.size() == 2, "rot90: dims ", dims, " lists ", dims.size(), " dimensions, expected 2");
  check(self.operand("rot90").dim() >= 2, "rot90: self has shape ", self.sizes(),
        ", expected 2 dimensions or more");
  const int64_t from = wrap_dim("rot90", dims[0], self);
  const int64_t to = wrap_dim("rot90", dims[1], self);
  check(from != to, "rot90: dims ", dims, " names one dimension twice");
  switch ((k % 4 + 4) % 4) {
    case 1:
      return self.flip(to).transpose(from, to);
    case 2:
      return self.flip({from, to});
    case 3:
      return self.flip(from).transpose(from, to);
    default:
      return self.clone();
  }
}

}  // namespace gradus
