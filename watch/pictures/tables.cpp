// A confusion matrix, and images with captions: cells in rows.
#include <algorithm>

#include "gradus/watch/pictures/image.h"
#include "gradus/watch/pictures/pixels.h"
#include "gradus/watch/pictures/plot.h"
#include "gradus/watch/text.h"

namespace gradus::watch {

namespace {

using detail::format;

constexpr int kCell = 44;  // of a matrix

// A share of 0 is white, one of 1 dark blue.
std::string shade(double share) {
  const auto mixed = [&](int to) { return static_cast<int>(255 + share * (to - 255)); };
  return format("#%02x%02x%02x", mixed(8), mixed(81), mixed(156));
}

}  // namespace

std::string plot_confusion_matrix(const std::string& title, const Tensor& matrix,
                                  const std::vector<std::string>& class_names) {
  check(matrix.dim() == 2 && matrix.size(0) == matrix.size(1) && matrix.size(0) > 0,
        "plot_confusion_matrix: matrix has the shape ", matrix.sizes(),
        ", expected (classes, classes), as ConfusionMatrix::compute() returns it");
  const int64_t classes = matrix.size(0);
  check(class_names.empty() || static_cast<int64_t>(class_names.size()) == classes,
        "plot_confusion_matrix: class_names has ", class_names.size(), " names for ", classes,
        " classes; give one for each, or none");
  const auto name = [&](int64_t c) {
    return class_names.empty() ? std::to_string(c) : class_names[static_cast<size_t>(c)];
  };
  size_t longest = 1;
  for (int64_t c = 0; c < classes; ++c) longest = std::max(longest, name(c).size());
  const double room = 7.5 * static_cast<double>(longest) + 12;  // for the names
  const double left = room + 34, top = room + 66, side = kCell * static_cast<double>(classes);
  const Tensor here = matrix.detach().to(Device(kCPU), kDouble).contiguous();
  const auto count = here.accessor<double, 2>();
  std::string out;
  for (int64_t i = 0; i < classes; ++i) {
    double all = 0;
    for (int64_t j = 0; j < classes; ++j) all += count[i][j];
    const double y = top + kCell * static_cast<double>(i);
    out += detail::text(left - 8, y + kCell / 2.0 + 4, "end", 12, name(i));
    out += format("<g transform=\"translate(%.1f %.1f) rotate(-90)\">",
                  left + kCell * (static_cast<double>(i) + 0.5) + 4, top - 8) +
           detail::text(0, 0, "start", 12, name(i)) + "</g>\n";
    for (int64_t j = 0; j < classes; ++j) {
      const double share = all > 0 ? count[i][j] / all : 0,
                   x = left + kCell * static_cast<double>(j);
      out += format(
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"%s\" "
          "stroke=\"#dddddd\"/>\n",
          x, y, kCell, kCell, shade(share).c_str());
      out += detail::text(x + kCell / 2.0, y + kCell / 2.0 + 4, "middle", 12,
                          format("%.6g", count[i][j]), share > 0.5 ? "#ffffff" : "#222222");
    }
  }
  out += detail::text(left + side / 2, 56, "middle", 13, "predicted");
  out += format("<g transform=\"translate(18 %.1f) rotate(-90)\">", top + side / 2) +
         detail::text(0, 0, "middle", 13, "target") + "</g>\n";
  return detail::page(left + side + 20, top + side + 20, title, out);
}

std::string plot_images(const std::string& title, const std::vector<CaptionedImage>& images,
                        int across) {
  constexpr int kSide = 112, kWide = 132, kHigh = 150, kFirst = 50;
  check(across >= 1, "plot_images: across is ", across, ", expected 1 or more");
  const int count = static_cast<int>(images.size()), rows = (count + across - 1) / across;
  std::string out;
  for (int i = 0; i < count; ++i) {
    const CaptionedImage& image = images[static_cast<size_t>(i)];
    const int x = 10 + i % across * kWide, y = kFirst + i / across * kHigh;
    out += format(
               "<image x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
               "style=\"image-rendering: pixelated\" href=\"data:image/png;base64,",
               x + 10, y, kSide, kSide) +
           detail::base64(detail::encode_png("plot_images", image.image)) + "\"/>\n" +
           detail::text(x + kWide / 2, y + kSide + 16, "middle", 11, image.caption,
                        image.good ? "#007755" : "#d55e00");
  }
  return detail::page(std::min(across, std::max(count, 1)) * kWide + 20, rows * kHigh + kFirst + 10,
                      title, out);
}

}  // namespace gradus::watch
