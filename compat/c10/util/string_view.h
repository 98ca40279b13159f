// c10::string_view, which is std's.
#pragma once

#include <string_view>

namespace gradus {
using std::string_view;
}  // namespace gradus
