// Reading a file of torch.save: a zip archive with data.pkl and one file for each storage.
#include "gradus/serialize/pt.h"

#include <charconv>
#include <cstring>
#include <unordered_map>

#include "gradus/data/readers/byte_reader.h"
#include "gradus/data/readers/zip.h"
#include "gradus/serialize/pickle.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::serialize {
namespace {

// Lists and dicts as one list of names. The same dict may be named in many places, or in itself, so
// that few bytes could stand for endless values.
class Flattener {
 public:
  Flattener(size_t pickle_bytes, std::string_view name) : left_(16 * pickle_bytes), name_(name) {}

  SafetensorsContents run(const PickleValue& root) {
    const bool is_tensor = std::holds_alternative<Tensor>(root.is);
    add(is_tensor ? "0" : "", root, 0);
    return std::move(out_);
  }

 private:
  void add(const std::string& name, const PickleValue& value, int depth) {
    constexpr int kDeepest = 64;
    if (depth > kDeepest || left_ == 0)
      fail(name_, ": dicts and lists are nested too deep or in themselves, at ", printable(name),
           "; save a plain dict of tensors");
    --left_;
    if (const auto* list = std::get_if<PickleList>(&value.is)) {
      for (size_t i = 0; i < list->items.size(); ++i)
        add(joined(name, std::to_string(i), depth), *list->items[i], depth + 1);
    } else if (const auto* dict = std::get_if<PickleDict>(&value.is)) {
      for (const auto& [key, item] : dict->items)
        add(joined(name, key_of(*key, name), depth), *item, depth + 1);
    } else if (const auto* tensor = std::get_if<Tensor>(&value.is)) {
      check_new(name);
      out_.tensors.insert(name, *tensor);
    } else {
      check_new(name);
      out_.metadata.emplace(name, text_of(value, name));
    }
  }

  static std::string joined(const std::string& name, const std::string& key, int depth) {
    return depth == 0 ? key : name + '.' + key;
  }
  void check_new(const std::string& name) {
    check(!out_.tensors.contains(name) && !out_.metadata.contains(name), name_,
          ": two values have the name ", printable(name), " when those of nested dicts are joined ",
          "by dots; rename one before it is saved");
  }
  std::string key_of(const PickleValue& key, const std::string& name) const {
    if (const auto* text = std::get_if<std::string>(&key.is)) return *text;
    if (const auto* number = std::get_if<int64_t>(&key.is)) return std::to_string(*number);
    fail<NotImplementedError>(name_, ": a dict has a key that is no text and no int",
                              name.empty() ? "" : ", in ", name.empty() ? "" : printable(name),
                              "; save a dict with texts as keys");
  }
  std::string text_of(const PickleValue& value, const std::string& name) const {
    if (std::holds_alternative<std::monostate>(value.is)) return "None";
    if (const auto* flag = std::get_if<bool>(&value.is)) return *flag ? "True" : "False";
    if (const auto* number = std::get_if<int64_t>(&value.is)) return std::to_string(*number);
    if (const auto* text = std::get_if<std::string>(&value.is)) return *text;
    if (const auto* number = std::get_if<double>(&value.is)) {
      char digits[32];
      const auto end = std::to_chars(digits, digits + sizeof digits, *number).ptr;
      return {digits, end};
    }
    fail<NotImplementedError>(name_, ": ", printable(name),
                              " is a class or a bare storage; save tensors, numbers and texts");
  }

  size_t left_;
  std::string_view name_;
  SafetensorsContents out_;
};

// The files of the archive. torch.save puts all of them into one folder.
class PtArchive {
 public:
  PtArchive(ArrayRef<uint8_t> file, std::string_view name) : file_(file), name_(name) {
    check<NotImplementedError>(
        file.size() < 2 || file[0] != 0x80, name,
        ": this is a bare pickle, as torch.save wrote them before 1.6; load it in Python and save "
        "it again");
    for (data::ZipEntry& entry : data::read_zip_directory(file, name)) {
      const size_t slash = entry.name.find('/');
      if (slash == std::string::npos) continue;
      entries_.emplace(entry.name.substr(slash + 1), std::move(entry));
    }
    check(has("data.pkl"), name,
          ": this zip archive has no data.pkl; give one that torch.save wrote");
    check<NotImplementedError>(
        !has("constants.pkl"), name,
        ": this is a TorchScript archive, as torch.jit.save and libtorch write them; convert it in "
        "Python: torch.save(dict(torch.jit.load('IN.pt').state_dict()), 'OUT.pt')");
  }

  bool has(const std::string& entry) const { return entries_.contains(entry); }
  // Bytes of the archive; those of a compressed file are in `room`.
  ArrayRef<uint8_t> bytes(const std::string& entry, std::vector<uint8_t>& room) const {
    return data::zip_entry_bytes(file_, entries_.at(entry), name_, room);
  }

  Tensor storage(const std::string& key, ScalarType dtype, int64_t numel, Device device) const {
    const std::string entry = "data/" + key;
    check(has(entry), name_, ": the storage ", printable(key),
          " is not in the file; copy it again");
    std::vector<uint8_t> room;
    const ArrayRef<uint8_t> from = bytes(entry, room);
    const size_t size = element_size(dtype);
    check(from.size() % size == 0 && from.size() / size == static_cast<uint64_t>(numel), name_,
          ": the storage ", printable(key), " has ", from.size(), " bytes, expected ", numel,
          " elements of ", dtype, "; copy the file again");
    const Tensor here = raw::empty({numel}, dtype, Device(kCPU));
    if (from.size() > 0) std::memcpy(here.data_ptr(), from.data(), from.size());
    // A byte other than 0 and 1 is no bool, and reading one as such is undefined.
    if (dtype == kBool)
      check(std::all_of(from.begin(), from.end(), [](uint8_t byte) { return byte <= 1; }), name_,
            ": the storage ", printable(key),
            " of bool has a byte other than 0 and 1; save the file again");
    return raw::to(here, device);
  }

 private:
  ArrayRef<uint8_t> file_;
  std::string_view name_;
  std::unordered_map<std::string, data::ZipEntry> entries_;
};

SafetensorsContents values_of(ArrayRef<uint8_t> file, const std::string& name, Device device) {
  const PtArchive archive(file, name);
  std::vector<uint8_t> room;
  if (archive.has("byteorder")) {
    const auto order = archive.bytes("byteorder", room);
    check<NotImplementedError>(std::string(order.begin(), order.end()) == "little", name,
                               ": the numbers are not little-endian; save the file on a ",
                               "little-endian machine");
  }
  const ArrayRef<uint8_t> bytes = archive.bytes("data.pkl", room);
  const Pickle pickle =
      parse_pickle(bytes, name, [&](const std::string& key, ScalarType dtype, int64_t numel) {
        return archive.storage(key, dtype, numel, device);
      });
  return named_values(pickle, bytes.size(), name);
}

}  // namespace

SafetensorsContents named_values(const Pickle& pickle, size_t pickle_bytes, std::string_view name) {
  return Flattener(pickle_bytes, name).run(*pickle.root);
}

SafetensorsContents parse_pt(ArrayRef<uint8_t> file, std::string_view name, Device device) {
  return values_of(file, "parse_pt: " + std::string(name), device);
}

SafetensorsContents load_pt(const std::string& path, Device device) {
  return detail::load_pt("load_pt", path, device);
}

SafetensorsContents detail::load_pt(const std::string& operation, const std::string& path,
                                    Device device) {
  return values_of(data::read_file(operation, path), operation + ": " + path, device);
}

}  // namespace gradus::serialize
