// save_checkpoint and load_checkpoint.
#include "gradus/serialize/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <typeinfo>

#include "gradus/autograd/engine/node.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/nn/state_dict.h"
#include "gradus/tensor/base/rethrow.h"
#include "gradus/tensor/generator.h"

namespace gradus::serialize {
namespace {

constexpr char kVersion[] = "1", kUser[] = "user.";
constexpr char kSave[] = "save_checkpoint", kLoad[] = "load_checkpoint";

// The module's names of the optimizer's parameters.
std::vector<std::string> names_of(const std::string& operation, const nn::Module& module,
                                  const optim::Optimizer& optimizer) {
  const auto known = module.named_parameters();
  std::unordered_map<const TensorImpl*, const std::string*> names;
  for (const auto& item : known) names.emplace(&item.value().impl(), &item.key());
  std::vector<std::string> out;
  for (const Tensor& parameter : optimizer.parameters()) {
    const auto found = names.find(&parameter.impl());
    check(found != names.end(), operation, ": parameter ", out.size(),
          " of the optimizer, of shape ", parameter.sizes(),
          ", is none of the module's; register it in the module");
    out.push_back(*found->second);
  }
  return out;
}

// The default generators by name.
OrderedDict<std::string, Generator> generators() {
  OrderedDict<std::string, Generator> out;
  out.insert("cpu", default_generator(kCPU));
  for (int64_t i = 0; i < cuda::device_count(); ++i)
    out.insert("cuda." + std::to_string(i),
               default_generator(Device(kCUDA, static_cast<DeviceIndex>(i))));
  return out;
}

bool is_generator(std::string_view name) {
  if (name == "cpu") return true;
  for (int i = 0; i <= INT8_MAX; ++i)
    if (name == "cuda." + std::to_string(i)) return true;
  return false;
}

void save(const std::string& operation, const std::string& path, const nn::Module& module,
          const optim::Optimizer* optimizer, const OutputArchive& loader, const Checkpoint& rest) {
  NamedTensors tensors;
  Metadata metadata = {{"format", std::string(kCheckpointFormat)},
                       {"version", kVersion},
                       {"step", std::to_string(rest.step)},
                       {"epoch", std::to_string(rest.epoch)}};
  for (const auto& [name, text] : rest.metadata) metadata.emplace(kUser + name, text);
  for (const auto& item : module.state_dict()) tensors.insert("model." + item.key(), item.value());
  if (optimizer != nullptr) {
    metadata.emplace("optimizer", readable_name(typeid(*optimizer)));
    for (const auto& item : optimizer->state_dict(names_of(operation, module, *optimizer)))
      tensors.insert("optimizer." + item.key(), item.value());
  }
  for (const auto& item : loader.tensors()) tensors.insert("loader." + item.key(), item.value());
  for (const auto& item : rest.state) tensors.insert("state." + item.key(), item.value());
  if (rest.rng)
    for (const auto& item : generators())
      tensors.insert("rng." + item.key(), item.value().get_state());
  detail::save_file(operation, tensors, path, metadata);
}

// A file's contents by their places in a checkpoint, checked as far as that needs nothing else.
struct Parts {
  // Messages begin with `name`.
  Parts(SafetensorsContents contents, const std::string& name) {
    const auto format = contents.metadata.find("format"),
               version = contents.metadata.find("version");
    check(format != contents.metadata.end() && format->second == kCheckpointFormat, name,
          ": the metadata do not say format = ", kCheckpointFormat,
          "; this is not a checkpoint, give one that save_checkpoint wrote");
    check(version != contents.metadata.end() && version->second == kVersion, name,
          ": the metadata do not say version = ", kVersion,
          "; save the checkpoint again with this version of gradus");
    bool step = false, epoch = false;
    for (const auto& [key, text] : contents.metadata) {
      if (key == "step") {
        step = parse(text, rest.step);
      } else if (key == "epoch") {
        epoch = parse(text, rest.epoch);
      } else if (key == "optimizer") {
        optimizer_class = text;
      } else if (key.starts_with(kUser)) {
        rest.metadata.emplace(key.substr(sizeof kUser - 1), text);
      } else if (key != "format" && key != "version") {
        misfits += "\n  the metadata " + printable(key) + " are unknown";
      }
    }
    if (!step) misfits += "\n  step is missing, or no whole number";
    if (!epoch) misfits += "\n  epoch is missing, or no whole number";
    for (const auto& item : contents.tensors)
      if (!put("model.", item, model) && !put("optimizer.", item, optimizer) &&
          !put("rng.", item, rng) && !put("loader.", item, loader) &&
          !put("state.", item, rest.state))
        misfits += "\n  " + printable(item.key()) + " is unknown";
  }

  static bool parse(const std::string& text, int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }
  static bool put(std::string_view prefix, const NamedTensors::Item& item, NamedTensors& to) {
    if (!item.key().starts_with(prefix)) return false;
    to.insert(item.key().substr(prefix.size()), item.value());
    return true;
  }

