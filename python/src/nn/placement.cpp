// The arguments device and dtype of modules, by keyword and by place.
#include "nn/placement.h"

#include <algorithm>
#include <string>

#include "default_device.h"
#include "errors.h"

namespace gradus::python {

std::optional<size_t> place_count(const std::vector<OptionText>& options) {
  const bool all = std::ranges::all_of(options, &OptionText::has_place);
  return all ? std::optional(options.size()) : std::nullopt;
}
nb::args take_placement(const char* function, const nb::args& args, size_t places,
                        nb::dict& keywords) {
  if (args.size() <= places || args.size() > places + 2) return args;
  nb::list own;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i < places) {
      own.append(args[i]);
      continue;
    }
    const char* const name = i == places ? "device" : "dtype";
    const nb::str key(name);
    if (keywords.contains(key)) fail_argument(function, name, "is given twice");
    keywords[key] = args[i];
  }
  return nb::borrow<nb::args>(nb::tuple(own));
}
Placement::Placement(nb::dict& keywords) {
  const auto take = [&](const char* name, auto& to) {
    const nb::str key(name);
    if (!keywords.contains(key)) return;
    const nb::object given(keywords[key]);
    if (!to.load(given, true)) fail_value("Module", name, given, std::string("a ") + name);
    PyDict_DelItem(keywords.ptr(), key.ptr());
  };
  take("device", device);
  take("dtype", dtype);
}
void Placement::apply(nn::Module& module) const {
  if (const auto to = device.given ? device.get() : default_device()) module.to(*to);
  if (dtype.given) module.to(*dtype.get());
}

}  // namespace gradus::python
