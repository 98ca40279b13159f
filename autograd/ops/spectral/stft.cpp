// stft and istft: frames of a signal, times a window, transformed; and frames added to a signal.
#include <cmath>

#include "gradus/autograd/ops/spectral/transforms.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

// The arguments that stft and istft share. Errors: ValueError for sizes, Error for a window on
// another device.
struct Frames {
  int64_t n_fft, hop, win;
  Tensor window;  // of n_fft elements, or undefined where all are 1

  Frames(const char* op, const Tensor& self, int64_t n, std::optional<int64_t> hop_length,
         std::optional<int64_t> win_length, const std::optional<Tensor>& given)
      : n_fft(n), hop(hop_length.value_or(n / 4)), win(win_length.value_or(n)) {
    check(hop > 0, op, ": expected hop_length > 0, but got hop_length=", hop,
          "; give a positive one");
    check(0 < win && win <= n_fft, op,
          ": expected 0 < win_length <= n_fft, but got win_length=", win, " and n_fft=", n_fft,
          "; give a win_length of at most n_fft");
    if (given.has_value() && given->defined()) {
      window = *given;
      check(window.dim() == 1 && window.size(0) == win, op,
            ": expected a 1D window tensor of size equal to win_length=", win,
            ", but got window with size ", window.sizes(), "; make one of that length");
      check<Error>(window.device() == self.device(), op, ": self is on ", self.device(),
                   " and window on ", window.device(), "; move one with .to()");
    } else if (win < n_fft) {
      window = ones({win}, self.options().dtype(toRealValueType(self.dtype())));
    }
    const int64_t before = (n_fft - win) / 2;
    if (win < n_fft) window = constant_pad_nd(window, {before, n_fft - win - before});
  }
  double scale(bool normalized) const {
    return normalized ? 1 / std::sqrt(static_cast<double>(n_fft)) : 1;
  }
};

// x (signals, frames, n): element j of frame f is added at f * hop + j.
Tensor overlapped(const Tensor& x, int64_t hop) {
  if (x.is_complex()) return complex(overlapped(real(x), hop), overlapped(imag(x), hop));
  const int64_t frames = x.size(1), n = x.size(2), length = n + hop * (frames - 1);
  const TensorOptions indices = TensorOptions(kLong).device(x.device());
  const Tensor places = (arange(frames, indices) * hop).unsqueeze(1) + arange(n, indices);
  return zeros({x.size(0), length}, x.options())
      .index_add(1, places.flatten(), x.reshape({x.size(0), frames * n}));
}

Tensor stft_of(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
               std::optional<int64_t> win_length, const std::optional<Tensor>& window,
               bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex) {
  constexpr const char* op = "stft";
  check<TypeError>(isFloatingType(self.operand(op).dtype()) || self.is_complex(), op,
                   ": expected a tensor of floating point or complex values, but got ",
                   TypeName{self.dtype()}, "; convert with .to(kFloat)");
  const bool complex_window = window.has_value() && window->defined() && window->is_complex();
  const bool complex_in = self.is_complex() || complex_window;
  check(return_complex.has_value() || complex_in, op,
        " requires the return_complex parameter be given for real inputs; pass true, and "
        "view_as_real() of the result shows pairs");
  check(self.dim() == 1 || self.dim() == 2, op, ": expected a 1D or 2D tensor, but got shape ",
        self.sizes(), "; flatten the leading dimensions");
  const Tensor signals = self.dim() == 1 ? self.unsqueeze(0) : self;
  check(0 < n_fft && n_fft <= signals.size(1), op, ": expected 0 < n_fft <= ", signals.size(1),
        ", but got n_fft=", n_fft, "; give a smaller one, or a longer signal");
  const Frames frames(op, self, n_fft, hop_length, win_length, window);
  Tensor x = signals.unfold(1, n_fft, frames.hop);
  if (frames.window.defined()) x = x * frames.window;
  const bool half = onesided.value_or(!complex_in);
  check(!half || !complex_in, op,
        ": Cannot have onesided output if window or input is complex; pass onesided = false");
  const FourierTransform how{{2}, false, frames.scale(normalized)};
  x = spectral::promoted(op, x, !half);
  const Tensor y = half ? spectral::transform_to_half(how, x) : spectral::transform(how, x);
  const Tensor turned = y.transpose(1, 2), out = self.dim() == 1 ? turned.squeeze(0) : turned;
  return return_complex.value_or(true) ? out : view_as_real(out);
}

