// Reading bytes of a file, and inflating gzip.
#include "gradus/data/readers/byte_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace gradus::data {
namespace {

constexpr uint8_t kGzipMagic[] = {0x1f, 0x8b};
constexpr size_t kLargestFeed = size_t{1} << 30;  // zlib counts in 32 bits

bool starts_gzip(const uint8_t* bytes, size_t count) {
  return count >= 2 && bytes[0] == kGzipMagic[0] && bytes[1] == kGzipMagic[1];
}

}  // namespace

ByteReader::ByteReader(ArrayRef<uint8_t> file, std::string_view name) : input_(file), name_(name) {
  if (!starts_gzip(file.data(), file.size())) return;
  stream_ = std::make_unique<z_stream>();
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  check<OutOfMemoryError>(inflateInit2(stream_.get(), kGzipOnly) == Z_OK, name_,
                          ": no memory to inflate the gzip data; unpack the file with gunzip");
}

ByteReader::~ByteReader() {
  if (stream_) inflateEnd(stream_.get());
}

size_t ByteReader::read(uint8_t* out, size_t count) {
  size_t got = std::min(count, input_.size());
  if (stream_) {
    got = inflate_some(out, count);
  } else if (got > 0) {
    std::memcpy(out, input_.data(), got);
    input_ = input_.slice(got);
  }
  position_ += got;
  return got;
}

size_t ByteReader::at_most() const {
  if (!stream_) return input_.size();
  // Deflate writes at best 258 bytes for two bits; zlib holds back a few bytes of input.
  constexpr size_t kBestRatio = 258 * 8 / 2, kHeldBack = 64;
  return (input_.size() + stream_->avail_in + kHeldBack) * kBestRatio;
}

size_t ByteReader::inflate_some(uint8_t* out, size_t count) {
  size_t got = 0;
  while (got < count && !ended_) {
    if (stream_->avail_in == 0) feed();
    const size_t room = std::min(count - got, kLargestFeed);
    stream_->next_out = out + got;
    stream_->avail_out = static_cast<uInt>(room);
    const int status = inflate(stream_.get(), Z_NO_FLUSH);
    got += room - stream_->avail_out;
    if (status == Z_STREAM_END) {
      end_of_member();
    } else if (status == Z_BUF_ERROR) {
      fail(name_, ": the gzip data end early, after ", position_ + got,
           " bytes inflated; the file is truncated, copy it again");
    } else if (status != Z_OK) {
      fail(name_, ": the gzip data are corrupt after ", position_ + got, " bytes inflated (",
           stream_->msg ? stream_->msg : zError(status), "); copy the file again");
    }
  }
  return got;
}

void ByteReader::feed() {
  const size_t count = std::min(input_.size(), kLargestFeed);
  stream_->next_in = const_cast<uint8_t*>(input_.data());
  stream_->avail_in = static_cast<uInt>(count);
  input_ = input_.slice(count);
}

// A gzip file may hold several members one after another, and nothing else.
void ByteReader::end_of_member() {
  if (stream_->avail_in == 0) feed();
  ended_ = stream_->avail_in == 0;
  if (ended_) return;
  check(starts_gzip(stream_->next_in, stream_->avail_in), name_, ": ",
        input_.size() + stream_->avail_in,
        " bytes follow the gzip data, expected none; copy the file again");
  inflateReset(stream_.get());
}

std::vector<uint8_t> inflated(std::vector<uint8_t> file, std::string_view name) {
  if (!starts_gzip(file.data(), file.size())) return file;
  ByteReader reader(file, name);
  constexpr size_t kPiece = size_t{1} << 20;
  std::vector<uint8_t> out;
  while (true) {
    const size_t before = out.size();
    out.resize(before + kPiece);
    const size_t got = reader.read(out.data() + before, kPiece);
    out.resize(before + got);
    if (got < kPiece) return out;
  }
}

std::vector<uint8_t> read_file(std::string_view op, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  check<Error>(fs::exists(status), op, ": ", path, ": there is no such file; check the path");
  check<Error>(fs::is_regular_file(status), op, ": ", path,
               ": not a regular file; give the path of one");
  const uintmax_t size = fs::file_size(path, error);
  check<Error>(!error, op, ": ", path, ": ", error.message(), "; check its permissions");
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  check<Error>(file != nullptr, op, ": ", path, ": cannot be opened: ", std::strerror(errno),
               "; check its permissions");
  std::vector<uint8_t> bytes(size);
  const size_t got = std::fread(bytes.data(), 1, bytes.size(), file.get());
  check<Error>(got == size, op, ": ", path, ": reading stopped after ", got, " of ", size,
               " bytes: ", std::strerror(errno), "; copy the file again");
  return bytes;
}

}  // namespace gradus::data
