// state_dict and load_state_dict of an optimizer.
#include <set>
#include <typeinfo>

#include "gradus/autograd/engine/node.h"
#include "gradus/optim/optimizer.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::optim {

namespace {
using StateDict = OrderedDict<std::string, Tensor>;

template <class T>
Tensor number(T value) {
  Tensor out = raw::empty({}, dtype_of<T>, Device(kCPU));
  *out.data_ptr<T>() = value;
  return out;
}

std::vector<std::string> names_of(const std::vector<std::string>& given, size_t parameters) {
  if (given.empty()) {
    std::vector<std::string> numbers;
    for (size_t i = 0; i < parameters; ++i) numbers.push_back(std::to_string(i));
    return numbers;
  }
  check(given.size() == parameters, "state_dict: ", given.size(), " names for ", parameters,
        " parameters; give one for each");
  return given;
}

std::string group_key(const std::string& name) { return "group_of." + name; }
std::string option_key(size_t group, std::string_view field) {
  return "param_groups." + std::to_string(group) + "." + std::string(field);
}
std::string state_key(const std::string& name, std::string_view field) {
  return "state." + name + "." + std::string(field);
}

// Errors: NotImplementedError where the class does not list them.
Fields fields_of(OptimizerOptions& options) {
  Fields fields = options.fields();
  check<NotImplementedError>(!fields.empty(), "state_dict: ", readable_name(typeid(options)),
                             " does not list its options; override fields()");
  return fields;
}

// Finds values by name, and notes what does not fit.
class Reader {
 public:
  explicit Reader(const StateDict& values) : values_(values) {}

  bool has(const std::string& key) const { return values_.contains(key); }

  // Null where there is no value, or none of that geometry.
  const Tensor* take(const std::string& key, bool required, IntArrayRef sizes, ScalarType dtype) {
    taken_.insert(key);
    const Tensor* value = values_.find(key);
    if (value == nullptr || !value->defined()) {
      if (required) note(key, " is missing");
      return nullptr;
    }
    if (value->sizes() == sizes && value->dtype() == dtype) return value;
    note(key, " is ", value->scalar_type(), " of shape ", value->sizes(), ", expected ", dtype,
         " of shape ", sizes);
    return nullptr;
  }

  template <class T>
  void number(const std::string& key, T* into) {
    const Tensor* value = take(key, true, {}, dtype_of<T>);
    if (value != nullptr) *into = raw::item(*value).to<T>();
  }

  void finish() {
    for (const auto& item : values_)
      if (!taken_.contains(item.key())) note(item.key(), " is unknown");
  }

  template <class... Parts>
  void note(const Parts&... parts) {
    using detail::append;
    misfits += "\n  ";
    (append(misfits, parts), ...);
  }

  std::string misfits;

 private:
  const StateDict& values_;
  std::set<std::string> taken_;
};
}  // namespace

struct Optimizer::Loaded {
  std::string misfits;
  std::vector<std::unique_ptr<OptimizerOptions>> options;                      // of each group
  std::vector<std::pair<Tensor, std::unique_ptr<OptimizerParamState>>> state;  // of a parameter
};

StateDict Optimizer::state_dict(const std::vector<std::string>& names) const {
  const Tensors all = parameters();
  const std::vector<std::string> name = names_of(names, all.size());
  StateDict out;
  size_t i = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const auto options = groups_[g].options().clone();
    for (const Field& field : fields_of(*options))
      std::visit(
          [&]<class T>(T* value) {
            if constexpr (!std::is_same_v<T, Tensor>)
              out.insert(option_key(g, field.name), number(*value));
          },
          field.value);
    for (size_t n = groups_[g].params().size(); n-- > 0; ++i)
      out.insert(group_key(name[i]), number(static_cast<int64_t>(g)));
  }
  for (i = 0; i < all.size(); ++i) {
    const auto kept = state_.find(&all[i].impl());
    if (kept == state_.end()) continue;
    for (const Field& field : kept->second->fields())
      std::visit(
          [&]<class T>(T* value) {
            const std::string key = state_key(name[i], field.name);
            if constexpr (!std::is_same_v<T, Tensor>) {
              out.insert(key, number(*value));
            } else if (value->defined()) {
              out.insert(key, beside(*value, all[i]));
            }
          },
          field.value);
  }
  return out;
}

Optimizer::Loaded Optimizer::read_state_dict(const StateDict& values,
                                             const std::vector<std::string>& names) const {
  const Tensors all = parameters();
  const std::vector<std::string> name = names_of(names, all.size());
  Loaded out;
  Reader reader(values);
  size_t i = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    auto options = groups_[g].options().clone();
    const size_t before = reader.misfits.size();
    for (const Field& field : fields_of(*options))
      std::visit(
          [&]<class T>(T* value) {
            if constexpr (!std::is_same_v<T, Tensor>)
              reader.number(option_key(g, field.name), value);
          },
          field.value);
    try {
      if (reader.misfits.size() == before) options->validate();
    } catch (const ValueError& error) {
      reader.note("param_groups.", g, ": ", error.msg());
    }
    out.options.push_back(std::move(options));
    for (size_t n = groups_[g].params().size(); n-- > 0; ++i) {
      int64_t group = static_cast<int64_t>(g);
      reader.number(group_key(name[i]), &group);
      if (group != static_cast<int64_t>(g))
        reader.note(group_key(name[i]), " is ", group, ", expected ", g);
    }
  }
  for (i = 0; i < all.size(); ++i) {
    auto state = new_state();
    if (state == nullptr) break;
    const Fields fields = state->fields();
    const bool any = std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
      return reader.has(state_key(name[i], field.name));
    });
    if (!any) continue;
    for (const Field& field : fields)
      std::visit(
          [&]<class T>(T* value) {
            const std::string key = state_key(name[i], field.name);
            if constexpr (!std::is_same_v<T, Tensor>) {
              reader.number(key, value);
            } else {
              const Tensor* found =
                  reader.take(key, false, all[i].sizes(), computed_type(all[i].dtype()));
              if (found != nullptr) *value = *found;
            }
          },
          field.value);
    out.state.emplace_back(all[i], std::move(state));
  }
  reader.finish();
  out.misfits = std::move(reader.misfits);
  return out;
}

std::string Optimizer::misfits(const StateDict& values,
                               const std::vector<std::string>& names) const {
  return read_state_dict(values, names).misfits;
}

void Optimizer::load_state_dict(const StateDict& values, const std::vector<std::string>& names) {
  Loaded loaded = read_state_dict(values, names);
  check(loaded.misfits.empty(), "load_state_dict: the values do not fit ",
        readable_name(typeid(*this)), ":", loaded.misfits);
  std::unordered_map<void*, std::unique_ptr<OptimizerParamState>> state;
  for (auto& [parameter, kept] : loaded.state) {
    for (const Field& field : kept->fields())
      if (Tensor* const* value = std::get_if<Tensor*>(&field.value); value && (*value)->defined())
        **value = (*value)->device() == parameter.device() ? raw::clone(**value)
                                                           : raw::to(**value, parameter.device());
    state.emplace(&parameter.impl(), std::move(kept));
  }
  state_ = std::move(state);
  for (size_t g = 0; g < groups_.size(); ++g) groups_[g].set_options(std::move(loaded.options[g]));
}

}  // namespace gradus::optim
