// Writing and reading the data of a safetensors file.
#include "gradus/serialize/safetensors.h"

#include <algorithm>
#include <bit>

#include "gradus/serialize/atomic_file.h"
#include "gradus/serialize/input_file.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::serialize {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

// Large elements first: then each tensor starts at a multiple of its element's size.
std::vector<size_t> order_of_data(const NamedTensors& tensors, const std::string& name) {
  std::vector<size_t> order;
  for (const auto& item : tensors) {
    check(item.value().defined(), name, ": tensor ", printable(item.key()),
          " is undefined; leave it out");
    order.push_back(order.size());
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto first = tensors.begin();
    return first[static_cast<std::ptrdiff_t>(a)].value().itemsize() >
           first[static_cast<std::ptrdiff_t>(b)].value().itemsize();
  });
  return order;
}

// A byte other than 0 and 1 is no bool, and reading one as such is undefined.
void check_bools(const Tensor& x, const SafetensorsEntry& entry, const std::string& file) {
  const auto* bytes = static_cast<const uint8_t*>(x.data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i)
    check(bytes[i] <= 1, file, ": tensor ", printable(entry.name), " of bool has the byte ",
          int{bytes[i]}, " at element ", i, ", expected 0 or 1", kSaveAgain);
}

// Refuses a file that begins with these bytes. PyTorch writes zip files, and wrote bare pickles
// once.
[[noreturn]] void refuse_format(const std::string& name, const uint8_t* bytes, uint64_t length) {
  const bool zip = std::equal(bytes, bytes + 4, "PK\3\4");
  if (zip || (bytes[0] == 0x80 && bytes[1] <= 5))
    fail(name, ": this is a ", zip ? "zip" : "pickle",
         " file, as torch.save writes them, not a safetensors file; ",
         zip ? "load it by serialize::load_pt" : "load it in Python and save it again");
  fail(name, ": the header's length is given as ", length, " bytes; at most ", kLargestHeader,
       " are read; this is not a safetensors file, give one that save_file wrote");
}

// `make` gives the tensor of an entry whose bytes begin at a position of the file.
template <class Make>
SafetensorsContents read_with(const ReadBytes& read, uint64_t size, const std::string& name,
                              Device device, const Make& make) {
  check(size >= kLengthBytes, name, ": ", size, " bytes, too few for the ", kLengthBytes,
        " that begin a safetensors file; copy it again");
  uint8_t bytes[kLengthBytes];
  read(0, bytes, kLengthBytes);
  uint64_t length = 0;
  for (size_t b = kLengthBytes; b-- > 0;) length = length << 8 | bytes[b];
  if (length > kLargestHeader) refuse_format(name, bytes, length);
  check(length <= size - kLengthBytes, name, ": the header's length is given as ", length,
        " bytes, and ", size - kLengthBytes, " follow; the file is truncated, copy it again");
  std::string text(length, ' ');
  if (length > 0) read(kLengthBytes, text.data(), length);
  const uint64_t start = kLengthBytes + length;
  SafetensorsHeader header = parse_header(text, size - start, name);

  SafetensorsContents out;
  out.metadata = std::move(header.metadata);
  for (const SafetensorsEntry& entry : header.entries) {
    const Tensor here = make(entry, start + entry.begin);
    if (entry.dtype == kBool) check_bools(here, entry, name);
    out.tensors.insert(entry.name, raw::to(here, device));
  }
  return out;
}

// Bytes of a mapped file, which live as long as a tensor uses them.
class MappedStorage final : public StorageImpl {
 public:
  MappedStorage(std::shared_ptr<char> file, uint64_t begin, size_t nbytes)
      : StorageImpl(file.get() + begin, nbytes, Device(kCPU)), file_(std::move(file)) {}
  bool resizable() const override { return false; }

 private:
  std::shared_ptr<char> file_;
};

}  // namespace

void write_safetensors(const WriteBytes& write, const NamedTensors& tensors,
                       const Metadata& metadata, const std::string& name) {
  SafetensorsHeader header;
  header.metadata = metadata;
  for (const auto& item : tensors) header.entries.push_back({item.key(), kBool, {}, 0, 0});
  const std::vector<size_t> order = order_of_data(tensors, name);
  const std::vector<Tensor> values = tensors.values();
  uint64_t end = 0;
  for (const size_t i : order) {
    SafetensorsEntry& entry = header.entries[i];
    entry.dtype = values[i].scalar_type();
    entry.sizes = values[i].impl().sizes;
    entry.begin = end;
    entry.end = end += values[i].nbytes();
  }
  const std::string text = write_header(header, name);
  write(text.data(), text.size());
  for (const size_t i : order) {
    const Tensor here = raw::contiguous(raw::to(values[i], Device(kCPU)));
    if (here.nbytes() > 0) write(here.data_ptr(), here.nbytes());
  }
}

SafetensorsContents read_safetensors(const ReadBytes& read, uint64_t size, const std::string& name,
                                     Device device) {
  const auto make = [&](const SafetensorsEntry& entry, uint64_t position) {
    const Tensor out = raw::empty(entry.sizes, entry.dtype, Device(kCPU));
    if (out.nbytes() > 0) read(position, out.data_ptr(), out.nbytes());
    return out;
  };
  return read_with(read, size, name, device, make);
}

void save_file(const NamedTensors& tensors, const std::string& path, const Metadata& metadata) {
  detail::save_file("save_file", tensors, path, metadata);
}

void detail::save_file(const std::string& operation, const NamedTensors& tensors,
                       const std::string& path, const Metadata& metadata) {
  AtomicFile file(operation, path);
  write_safetensors([&](const void* bytes, size_t count) { file.write(bytes, count); }, tensors,
                    metadata, operation + ": " + path);
  file.commit();
}

SafetensorsContents load_file(const std::string& path, Device device, bool mmap) {
  return detail::load_file("load_file", path, device, mmap);
}

SafetensorsContents detail::load_file(const std::string& operation, const std::string& path,
                                      Device device, bool mmap) {
  const InputFile file(operation, path);
  const std::string name = operation + ": " + path;
  const ReadBytes read = [&](uint64_t position, void* bytes, size_t count) {
    file.read(position, bytes, count);
  };
  if (!mmap) return read_safetensors(read, file.size(), name, device);
  const std::shared_ptr<char> bytes = file.map();
  return read_with(
      read, file.size(), name, device, [&](const SafetensorsEntry& entry, uint64_t position) {
        const uint64_t count = entry.end - entry.begin;
        if (count > 0 && position % element_size(entry.dtype) == 0)
          return raw::over_storage(std::make_shared<MappedStorage>(bytes, position, count),
                                   entry.sizes, entry.dtype);
        const Tensor out = raw::empty(entry.sizes, entry.dtype, Device(kCPU));
        if (count > 0) read(position, out.data_ptr(), count);
        return out;
      });
}

}  // namespace gradus::serialize
