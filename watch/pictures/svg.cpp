// SVG as text.
#include "gradus/watch/pictures/svg.h"

#include <algorithm>

#include "gradus/tensor/base/utf8.h"
#include "gradus/watch/log_file.h"
#include "gradus/watch/text.h"

namespace gradus::watch {

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    const auto code = static_cast<unsigned char>(c);
    if (code < ' ') continue;  // XML has no such characters
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return out;
}

}  // namespace

void save_svg(const std::string& svg, const std::string& path) {
  detail::write_file("save_svg", path, svg);
}

std::string detail::page(double width, double height, const std::string& title,
                         const std::string& body) {
  constexpr double kLetter = 10;
  width = std::max(width, kLetter * static_cast<double>(title.size()) + 20);
  return format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
             "viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" fill=\"#222222\">\n"
             "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
             width, height, width, height) +
         text(width / 2, 30, "middle", 18, title) + body + "</svg>\n";
}

std::string detail::text(double x, double y, const char* anchor, int size, const std::string& what,
                         const char* colour) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" fill=\"%s\">", x,
                y, anchor, size, colour) +
         escaped(what) + "</text>\n";
}

std::string detail::line(double x0, double y0, double x1, double y1, const char* colour) {
  return format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x0, y0,
                x1, y1, colour);
}

}  // namespace gradus::watch
