// Fold and Unfold: windows as views, and their sums by index.
#include "gradus/nn/modules/fold.h"

#include "gradus/autograd/ops/window/dims.h"
#include "gradus/nn/modules/padding.h"

namespace gradus::nn::functional {

namespace {

// The windows along one dimension: their extent, and how many there are in `size` elements.
template <class Options>
struct Windows {
  Windows(const char* op, const Options& options, size_t d, int64_t size)
      : kernel(options.kernel_size()[d]),
        dilation(options.dilation()[d]),
        padding(options.padding()[d]),
        stride(options.stride()[d]),
        padded(autograd::padded_size(op, size, padding)),
        extent(autograd::window_extent(op, kernel, dilation)),
        count(padded < extent ? 0 : (padded - extent) / stride + 1) {}
  int64_t kernel, dilation, padding, stride, padded, extent, count;
};

template <class Options>
void check_options(const char* op, const Options& options) {
  for (size_t d = 0; d < 2; ++d)
    check(options.kernel_size()[d] > 0 && options.dilation()[d] > 0 && options.stride()[d] > 0 &&
              options.padding()[d] >= 0,
          op,
          ": kernel_size, dilation and stride must be 1 or more and padding 0 or more, but got ",
          options.kernel_size(), ", ", options.dilation(), ", ", options.stride(), " and ",
          options.padding(), "; correct the option that is too small");
}

// "(2, 3)"
std::string pair_text(int64_t a, int64_t b) {
  return '(' + std::to_string(a) + ", " + std::to_string(b) + ')';
}

}  // namespace

Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options) {
  input.operand("unfold");
  check_options("unfold", options);
  check(
      input.dim() == 3 || input.dim() == 4,
      "unfold: Input Error: Only unbatched (3D) or batched (4D) input Tensors are supported (got ",
      input.dim(), "D); use unsqueeze or view");
  if (input.dim() == 3) return unfold(input.unsqueeze(0), options).squeeze(0);
  const Windows h("unfold", options, 0, input.size(2)), w("unfold", options, 1, input.size(3));
  check(h.count > 0 && w.count > 0, "unfold: Given input with spatial size ",
        pair_text(input.size(2), input.size(3)), ", kernel_size=", pair_text(h.kernel, w.kernel),
        ", dilation=", pair_text(h.dilation, w.dilation),
        ", padding=", pair_text(h.padding, w.padding),
        ", calculated shape of the array of sliding blocks as ", pair_text(h.count, w.count),
        ", but its components must be at least one. Pad more or use a smaller kernel_size");
  const Tensor padded = gradus::pad(input, {w.padding, w.padding, h.padding, h.padding});
  const Tensor windows = padded.unfold(2, h.extent, h.stride)
                             .unfold(3, w.extent, w.stride)
                             .slice(4, 0, h.extent, h.dilation)
                             .slice(5, 0, w.extent, w.dilation);
  return windows.permute({0, 1, 4, 5, 2, 3})
      .reshape({input.size(0),
                (Checked(input.size(1)) * h.kernel * w.kernel).get("unfold", "the result's size"),
                (Checked(h.count) * w.count).get("unfold", "the number of blocks")});
}

Tensor fold(const Tensor& input, const FoldFuncOptions& options) {
  input.operand("fold");
  check_options("fold", options);
  check(input.dim() == 2 || input.dim() == 3,
        "fold: Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got ",
        input.dim(), "D); use flatten");
  if (input.dim() == 2) return fold(input.unsqueeze(0), options).squeeze(0);
  const Windows h("fold", options, 0, options.output_size()[0]),
      w("fold", options, 1, options.output_size()[1]);
  const int64_t elements = (Checked(h.kernel) * w.kernel).get("fold", "the elements of a window");
  const int64_t count = (Checked(h.count) * w.count).get("fold", "the number of blocks");
  const int64_t image = (Checked(h.padded) * w.padded).get("fold", "the padded image's size");
  check(input.size(1) % elements == 0,
        "fold: Expected size of input's dimension 1 to be divisible "
        "by the product of kernel_size, but got input.size(1)=",
        input.size(1), " and kernel_size=", pair_text(h.kernel, w.kernel),
        "; input is (N, C * elements of a window, windows)");
  check(input.size(2) == count,
        "fold: Given output_size=", pair_text(options.output_size()[0], options.output_size()[1]),
        ", kernel_size=", pair_text(h.kernel, w.kernel),
        ", dilation=", pair_text(h.dilation, w.dilation),
        ", padding=", pair_text(h.padding, w.padding), ", stride=", pair_text(h.stride, w.stride),
        ", expected size of input's dimension 2 to match the calculated number of sliding blocks ",
        h.count, " * ", w.count, " = ", count, ", but got input.size(2)=", input.size(2),
        "; give the options of the unfold");
  // Where each element of each window lies in the padded image.
  const TensorOptions longs = TensorOptions(kLong).device(input.device());
  const auto places = [&](const auto& along) {
    return arange(along.kernel, longs).mul(along.dilation).unsqueeze(1) +
           arange(along.count, longs).mul(along.stride);
  };
  const Tensor index = places(h).mul(w.padded).view({h.kernel, 1, h.count, 1}) +
                       places(w).view({1, w.kernel, 1, w.count});
  const int64_t batch = input.size(0), channels = input.size(1) / elements;
  return zeros({batch * channels, image}, input.options())
      .index_add(1, index.flatten(), input.reshape({batch * channels, index.numel()}))
      .view({batch, channels, h.padded, w.padded})
      .narrow(2, h.padding, options.output_size()[0])
      .narrow(3, w.padding, options.output_size()[1])
      .contiguous();
}

}  // namespace gradus::nn::functional