void check_no_alignment(std::optional<bool> align_to_window) {
  check<NotImplementedError>(!align_to_window.value_or(false),
                             "stft: align_to_window is not implemented; cut the signal instead");
}

}  // namespace

Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
            std::optional<int64_t> win_length) {
  return stft(self, n_fft, hop_length, win_length, std::nullopt);
}
Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
            std::optional<int64_t> win_length, const std::optional<Tensor>& window, bool normalized,
            std::optional<bool> onesided, std::optional<bool> return_complex,
            std::optional<bool> align_to_window) {
  check_no_alignment(align_to_window);
  return stft_of(self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex);
}
Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
            std::optional<int64_t> win_length, const std::optional<Tensor>& window, bool center,
            std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
            std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  check(!center || !align_to_window.has_value(),
        "stft only supports align_to_window for center = false; leave it out");
  check_no_alignment(align_to_window);
  Tensor x = self.operand("stft");
  if (center && (x.dim() == 1 || x.dim() == 2)) {
    // Borders are reflected in dimensions behind two others.
    const Tensor planes = x.dim() == 1 ? x.view({1, 1, x.size(0)}) : x.unsqueeze(0);
    const Tensor padded = pad(planes, {n_fft / 2, n_fft / 2}, pad_mode).squeeze(0);
    x = x.dim() == 1 ? padded.squeeze(0) : padded;
  }
  return stft_of(x, n_fft, hop_length, win_length, window, normalized, onesided, return_complex);
}

Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
             std::optional<int64_t> win_length) {
  return istft(self, n_fft, hop_length, win_length, std::nullopt);
}
Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
             std::optional<int64_t> win_length, const std::optional<Tensor>& window, bool center,
             bool normalized, std::optional<bool> onesided, std::optional<int64_t> length,
             bool return_complex) {
  constexpr const char* op = "istft";
  check<TypeError>(self.operand(op).is_complex(), op,
                   " requires a complex-valued input tensor matching the output from stft with "
                   "return_complex=True, but got ",
                   TypeName{self.dtype()}, "; use view_as_complex()");
  check((self.dim() == 2 || self.dim() == 3) && self.numel() > 0, op,
        ": expected a tensor with 2 or 3 dimensions and some elements, but got shape ",
        self.sizes(), "; give what stft returns");
  const int64_t rows = self.size(-2);
  const bool half = onesided.value_or(rows != n_fft);
  check(rows == (half ? n_fft / 2 + 1 : n_fft), op, ": expected the frequency dimension (", rows,
        ") to match n_fft / 2 + 1 where onesided, else n_fft, and n_fft=", n_fft,
        "; give stft's n_fft");
  check(!return_complex || !half, op,
        ": cannot have onesided input and complex output; pass onesided = false");
  const Frames frames(op, self, n_fft, hop_length, win_length, window);
  check(frames.hop <= frames.win, op,
        ": expected hop_length <= win_length, but got hop_length=", frames.hop,
        " and win_length=", frames.win, "; give a smaller hop_length");

  Tensor x = (self.dim() == 2 ? self.unsqueeze(0) : self).transpose(1, 2);
  const FourierTransform how{
      {2}, true, normalized ? frames.scale(true) : 1 / static_cast<double>(n_fft)};
  if (return_complex)
    x = spectral::transform(how, x);
  else
    x = spectral::transform_to_real(how, half ? x : x.narrow(2, 0, n_fft / 2 + 1), n_fft);
  const Tensor weights = frames.window.defined()
                             ? frames.window
                             : ones({n_fft}, self.options().dtype(toRealValueType(self.dtype())));
  const Tensor squares = (weights * weights).expand({1, x.size(1), n_fft});
  Tensor sum = overlapped(x * weights, frames.hop), total = overlapped(squares, frames.hop);

  const int64_t all = sum.size(1), start = center ? n_fft / 2 : 0;
  const int64_t end = length.has_value() ? start + *length : center ? all - n_fft / 2 : all;
  const int64_t kept = std::max<int64_t>(0, std::min(end, all) - start);
  sum = sum.narrow(1, start, kept), total = total.narrow(1, start, kept);
  if (kept > 0)
    check(total.detach().abs().min().item<double>() > 1e-11, op,
          ": window overlap add min: 1, which means that some elements lie in no window; give a "
          "smaller hop_length, or center = true");
  Tensor out = sum / total;
  if (end - start > kept) {
    warn(
        "istft: The length of signal is shorter than the length parameter. Result is being "
        "padded with zeros in the tail.");
    out = constant_pad_nd(out, {0, end - start - kept});
  }
  return self.dim() == 2 ? out.squeeze(0) : out;
}

}  // namespace gradus
