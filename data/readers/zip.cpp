// Reading zip archives. No size or place in them is believed before it was compared with the file.
#include "gradus/data/readers/zip.h"

#include <zlib.h>

#include <algorithm>

namespace gradus::data {

namespace {

constexpr uint32_t kEndMark = 0x06054b50, kEnd64Mark = 0x06064b50, kLocator64Mark = 0x07064b50,
                   kDirectoryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr size_t kEndSize = 22, kDirectorySize = 46, kLocalSize = 30, kLocator64Size = 20,
                 kEnd64Size = 56;

// Numbers of the file, little-endian. Errors: ValueError for a place outside of it.
class ZipBytes {
 public:
  ZipBytes(ArrayRef<uint8_t> file, std::string_view name) : name_(name), file_(file) {}

  uint64_t number(uint64_t at, size_t bytes) const {
    require(at, bytes);
    uint64_t out = 0;
    for (size_t i = bytes; i-- > 0;) out = out << 8 | file_[at + i];
    return out;
  }
  ArrayRef<uint8_t> slice(uint64_t at, uint64_t bytes) const {
    require(at, bytes);
    return {file_.data() + at, static_cast<size_t>(bytes)};
  }
  size_t size() const { return file_.size(); }
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(name_, ": ", parts..., "; copy the file again");
  }

 private:
  void require(uint64_t at, uint64_t bytes) const {
    if (at > file_.size() || bytes > file_.size() - at)
      refuse("the zip archive points to byte ", at, " and ", bytes, " behind it, and the file has ",
             file_.size());
  }
  std::string_view name_;
  ArrayRef<uint8_t> file_;
};

// A comment may follow the end record.
uint64_t find_end(const ZipBytes& bytes) {
  constexpr size_t kLongestComment = 0xffff;
  if (bytes.size() < kEndSize) bytes.refuse(bytes.size(), " bytes, too few for a zip archive");
  const size_t last = bytes.size() - kEndSize, first = last - std::min(last, kLongestComment);
  for (size_t at = last + 1; at-- > first;)
    if (bytes.number(at, 4) == kEndMark) return at;
  bytes.refuse(
      "there is no directory of a zip archive at the end; the file is truncated or no archive");
}

// Sizes that do not fit into 32 bits stand in an extra field.
void read_extra(const ZipBytes& bytes, uint64_t at, uint64_t length, ZipEntry& entry) {
  const uint64_t end = at + length;
  while (at + 4 <= end) {
    const uint64_t id = bytes.number(at, 2), size = bytes.number(at + 2, 2);
    at += 4;
    if (size > end - at)
      bytes.refuse("an extra field of ", entry.name, " is longer than its record");
    if (id == 1) {
      uint64_t value_at = at;
      for (uint64_t* const value : {&entry.size, &entry.stored_size, &entry.header_at})
        if (*value == UINT32_MAX && value_at + 8 <= at + size) {
          *value = bytes.number(value_at, 8);
          value_at += 8;
        }
    }
    at += size;
  }
}

std::vector<uint8_t> inflate_entry(const ZipBytes& bytes, ArrayRef<uint8_t> stored,
                                   const ZipEntry& entry) {
  z_stream stream{};
  check<OutOfMemoryError>(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "no memory to inflate ",
                          entry.name);
  constexpr size_t kPiece = size_t{1} << 20;
  std::vector<uint8_t> out;
  int status = Z_OK;
  size_t fed = 0;
  while (status == Z_OK) {
    const size_t before = out.size();
    out.resize(before + std::min<size_t>(kPiece, static_cast<size_t>(entry.size) - before +
                                                     1));  // one more shows data that are too long
    if (stream.avail_in == 0) {
      const size_t some = std::min(stored.size() - fed, kPiece);
      stream.next_in = const_cast<uint8_t*>(stored.data() + fed);
      stream.avail_in = static_cast<uInt>(some);
      fed += some;
    }
    stream.next_out = out.data() + before;
    stream.avail_out = static_cast<uInt>(out.size() - before);
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (out.size() > entry.size) break;
  }
  inflateEnd(&stream);
  if (out.size() != entry.size || status != Z_STREAM_END)
    bytes.refuse(entry.name, " is damaged: ", out.size(), " bytes were inflated of the ",
                 entry.size, " that the directory declares");
  return out;
}

}  // namespace

