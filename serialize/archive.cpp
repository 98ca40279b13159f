// OutputArchive and InputArchive: values by path, and their safetensors file.
#include "gradus/serialize/archive.h"

#include <cstring>
#include <istream>
#include <iterator>
#include <ostream>
#include <set>

#include "gradus/serialize/input_file.h"
#include "gradus/serialize/pt.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::serialize {

namespace {
constexpr const char* kSaveTo = "OutputArchive::save_to";
constexpr const char* kLoadFrom = "InputArchive::load_from";
constexpr const char* kRead = "InputArchive::read";
}  // namespace

void OutputArchive::write(const std::string& key, const Tensor& tensor, bool) {
  check(tensor.defined(), called("OutputArchive::write"), ": tensor ", printable(key),
        " is undefined; leave it out");
  contents_.tensors.insert(key, tensor);
}

void OutputArchive::write(const std::string& key, const std::string& text) {
  check(contents_.metadata.emplace(key, text).second, called("OutputArchive::write"), ": the name ",
        printable(key), " is taken; use another");
}

void OutputArchive::write(const std::string& key, OutputArchive& nested) {
  for (const auto& item : nested.contents_.tensors) write(key + '.' + item.key(), item.value());
  for (const auto& [name, text] : nested.contents_.metadata) write(key + '.' + name, text);
}

void OutputArchive::save_to(const std::string& path) const {
  detail::save_file(called(kSaveTo), contents_.tensors, path, contents_.metadata);
}

void OutputArchive::save_to(std::ostream& stream) const {
  save_to([&](const void* bytes, size_t count) {
    stream.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
    return stream ? count : 0;
  });
}

void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& write) const {
  const std::string name = called(kSaveTo);
  write_safetensors(
      [&](const void* bytes, size_t count) {
        const size_t taken = write(bytes, count);
        check<Error>(taken == count, name, ": ", taken, " of ", count,
                     " bytes were taken; take all of them, or throw");
      },
      contents_.tensors, contents_.metadata, name);
}

namespace {
// torch.save writes zip archives.
bool begins_as_zip(const std::string& operation, const std::string& path) {
  const InputFile file(operation, path);
  char bytes[4] = {};
  if (file.size() >= sizeof bytes) file.read(0, bytes, sizeof bytes);
  return std::memcmp(bytes, "PK\3\4", sizeof bytes) == 0;
}
}  // namespace

void InputArchive::load_from(const std::string& path, std::optional<Device> device) {
  const Device to = device.value_or(Device(kCPU));
  const std::string operation = called(kLoadFrom);
  contents_ = std::make_shared<SafetensorsContents>(begins_as_zip(operation, path)
                                                        ? detail::load_pt(operation, path, to)
                                                        : detail::load_file(operation, path, to));
  source_ = path;
}

void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  check<Error>(!stream.bad(), called(kLoadFrom), ": the stream cannot be read; open it again");
  load_from(bytes.data(), bytes.size(), device);
}

void InputArchive::load_from(const char* data, size_t size, std::optional<Device> device) {
  load_from(
      [&](uint64_t position, void* bytes, size_t count) {
        std::memcpy(bytes, data + position, count);
        return count;
      },
      [&] { return size; }, device);
}

void InputArchive::load_from(const std::function<size_t(uint64_t, void*, size_t)>& read,
                             const std::function<size_t()>& size, std::optional<Device> device) {
  const std::string name = called(kLoadFrom);
  const auto read_all = [&](uint64_t position, void* bytes, size_t count) {
    const size_t got = read(position, bytes, count);
    check<Error>(got == count, name, ": ", got, " of ", count, " bytes came from position ",
                 position, "; give as many, or a smaller size");
  };
  contents_ = std::make_shared<SafetensorsContents>(
      read_safetensors(read_all, size(), name, device.value_or(Device(kCPU))));
}

const Tensor* InputArchive::find(const std::string& key) {
  if (loading_) loading_->read.insert(prefix_ + key);
  return contents_->tensors.find(prefix_ + key);
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool) {
  const Tensor* value = find(key);
  if (value == nullptr) return false;
  if (tensor.defined()) {
    replace(tensor, *value);
  } else {
    tensor = *value;
  }
  return true;
}

void InputArchive::read(const std::string& key, Tensor& tensor, bool is_buffer) {
  check(try_read(key, tensor, is_buffer), place(kRead), ": there is no tensor ",
        printable(prefix_ + key), "; keys() lists what there is");
}

