// The elements of SVG that pictures are made of.
#pragma once

#include <string>

namespace gradus::watch {

// Writes a picture, such as plot_curves returns. An older file of this name is replaced when the
// new one is complete. The folder is made
// where it is missing. Errors: Error where the file cannot be written.
void save_svg(const std::string& svg, const std::string& path);

namespace detail {

// Colours that stay apart for colour-blind readers.
inline constexpr const char* kColours[] = {"#56b4e9", "#d55e00", "#009e73", "#cc79a7"};
inline constexpr size_t kStyles = 4;

// The elements within a white page, with a title. The page is wider where the title needs it.
std::string page(double width, double height, const std::string& title, const std::string& body);
// anchor: "start", "middle" or "end".
std::string text(double x, double y, const char* anchor, int size, const std::string& what,
                 const char* colour = "#222222");
std::string line(double x0, double y0, double x1, double y1, const char* colour);

}  // namespace detail
}  // namespace gradus::watch