std::vector<ZipEntry> read_zip_directory(ArrayRef<uint8_t> file, std::string_view name) {
  const ZipBytes bytes(file, name);
  const uint64_t end = find_end(bytes);
  uint64_t count = bytes.number(end + 10, 2), at = bytes.number(end + 16, 4);
  if ((count == UINT16_MAX || at == UINT32_MAX) && end >= kLocator64Size &&
      bytes.number(end - kLocator64Size, 4) == kLocator64Mark) {
    const uint64_t end64 = bytes.number(end - kLocator64Size + 8, 8);
    bytes.slice(end64, kEnd64Size);
    if (bytes.number(end64, 4) != kEnd64Mark)
      bytes.refuse("the zip archive's directory is damaged");
    count = bytes.number(end64 + 32, 8);
    at = bytes.number(end64 + 48, 8);
  }
  std::vector<ZipEntry> entries;
  uint64_t left = file.size();  // more than that is stored only where files overlap
  for (uint64_t i = 0; i < count; ++i) {
    bytes.slice(at, kDirectorySize);
    if (bytes.number(at, 4) != kDirectoryMark)
      bytes.refuse("the zip archive's directory is damaged at file ", i, " of ", count);
    const uint64_t name_size = bytes.number(at + 28, 2), extra_size = bytes.number(at + 30, 2),
                   comment_size = bytes.number(at + 32, 2);
    const auto text = bytes.slice(at + kDirectorySize, name_size);
    ZipEntry entry{std::string(text.begin(), text.end()),
                   static_cast<uint16_t>(bytes.number(at + 10, 2)),
                   static_cast<uint32_t>(bytes.number(at + 16, 4)),
                   bytes.number(at + 20, 4),
                   bytes.number(at + 24, 4),
                   bytes.number(at + 42, 4)};
    bytes.slice(at + kDirectorySize + name_size, extra_size);
    read_extra(bytes, at + kDirectorySize + name_size, extra_size, entry);
    check<NotImplementedError>((bytes.number(at + 8, 2) & 1) == 0, name, ": ", entry.name,
                               " is encrypted; write the archive without a password");
    check<NotImplementedError>(
        entry.method == 0 || entry.method == 8, name, ": ", entry.name, " has compression method ",
        entry.method, ", expected 0 (none) or 8 (deflate); write the archive with one of these");
    if (entry.stored_size > left)
      bytes.refuse("the files up to ", entry.name, " are larger than the zip archive");
    left -= entry.stored_size;
    at += kDirectorySize + name_size + extra_size + comment_size;
    if (!entry.name.ends_with('/')) entries.push_back(std::move(entry));
  }
  return entries;
}

ArrayRef<uint8_t> zip_entry_bytes(ArrayRef<uint8_t> file, const ZipEntry& entry,
                                  std::string_view name, std::vector<uint8_t>& room) {
  const ZipBytes bytes(file, name);
  bytes.slice(entry.header_at, kLocalSize);
  if (bytes.number(entry.header_at, 4) != kLocalMark)
    bytes.refuse("the header of ", entry.name, " is damaged");
  const uint64_t begin = entry.header_at + kLocalSize + bytes.number(entry.header_at + 26, 2) +
                         bytes.number(entry.header_at + 28, 2);
  ArrayRef<uint8_t> out = bytes.slice(begin, entry.stored_size);
  if (entry.method != 0) {
    room = inflate_entry(bytes, out, entry);
    out = room;
  } else if (entry.size != entry.stored_size) {
    bytes.refuse(entry.name, " has ", entry.stored_size, " bytes, and ", entry.size,
                 " are declared");
  }
  if (crc32_z(0, out.data(), out.size()) != entry.crc)
    bytes.refuse(entry.name, " is damaged: its checksum is another one");
  return out;
}

}  // namespace gradus::data