bool InputArchive::try_read(const std::string& key, std::string& text) {
  const auto found = contents_->metadata.find(prefix_ + key);
  if (found == contents_->metadata.end()) return false;
  text = found->second;
  return true;
}

void InputArchive::read(const std::string& key, std::string& text) {
  check(try_read(key, text), place(kRead), ": there is no text ", printable(prefix_ + key),
        "; keys() lists what there is");
}

bool InputArchive::try_read(const std::string& key, InputArchive& archive) {
  InputArchive found = nested(key);
  if (found.keys().empty()) return false;
  archive = std::move(found);
  return true;
}

void InputArchive::read(const std::string& key, InputArchive& archive) {
  check(try_read(key, archive), place(kRead), ": there is no archive ", printable(prefix_ + key),
        "; keys() lists what there is");
}

InputArchive InputArchive::nested(const std::string& key) const {
  InputArchive out(operation_);
  out.contents_ = contents_;
  out.source_ = source_;
  out.prefix_ = prefix_ + key + '.';
  out.loading_ = loading_;
  return out;
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> out;
  std::set<std::string> known;
  const auto add = [&](const std::string& name) {
    if (!name.starts_with(prefix_)) return;
    const std::string key =
        name.substr(prefix_.size(), name.find('.', prefix_.size()) - prefix_.size());
    if (known.insert(key).second) out.push_back(key);
  };
  for (const auto& item : contents_->tensors) add(item.key());
  for (const auto& item : contents_->metadata) add(item.first);
  return out;
}

NamedTensors InputArchive::tensors() const {
  NamedTensors out;
  for (const auto& item : contents_->tensors)
    if (item.key().starts_with(prefix_))
      out.insert(item.key().substr(prefix_.size()), item.value());
  return out;
}

void InputArchive::read_into(const std::string& key, const Tensor& tensor) {
  const std::string name = prefix_ + key;
  const auto misfit = [&](const auto&... parts) {
    loading_->misfits += "\n  " + printable(name);
    using gradus::detail::append;
    (append(loading_->misfits, parts), ...);
  };
  const Tensor* value = find(key);
  if (value == nullptr) return misfit(" is missing");
  if (value->sizes() != tensor.sizes() || value->dtype() != tensor.dtype())
    return misfit(" is ", value->scalar_type(), " of shape ", value->sizes(), ", expected ",
                  tensor.scalar_type(), " of shape ", tensor.sizes());
  // A copy, since others may read the archive's memory.
  replace(tensor, value->device() == tensor.device() ? raw::clone(*value)
                                                     : raw::to(*value, tensor.device()));
}

void InputArchive::replace(const Tensor& tensor, const Tensor& value) {
  if (loading_) loading_->replaced.push_back({tensor, raw::alias(tensor)});
  tensor.set_data(value);
}

void InputArchive::load_all(const std::string& kind, const std::function<void()>& load) {
  if (loading_) return load();
  loading_ = std::make_shared<Loading>();
  const auto loading = loading_;
  try {
    load();
    loading_.reset();
    if (loading->misfits.empty()) return;
    bool any_fits = false;
    for (const auto& item : contents_->tensors)
      if (loading->read.contains(item.key()))
        any_fits = true;
      else if (item.key().starts_with(prefix_))
        loading->misfits += "\n  " + printable(item.key()) + " is unknown";
    const Metadata& metadata = contents_->metadata;
    const auto format = metadata.find("format"), other = metadata.find("class");
    check(format == metadata.end() || format->second != kCheckpointFormat, "load: ", source_,
          " is a checkpoint and not a ", kind,
          "; nothing was loaded; read it by serialize::load_checkpoint");
    check(other == metadata.end(), "load: ", source_, " is the state of an optimizer and not a ",
          kind, "; nothing was loaded; load it into a ",
          other == metadata.end() ? "" : printable(other->second));
    fail("load: ", source_, " does not fit the ", kind,
         any_fits ? "" : ": no name of it is one of the module's",
         "; nothing was loaded; give a file that was saved from one like it",
         printable_lines(loading->misfits));
  } catch (...) {
    loading_.reset();
    for (size_t i = loading->replaced.size(); i-- > 0;)
      loading->replaced[i].tensor.set_data(loading->replaced[i].old);
    throw;
  }
}

}  // namespace gradus::serialize
