// Reading an IDX file: header, sizes, elements.
#include "gradus/data/datasets/idx.h"

#include <algorithm>
#include <cstdio>

#include "gradus/data/readers/byte_reader.h"

namespace gradus::data {
namespace {

constexpr size_t kPiece = size_t{1} << 20, kScrap = size_t{1} << 14;

const char* type_name(uint8_t type) {
  switch (type) {
    case 0x08:
      return "unsigned byte";
    case 0x09:
      return "signed byte";
    case 0x0b:
      return "int16";
    case 0x0c:
      return "int32";
    case 0x0d:
      return "float32";
    case 0x0e:
      return "float64";
    default:
      return "unknown";
  }
}

std::string hex(uint8_t value) {
  char text[8];
  std::snprintf(text, sizeof text, "0x%02x", static_cast<unsigned>(value));
  return text;
}

std::vector<int64_t> read_header(ByteReader& reader, std::string_view name) {
  uint8_t head[4];
  const size_t got = reader.read(head, sizeof head);
  check(got == sizeof head, name, ": ", got,
        " bytes of data, too few for the 4 bytes that begin an IDX file; copy it again");
  check(head[0] == 0 && head[1] == 0, name, ": begins with bytes ", hex(head[0]), " ", hex(head[1]),
        ", expected 0x00 0x00; this is not an IDX file, give one");
  check<NotImplementedError>(head[2] == 0x08, name, ": element type ", hex(head[2]), " (",
                             type_name(head[2]),
                             "), expected 0x08 (unsigned byte); convert the elements");
  const size_t rank = head[3];
  check(rank >= 1 && rank <= size_t{kMaxDims}, name, ": ", rank, " dimensions, expected 1 to ",
        kMaxDims, "; copy the file again");
  uint8_t sizes[4 * kMaxDims];
  const size_t read = reader.read(sizes, 4 * rank);
  check(read == 4 * rank, name, ": the header of ", rank, " dimensions needs ", 4 + 4 * rank,
        " bytes, and the data end after ", 4 + read, "; the file is truncated, copy it again");
  std::vector<int64_t> out(rank);
  for (size_t i = 0; i < rank; ++i)
    for (size_t b = 0; b < 4; ++b) out[i] = out[i] * 256 + sizes[4 * i + b];
  return out;
}

// The number of elements that the header declares. A header that declares more than the rest of the
// file can hold is refused here, before anything is allocated for it.
size_t declared_elements(IntArrayRef sizes, const ByteReader& reader, std::string_view name) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  const size_t limit = reader.at_most();
  size_t count = 1;
  for (const int64_t size : sizes) {
    check(count <= limit / static_cast<size_t>(size), name, ": the header declares ", sizes,
          " bytes of data, and at most ", limit,
          " can follow it in this file; it is truncated or its header is wrong, copy it again");
    count *= static_cast<size_t>(size);
  }
  return count;
}

IdxArray parse(ArrayRef<uint8_t> file, std::string_view name) {
  ByteReader reader(file, name);
  IdxArray out;
  out.sizes = read_header(reader, name);
  const size_t count = declared_elements(out.sizes, reader, name);
  while (out.bytes.size() < count) {
    const size_t before = out.bytes.size();
    out.bytes.resize(before + std::min(count - before, kPiece));
    const size_t got = reader.read(out.bytes.data() + before, out.bytes.size() - before);
    check(got == out.bytes.size() - before, name, ": the header declares ", count,
          " bytes of data ", IntArrayRef(out.sizes), ", and ", before + got,
          " are there; the file is truncated or its header is wrong, copy it again");
  }
  // Read to the end, because it is there that corrupt gzip data show for certain.
  const size_t end = reader.position();
  std::vector<uint8_t> extra(kScrap);
  while (reader.read(extra.data(), extra.size()) > 0) continue;
  check(reader.position() == end, name, ": ", reader.position() - end,
        " bytes follow the data that the header declares, ", IntArrayRef(out.sizes),
        "; the header is wrong or bytes were appended, copy the file again");
  return out;
}

}  // namespace

IdxArray parse_idx(ArrayRef<uint8_t> file, std::string_view name) {
  return parse(file, "parse_idx: " + std::string(name));
}

IdxArray read_idx(const std::string& path) { return detail::read_idx("read_idx", path); }

IdxArray detail::read_idx(const std::string& operation, const std::string& path) {
  return parse(read_file(operation, path), operation + ": " + path);
}

}  // namespace gradus::data
