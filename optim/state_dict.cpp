// state_dict and load_state_dict of an optimizer.
#include <algorithm>
#include <functional>
#include <set>
#include <typeinfo>

#include "gradus/autograd/engine/node.h"
#include "gradus/optim/optimizer.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::optim {

namespace {
using StateDict = OrderedDict<std::string, Tensor>;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 makes no guide of its own

template <class T>
Tensor number(T value) {
  Tensor out = raw::empty({}, dtype_of<T>, Device(kCPU));
  *out.data_ptr<T>() = value;
  return out;
}
Tensor characters(const std::string& text) {
  Tensor out = raw::empty({static_cast<int64_t>(text.size())}, kByte, Device(kCPU));
  std::copy(text.begin(), text.end(), out.data_ptr<uint8_t>());
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

std::string item_key(const std::string& list, size_t i) { return list + "." + std::to_string(i); }
std::string group_key(const std::string& name) { return "group_of." + name; }
std::string option_key(size_t group, std::string_view field) {
  return "param_groups." + std::to_string(group) + "." + std::string(field);
}
std::string state_key(const std::string& name, std::string_view field) {
  return "state." + name + "." + std::string(field);
}

// Adds a field under its key: a list under key.0, key.1, ...; nothing for what has no value.
// `kept` gives a tensor as it is to be saved.
template <class F>
void write(StateDict& out, const std::string& key, const Field& field, const F& kept) {
  const auto add = Overloaded{[&](const Tensor& value) {
                                if (value.defined()) out.insert(key, kept(value));
                              },
                              [&](const std::deque<Tensor>& values) {
                                for (size_t i = 0; i < values.size(); ++i)
                                  out.insert(item_key(key, i), kept(values[i]));
                              },
                              [&](const std::optional<std::string>& value) {
                                if (value) out.insert(key, characters(*value));
                              },
                              [&](const std::optional<int64_t>& value) {
                                if (value) out.insert(key, number(*value));
                              },
                              [&](auto value) { out.insert(key, number(value)); }};
  std::visit([&](const auto* value) { add(*value); }, field.value);
}

// Errors: NotImplementedError where the class does not list them.
Fields fields_of(OptimizerOptions& options) {
  Fields fields = options.fields();
  check<NotImplementedError>(!fields.empty(), "state_dict: ", readable_name(typeid(options)),
                             " does not list its options; override fields()");
  return fields;
}

std::vector<int64_t> sizes_of(Extent extent, const Tensors& all, size_t i) {
  if (extent == Extent::number) return {};
  if (extent == Extent::parameter) return all[i].sizes().vec();
  int64_t elements = 0;
  for (const Tensor& parameter : all) elements += parameter.numel();
  return {elements};
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

  // The counterpart of write(). `sizes` and `dtype` are those of the field's tensors.
  void read(const std::string& key, const Field& field, IntArrayRef sizes, ScalarType dtype) {
    const auto tensor = [&](const std::string& name, bool required) {
      const Tensor* value = take(name, required, sizes, dtype);
      return value ? *value : Tensor();
    };
    const auto into = Overloaded{
        [&](Tensor& value) { value = tensor(key, false); },
        [&](std::deque<Tensor>& values) {
          values.clear();
          while (has(item_key(key, values.size())))
            values.push_back(tensor(item_key(key, values.size()), true));
        },
        [&](std::optional<std::string>& value) {
          value.reset();
          if (!has(key)) return;
          const Tensor* text = take(key, true, {values_[key].numel()}, kByte);
          if (text == nullptr) return;
          const Tensor here = raw::contiguous(raw::to(*text, Device(kCPU)));
          value.emplace(here.data_ptr<uint8_t>(), here.data_ptr<uint8_t>() + here.numel());
        },
        [&](std::optional<int64_t>& value) {
          value.reset();
          if (has(key)) number(key, &value.emplace());
        },
        [&](auto& value) {
          if (!field.is_new || has(key)) number(key, &value);
        }};
    std::visit([&](auto* value) { into(*value); }, field.value);
  }

  void finish() {
    for (const auto& item : values_)
      if (!taken_.contains(item.key())) note(item.key(), " is unknown");
  }

  template <class... Parts>
  void note(const Parts&... parts) {
    using gradus::detail::append;
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
  settle();
  const Tensors all = parameters();
  const std::vector<std::string> name = names_of(names, all.size());
  StateDict out;
  size_t i = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const auto options = groups_[g].options().clone();
    for (const Field& field : fields_of(*options))
      write(out, option_key(g, field.name), field, std::identity());
    for (size_t n = groups_[g].params().size(); n-- > 0; ++i)
      out.insert(group_key(name[i]), number(static_cast<int64_t>(g)));
  }
  for (i = 0; i < all.size(); ++i) {
    const auto kept = state_.find(&all[i].impl());
    if (kept == state_.end()) continue;
    for (const Field& field : kept->second->fields())
      write(out, state_key(name[i], field.name), field,
            [&](const Tensor& value) { return beside(value, all[i]); });
  }
  return out;
}

Optimizer::Loaded Optimizer::read_state_dict(const StateDict& values,
                                             const std::vector<std::string>& names) const {
  settle();
  const Tensors all = parameters();
  const std::vector<std::string> name = names_of(names, all.size());
  Loaded out;
  Reader reader(values);
  size_t i = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    auto options = groups_[g].options().clone();
    const size_t before = reader.misfits.size();
    for (const Field& field : fields_of(*options))
      reader.read(option_key(g, field.name), field, {}, kDouble);
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
      reader.read(state_key(name[i], field.name), field, sizes_of(field.extent, all, i),
                  computed_type(all[i].dtype()));
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
    const auto take = [device = parameter.device()](Tensor& value) {
      if (!value.defined()) return;
      value = value.device() == device ? raw::clone(value) : raw::to(value, device);
    };
    for (const Field& field : kept->fields())
      if (Tensor* const* value = std::get_if<Tensor*>(&field.value))
        take(**value);
      else if (std::deque<Tensor>* const* list = std::get_if<std::deque<Tensor>*>(&field.value))
        std::for_each((*list)->begin(), (*list)->end(), take);
    state.emplace(&parameter.impl(), std::move(kept));
  }
  state_ = std::move(state);
  for (size_t g = 0; g < groups_.size(); ++g) groups_[g].set_options(std::move(loaded.options[g]));
}

}  // namespace gradus::optim