  NamedTensors model, optimizer, rng, loader;
  std::string optimizer_class;  // empty: there was none
  Checkpoint rest;
  std::string misfits;
};

// The parts that do not fit, each with its title and its first lines.
std::string titled(std::initializer_list<std::pair<const char*, std::string>> parts) {
  const auto wrong = static_cast<size_t>(std::count_if(
      parts.begin(), parts.end(), [](const auto& part) { return !part.second.empty(); }));
  std::string out;
  for (const auto& [title, lines] : parts)
    if (!lines.empty())
      out += std::string("\n").append(title) + ":" + printable_lines(lines, kMostLines / wrong);
  return out;
}

std::string check_optimizer(const Parts& parts, const optim::Optimizer& optimizer,
                            const std::vector<std::string>& names) {
  const std::string own = readable_name(typeid(optimizer));
  if (parts.optimizer_class.empty()) return "\n  the file has none";
  if (parts.optimizer_class != own)
    return "\n  the file has the state of a " + printable(parts.optimizer_class) +
           ", and this is a " + own;
  return optimizer.misfits(parts.optimizer, names);
}

std::string check_generators(const Parts& parts) {
  std::string out;
  const Tensor expected = default_generator(kCPU).get_state();
  for (const auto& item : parts.rng)
    if (!is_generator(item.key())) {
      out += "\n  " + printable(item.key()) + " is unknown";
    } else if (item.value().dtype() != expected.dtype() ||
               item.value().sizes() != expected.sizes()) {
      out += "\n  " + item.key() + " is not the state of a generator";
    }
  return out;
}

Checkpoint load(const std::string& operation, const std::string& path, SafetensorsContents contents,
                nn::Module& module, optim::Optimizer* optimizer, const detail::RestReaders& readers,
                bool rng) {
  const std::string name = operation + ": " + path;
  Parts parts(std::move(contents), name);
  const nn::StateDict state = module.state_dict();
  const auto names =
      optimizer != nullptr ? names_of(operation, module, *optimizer) : std::vector<std::string>();
  const std::string wrong = titled(
      {{"file", parts.misfits},
       {"model", nn::misfits(state, parts.model, true, false)},
       {"rng", check_generators(parts)},
       {"optimizer", optimizer == nullptr ? "" : check_optimizer(parts, *optimizer, names)}});
  check(wrong.empty(), name,
        " does not fit; nothing was loaded; give the module and the optimizer that were saved",
        wrong);
  if (readers.loader) {
    check(
        !parts.loader.is_empty(), name,
        " has no data loader; leave the loader out, or give a checkpoint that was saved with one");
    InputArchive archive = detail::archive_of(parts.loader);
    named(name + ": loader", [&] { readers.loader(archive); });
  }
  if (readers.state) readers.state(parts.rest.state);

  if (optimizer != nullptr) optimizer->load_state_dict(parts.optimizer, names);
  nn::assign(state, parts.model);
  parts.rest.rng = rng && !parts.rng.is_empty();
  if (rng)
    for (auto& item : generators())
      if (const Tensor* value = parts.rng.find(item.key())) item.value().set_state(*value);
  return std::move(parts.rest);
}

}  // namespace

void save_checkpoint(const std::string& path, const nn::Module& module,
                     const optim::Optimizer& optimizer, const Checkpoint& rest) {
  save(kSave, path, module, &optimizer, {}, rest);
}
void save_checkpoint(const std::string& path, const nn::Module& module, const Checkpoint& rest) {
  save(kSave, path, module, nullptr, {}, rest);
}
Checkpoint load_checkpoint(const std::string& path, nn::Module& module, optim::Optimizer& optimizer,
                           bool rng) {
  return load(kLoad, path, detail::load_file(kLoad, path), module, &optimizer, {}, rng);
}
Checkpoint load_checkpoint(const std::string& path, nn::Module& module, bool rng) {
  return load(kLoad, path, detail::load_file(kLoad, path), module, nullptr, {}, rng);
}
void detail::save_checkpoint(const std::string& operation, const std::string& path,
                             const nn::Module& module, const optim::Optimizer& optimizer,
                             const OutputArchive& loader, const Checkpoint& rest) {
  save(operation, path, module, &optimizer, loader, rest);
}
Checkpoint detail::load_checkpoint(const std::string& operation, const std::string& path,
                                   SafetensorsContents contents, nn::Module& module,
                                   optim::Optimizer& optimizer, const RestReaders& readers,
                                   bool rng) {
  return load(operation, path, std::move(contents), module, &optimizer, readers, rng);
}
InputArchive detail::archive_of(const NamedTensors& tensors) {
  OutputArchive out;
  for (const auto& item : tensors) out.write(item.key(), item.value());
  std::stringstream bytes;
  out.save_to(bytes);
  InputArchive in;
  in.load_from(bytes);
  return in;
}

}  // namespace gradus::serialize
