// The check of a state that is to be loaded.
#include "gradus/optim/check_state.h"

namespace gradus::optim {

void check_state(const std::string& name, const OrderedDict<std::string, Tensor>& own,
                 const OrderedDict<std::string, Tensor>& given) {
  using gradus::detail::append;
  std::string wrong;
  for (const auto& item : own) {
    const Tensor &expected = item.value(), *value = given.find(item.key());
    if (!value || !value->defined()) {
      append(wrong, "\n  " + item.key() + " is missing");
    } else if (value->sizes() != expected.sizes() || value->dtype() != expected.dtype()) {
      append(wrong, "\n  " + item.key() + " is ");
      append(wrong, value->scalar_type());
      append(wrong, " of shape ");
      append(wrong, value->sizes());
      append(wrong, ", expected ");
      append(wrong, expected.scalar_type());
      append(wrong, " of shape ");
      append(wrong, expected.sizes());
    }
  }
  for (const auto& item : given)
    if (!own.contains(item.key())) append(wrong, "\n  " + item.key() + " is unknown");
  check(wrong.empty(), name, ": load_state_dict: the values do not fit:", wrong,
        "\ngive what state_dict() of the same class returned");
}

}  // namespace gradus::optim
