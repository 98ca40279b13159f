// pixel_shuffle, pixel_unshuffle and channel_shuffle.
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/checked.h"

namespace gradus {

namespace {
// The last five dimensions in another order, and then in another shape.
Tensor reordered(const Tensor& self, const Dims& split, std::initializer_list<int64_t> tail,
                 const Dims& shape) {
  const auto batch = static_cast<int64_t>(split.size()) - 5;
  Dims order;
  for (int64_t d = 0; d < batch; ++d) order.push_back(d);
  for (const int64_t d : tail) order.push_back(batch + d);
  const Tensor out = self.reshape(split).permute(order).reshape(shape);
  return out.is_alias_of(self) ? out.clone() : out;  // of a factor of 1, say
}

// The sizes of the batch, and these.
Dims with_batch(const Tensor& self, std::initializer_list<int64_t> sizes) {
  Dims out(self.sizes().data(), self.sizes().size() - 3);
  for (const int64_t size : sizes) out.push_back(size);
  return out;
}

void check_pixels(const char* op, const char* name, const Tensor& self, int64_t factor) {
  check(self.operand(op).dim() >= 3, op, ": ", op,
        " expects input to have at least 3 dimensions, but got input with ", self.dim(),
        " dimension(s), (..., C, H, W); unsqueeze it");
  check(factor > 0, op, ": ", op, " expects a positive ", name, ", but got ", factor,
        "; give 1 or more");
}

int64_t product_of(const char* op, Checked a, int64_t b) {
  return (a * b).get(op, "the size of the result");
}
}  // namespace

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  check_pixels("pixel_shuffle", "upscale_factor", self, upscale_factor);
  const int64_t r = upscale_factor, c = self.size(-3), h = self.size(-2), w = self.size(-1);
  constexpr const char* kOp = "pixel_shuffle";
  const int64_t square = product_of(kOp, r, r);
  check(c % square == 0,
        "pixel_shuffle: pixel_shuffle expects its input's 'channel' dimension to be divisible by "
        "the square of upscale_factor, but input.size(-3)=",
        c, " is not divisible by ", square, "; give another factor or more channels");
  return reordered(self, with_batch(self, {c / square, r, r, h, w}), {0, 3, 1, 4, 2},
                   with_batch(self, {c / square, product_of(kOp, h, r), product_of(kOp, w, r)}));
}

Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  check_pixels("pixel_unshuffle", "downscale_factor", self, downscale_factor);
  const int64_t r = downscale_factor, c = self.size(-3), h = self.size(-2), w = self.size(-1);
  check(h % r == 0,
        "pixel_unshuffle: pixel_unshuffle expects height to be divisible by downscale_factor, but "
        "input.size(-2)=",
        h, " is not divisible by ", r, "; pad the input");
  check(w % r == 0,
        "pixel_unshuffle: pixel_unshuffle expects width to be divisible by downscale_factor, but "
        "input.size(-1)=",
        w, " is not divisible by ", r, "; pad the input");
  return reordered(
      self, with_batch(self, {c, h / r, r, w / r, r}), {0, 2, 4, 1, 3},
      with_batch(self, {product_of("pixel_unshuffle", Checked(c) * r, r), h / r, w / r}));
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  check(self.operand("channel_shuffle").dim() > 2,
        "channel_shuffle: channel_shuffle expects input with > 2 dims, but got input with sizes ",
        self.sizes(), "; expected (N, C, ...), unsqueeze it");
  check(groups > 0,
        "channel_shuffle: Number of groups to divide channels in must be positive. Value of "
        "groups:",
        groups, "; give 1 or more");
  check(self.size(1) % groups == 0,
        "channel_shuffle: Number of channels must be divisible by groups. Got ", self.size(1),
        " channels and ", groups, " groups. Give a divisor of ", self.size(1));
  const Tensor out =
      self.unflatten(1, {groups, self.size(1) / groups}).transpose(1, 2).reshape(self.sizes());
  return out.is_alias_of(self) ? out.clone() : out;
}

}  // namespace gradus
