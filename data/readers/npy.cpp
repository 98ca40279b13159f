// Reading an array of NumPy: header, then elements.
#include "gradus/data/readers/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "gradus/autograd/functions.h"
#include "gradus/data/readers/byte_reader.h"
#include "gradus/data/readers/zip.h"
#include "gradus/tensor/factories.h"

namespace gradus::data {

namespace {

// The header is a dictionary of Python: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class NpyHeader {
 public:
  NpyHeader(std::string_view text, std::string_view name) : text_(text), name_(name) {
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        if (rest().starts_with('[')) refuse_dtype("a structured array");
        descr = quoted();
      } else if (key == "fortran_order") {
        fortran_order = word() == "True";
      } else if (key == "shape") {
        read_shape();
      } else {
        refuse();
      }
      take(',');
    }
    if (descr.empty() || !has_shape_) refuse();
  }

  [[noreturn]] void refuse_dtype(std::string_view dtype) const {
    fail<NotImplementedError>(name_, ": dtype ", dtype,
                              ", expected bool, uint8, int8 to int64 or float16 to float64; "
                              "convert it by astype() in NumPy");
  }

  std::string_view descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;

 private:
  [[noreturn]] void refuse() const {
    fail(name_, ": the header is not one of NumPy's at byte ", at_,
         " of its dictionary; save the array again");
  }
  std::string_view rest() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return text_.substr(at_);
  }
  bool take(char c) {
    const bool is_there = rest().starts_with(c);
    at_ += is_there;
    return is_there;
  }
  void expect(char c) {
    if (!take(c)) refuse();
  }
  std::string_view quoted() {
    const char quote = rest().starts_with('"') ? '"' : '\'';
    expect(quote);
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) refuse();
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }
  std::string_view word() {
    const std::string_view left = rest();
    const std::string_view out = left.starts_with("True")    ? left.substr(0, 4)
                                 : left.starts_with("False") ? left.substr(0, 5)
                                                             : "";
    if (out.empty()) refuse();
    at_ += out.size();
    return out;
  }
  void read_shape() {
    expect('(');
    has_shape_ = true;
    while (!take(')')) {
      int64_t size = 0;
      const std::string_view left = rest();
      const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), size);
      if (error != std::errc{} || size < 0) refuse();
      at_ += static_cast<size_t>(end - left.data());
      shape.push_back(size);
      take(',');
      check(shape.size() <= size_t{kMaxDims}, name_, ": more than ", kMaxDims,
            " dimensions; reshape the array");
    }
  }

  std::string_view text_, name_;
  size_t at_ = 0;
  bool has_shape_ = false;
};

ScalarType dtype_of(const NpyHeader& header) {
  static constexpr std::pair<std::string_view, ScalarType> kTypes[] = {
      {"b1", kBool}, {"u1", kByte}, {"i1", kChar},  {"i2", kShort},  {"i4", kInt},
      {"i8", kLong}, {"f2", kHalf}, {"f4", kFloat}, {"f8", kDouble},
  };
  if (header.descr.size() == 3 &&
      std::string_view("<>|=").find(header.descr[0]) != std::string_view::npos)
    for (const auto& [name, dtype] : kTypes)
      if (header.descr.substr(1) == name) return dtype;
  header.refuse_dtype(header.descr);
}

void swap_bytes(uint8_t* data, size_t nbytes, size_t size) {
  for (size_t i = 0; i + size <= nbytes; i += size) std::reverse(data + i, data + i + size);
}

constexpr std::string_view kMagic = "\x93NUMPY";

Tensor array_of(ArrayRef<uint8_t> file, const std::string& name) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  check(bytes.starts_with(kMagic) && bytes.size() >= 10, name,
        ": does not begin as an .npy file does; give one that numpy.save wrote");
  const int version = file[6];
  check(version >= 1 && version <= 3, name, ": version ", version,
        ", expected 1 to 3; save the array again");
  const size_t begin = version == 1 ? 10 : 12;
  check(bytes.size() >= begin, name, ": the header is truncated; copy the file again");
  size_t length = 0;
  for (size_t i = begin; i-- > 8;) length = length * 256 + file[i];
  check(length <= bytes.size() - begin, name, ": the header has ", length, " bytes, and ",
        bytes.size() - begin, " are there; the file is truncated, copy it again");
  const NpyHeader header(bytes.substr(begin, length), name);
  const ScalarType dtype = dtype_of(header);
  const size_t left = bytes.size() - begin - length, size = elementSize(dtype);
  const auto count = static_cast<size_t>(checked_numel(name.c_str(), header.shape));
  check(count <= left / size && count * size == left, name, ": the header declares ",
        IntArrayRef(header.shape), " elements of ", size, " bytes, and ", left,
        " bytes are there; the file is truncated or has more in it, copy it again");

  std::vector<int64_t> sizes = header.shape;
  if (header.fortran_order) std::reverse(sizes.begin(), sizes.end());
  Tensor out = empty(sizes, dtype);
  auto* const data = static_cast<uint8_t*>(out.data_ptr());
  if (left > 0) std::memcpy(data, file.data() + begin + length, left);
  if (dtype == kBool)
    for (size_t i = 0; i < left; ++i) data[i] = data[i] != 0;
  const bool is_big = header.descr[0] == '>';
  if (size > 1 && is_big != (std::endian::native == std::endian::big)) swap_bytes(data, left, size);
  if (!header.fortran_order) return out;
  std::vector<int64_t> reversed(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    reversed[i] = static_cast<int64_t>(sizes.size() - 1 - i);
  return out.permute(reversed).contiguous();
}

std::map<std::string, Tensor> arrays_of(ArrayRef<uint8_t> file, const std::string& name) {
  std::map<std::string, Tensor> out;
  std::vector<uint8_t> room;
  for (const ZipEntry& entry : read_zip_directory(file, name)) {
    std::string key = entry.name;
    if (key.ends_with(".npy")) key.resize(key.size() - 4);
    out[key] = array_of(zip_entry_bytes(file, entry, name, room), name + ": " + entry.name);
  }
  return out;
}

}  // namespace

Tensor load_npy(const std::string& path) {
  return array_of(read_file("load_npy", path), "load_npy: " + path);
}

Tensor parse_npy(ArrayRef<uint8_t> file, std::string_view name) {
  return array_of(file, "parse_npy: " + std::string(name));
}

std::map<std::string, Tensor> load_npz(const std::string& path) {
  return arrays_of(read_file("load_npz", path), "load_npz: " + path);
}

std::map<std::string, Tensor> parse_npz(ArrayRef<uint8_t> file, std::string_view name) {
  return arrays_of(file, "parse_npz: " + std::string(name));
}

}  // namespace gradus::data
