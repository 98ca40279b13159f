// Every reader of files as a function of bytes, for the fuzzers and for
// tests/data/readers_test.cpp.
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "gradus/data/datasets/cifar.h"
#include "gradus/data/datasets/idx.h"
#include "gradus/data/readers/byte_reader.h"
#include "gradus/data/readers/csv.h"
#include "gradus/data/readers/image.h"
#include "gradus/data/readers/npy.h"
#include "gradus/serialize/pickle.h"
#include "gradus/serialize/pt.h"
#include "gradus/serialize/safetensors.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/watch/dashboard/http.h"

namespace gradus::readers {

using Bytes = ArrayRef<uint8_t>;

inline constexpr const char* kName = "some.file";  // of the file, in messages

// What no bytes may bring about.
inline void require(bool holds) {
  if (!holds) std::abort();
}

inline std::string_view text_of(Bytes file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

inline void read_idx(Bytes file) {
  const data::IdxArray array = data::parse_idx(file, kName);
  require(checked_numel("fuzz", array.sizes) == static_cast<int64_t>(array.bytes.size()));
}

// At once and in small pieces, then as an IDX file.
inline void read_gzip(Bytes file) {
  const auto whole = data::inflated({file.begin(), file.end()}, kName);
  data::ByteReader reader(file, kName);
  require(whole.size() <= reader.at_most());
  std::vector<uint8_t> pieces;
  uint8_t piece[7];
  while (const size_t got = reader.read(piece, sizeof piece))
    pieces.insert(pieces.end(), piece, piece + got);
  require(pieces == whole);
  read_idx(file);
}

inline void read_csv(Bytes file) {
  const data::CsvTable table = data::parse_csv(text_of(file), kName);
  for (const auto& column : table.columns()) {
    require(static_cast<int64_t>(table.text(column).size()) == table.rows());
    if (table.type(column) == data::CsvType::kNumber)
      require(table.numbers(column).numel() == table.rows());
  }
}

inline void read_npy(Bytes file) { data::parse_npy(file, kName); }
inline void read_npz(Bytes file) { data::parse_npz(file, kName); }

inline void read_cifar10(Bytes file) {
  const data::ImageDataset set = data::parse_cifar10(file, kName);
  require(set.images.size(0) == set.size() && set.targets.max().item<int64_t>() < 10);
}
inline void read_cifar100(Bytes file) {
  const data::ImageDataset set = data::parse_cifar100(file, kName);
  require(set.images.size(0) == set.size() && set.targets.max().item<int64_t>() < 100);
}

inline void read_picture(Bytes file) {
  require(data::decode_image(file, kName, data::ImageMode::kRgb).size(0) == 3);
}

// Tensors that are written and read back the same.
inline void read_safetensors(Bytes file) {
  const auto contents = [](const char* bytes, size_t size) {
    return serialize::read_safetensors(
        [&](uint64_t position, void* to, size_t count) {
          require(position <= size && count <= size - position);
          std::memcpy(to, bytes + position, count);
        },
        size, kName);
  };
  const auto first = contents(reinterpret_cast<const char*>(file.data()), file.size());
  std::string written;
  serialize::write_safetensors(
      [&](const void* from, size_t n) { written.append(static_cast<const char*>(from), n); },
      first.tensors, first.metadata);
  const auto second = contents(written.data(), written.size());
  require(first.metadata == second.metadata && first.tensors.keys() == second.tensors.keys());
  for (const auto& item : first.tensors) {
    const Tensor &a = item.value(), &b = second.tensors[item.key()];
    require(a.dtype() == b.dtype() && a.sizes() == b.sizes());
    require(a.nbytes() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
  }
}

// Every tensor lies within its storage.
inline void require_tensors(const serialize::SafetensorsContents& contents) {
  for (const auto& item : contents.tensors) {
    const Tensor& x = item.value();
    int64_t last = x.storage_offset();
    for (int64_t d = 0; d < x.dim(); ++d) last += (x.size(d) - 1) * x.stride(d);
    const auto end = static_cast<size_t>(last + 1) * x.itemsize();
    require(x.numel() == 0 || end <= x.storage().nbytes());
  }
}
inline void read_pt(Bytes file) { require_tensors(serialize::parse_pt(file, kName)); }
// What is in a .pt file, without its checksum, and with storages that are all there.
inline void read_pickle(Bytes file) {
  const serialize::Pickle pickle =
      serialize::parse_pickle(file, kName, [](const std::string&, ScalarType dtype, int64_t numel) {
        check(numel < 1000, kName, ": no storage has so many elements");
        return raw::empty({numel}, dtype, Device(kCPU));
      });
  require_tensors(serialize::named_values(pickle, file.size(), kName));
}

// What a browser asks of the dashboard. A beginning is no error, but says so.
inline void read_http(Bytes file) {
  const watch::detail::HttpRequest request = watch::detail::parse_request(text_of(file));
  using Status = watch::detail::HttpRequest::Status;
  check(request.status != Status::kIncomplete, kName, ": the request ends early");
  require(request.status == Status::kRefused || request.path.starts_with('/'));
}

struct Reader {
  const char* name;
  const char* suffix;        // of its files in tests/data/files
  bool reads_beginnings;     // a file that ends early may be a whole one, as of CSV
  void (*read)(Bytes file);  // Errors: Error with kName in its message
};

inline constexpr Reader kReaders[] = {
    {"idx", ".idx", false, read_idx},
    {"gzip", ".gz", false, read_gzip},
    {"csv", ".csv", true, read_csv},
    {"npy", ".npy", false, read_npy},
    {"npz", ".npz", false, read_npz},
    {"safetensors", ".safetensors", false, read_safetensors},
    {"pt", ".pt", false, read_pt},
    {"pickle", ".pkl", false, read_pickle},
    {"cifar10", ".cifar10", false, read_cifar10},
    {"cifar100", ".cifar100", false, read_cifar100},
    {"png", ".png", false, read_picture},
    {"jpeg", ".jpg", false, read_picture},
    {"http", ".http", false, read_http},
};

}  // namespace gradus::readers
