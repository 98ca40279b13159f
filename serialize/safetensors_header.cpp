// Writing and parsing the JSON header of a safetensors file.
#include "gradus/serialize/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

namespace gradus::serialize {
namespace {

using nlohmann::json;

constexpr std::string_view kMetadataKey = "__metadata__";

// The format has no name for complex128: such a tensor is written as F64 with a last dimension for
// the parts, and the metadata have an entry that says so, its name behind this.
constexpr std::string_view kComplexMark = "gradus.complex128:";
constexpr std::string_view kComplexMarkValue = "the last dimension is the real and imaginary parts";

struct DtypeName {
  ScalarType dtype;
  std::string_view name;
};
constexpr DtypeName kDtypeNames[] = {{kBool, "BOOL"},  {kByte, "U8"},         {kChar, "I8"},
                                     {kShort, "I16"},  {kInt, "I32"},         {kLong, "I64"},
                                     {kHalf, "F16"},   {kBFloat16, "BF16"},   {kFloat, "F32"},
                                     {kDouble, "F64"}, {kComplexFloat, "C64"}};

std::string_view name_of(ScalarType dtype, const std::string& name) {
  for (const DtypeName& row : kDtypeNames)
    if (row.dtype == dtype) return row.name;
  fail<TypeError>(name, ": dtype ", dtype,
                  " has no name in the safetensors format; convert it with .to(...)");
}

std::string json_text(std::string_view text, const std::string& name) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    fail(name, ": ", printable(text),
         " is not UTF-8, which the safetensors format wants; rename it");
  }
}

// Follows the JSON piece by piece, keeps what belongs into a header, and refuses the rest.
class HeaderReader : public nlohmann::json_sax<json> {
 public:
  HeaderReader(std::string_view file, SafetensorsHeader& out) : file_(file), out_(out) {}

  bool start_object(size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::top;
    } else if (place_ == Place::top && key_ == kMetadataKey) {
      place_ = Place::metadata;
    } else if (place_ == Place::top) {
      place_ = Place::entry;
      out_.entries.push_back({key_, kBool, {}, 0, 0});
      fields_.clear();
    } else {
      refuse("an object");
    }
    return true;
  }

  bool key(string_t& name) override {
    if (place_ == Place::top) {
      check(names_.insert(name).second, file_, ": the name ", printable(name),
            " stands in the header twice", kSaveAgain);
    } else if (place_ == Place::entry) {
      check(name == "dtype" || name == "shape" || name == "data_offsets", file_, ": tensor ",
            printable(entry().name), " has the field ", printable(name),
            ", expected dtype, shape and data_offsets alone", kSaveAgain);
      check(fields_.insert(name).second, file_, ": tensor ", printable(entry().name),
            " has the field ", name, " twice", kSaveAgain);
    } else {
      check(!out_.metadata.contains(name), file_, ": the metadata have the name ", printable(name),
            " twice", kSaveAgain);
    }
    key_ = name;
    return true;
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata) {
      out_.metadata.emplace(key_, text);
    } else if (place_ == Place::entry && key_ == "dtype") {
      entry().dtype = dtype_named(text);
    } else {
      refuse("a text");
    }
    return true;
  }

  bool start_array(size_t) override {
    if (place_ != Place::entry || key_ == "dtype") refuse("a list");
    place_ = Place::list;
    numbers_.clear();
    return true;
  }

  bool number_unsigned(uint64_t value) override {
    if (place_ != Place::list) refuse("a number");
    const size_t most = key_ == "shape" ? size_t{kMaxDims} : 2;
    check(numbers_.size() < most, file_, ": tensor ", printable(entry().name), ": ", key_,
          " has more than ", most, " numbers", kSaveAgain);
    numbers_.push_back(value);
    return true;
  }

  bool end_array() override {
    place_ = Place::entry;
    if (key_ == "shape") {
      for (const uint64_t size : numbers_) {
        check(size <= INT64_MAX, file_, ": tensor ", printable(entry().name), " has the size ",
              size, ", which is beyond an int64", kSaveAgain);
        entry().sizes.push_back(static_cast<int64_t>(size));
      }
    } else {
      check(numbers_.size() == 2, file_, ": tensor ", printable(entry().name),
            ": data_offsets has ", numbers_.size(), " numbers, expected 2: begin and end",
            kSaveAgain);
      entry().begin = numbers_[0], entry().end = numbers_[1];
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::entry) {
      for (const char* field : {"dtype", "shape", "data_offsets"})
        check(fields_.contains(field), file_, ": tensor ", printable(entry().name), " has no ",
              field, kSaveAgain);
    }
    place_ = Place::top;
    return true;
  }

  bool null() override { refuse("null"); }
  bool boolean(bool) override { refuse("true or false"); }
  bool number_integer(int64_t) override { refuse("a negative number"); }
  bool number_float(double, const string_t&) override {
    refuse("a number that is not whole, or beyond 64 bits,");
  }
  bool binary(binary_t&) override { refuse("binary data"); }
  bool parse_error(size_t position, const std::string&, const json::exception&) override {
    fail(file_, ": the header is not valid JSON: it goes wrong at byte ", position, kSaveAgain);
  }

 private:
  enum class Place { outside, top, metadata, entry, list };

  SafetensorsEntry& entry() { return out_.entries.back(); }

  [[noreturn]] void refuse(const char* what) {
    const bool inside = place_ == Place::entry || place_ == Place::list;
    fail(file_, ": the header has ", what, " where none belongs",
         inside                     ? ": tensor " + printable(entry().name) + ", field " + key_
         : place_ == Place::outside ? std::string()
                                    : ": " + printable(key_),
         kSaveAgain);
  }

  ScalarType dtype_named(std::string_view text) {
    for (const DtypeName& row : kDtypeNames)
      if (row.name == text) return row.dtype;
    std::string known;
    for (const DtypeName& row : kDtypeNames) known.append(" ").append(row.name);
    fail<NotImplementedError>(file_, ": tensor ", printable(entry().name), " has dtype ",
                              printable(text), ", which gradus does not read; convert it to one of",
                              known);
  }

  std::string_view file_;
  SafetensorsHeader& out_;
  Place place_ = Place::outside;
  std::string key_;
  std::set<std::string> names_, fields_;
  std::vector<uint64_t> numbers_;
};

// The bytes of a tensor, or nothing where 64 bits do not count them. Sizes of zero are passed over,
// so that the strides of an empty tensor do not overflow either.
std::optional<uint64_t> bytes_of(const SafetensorsEntry& entry) {
  int64_t product = static_cast<int64_t>(element_size(entry.dtype));
  bool empty = false;
  for (const int64_t size : entry.sizes) {
    empty |= size == 0;
    if (__builtin_mul_overflow(product, std::max<int64_t>(size, 1), &product)) return {};
  }
  return empty ? 0 : static_cast<uint64_t>(product);
}

void check_places(const SafetensorsHeader& header, uint64_t data_bytes, std::string_view file) {
  std::vector<const SafetensorsEntry*> order;
  for (const SafetensorsEntry& entry : header.entries) {
    const std::optional<uint64_t> bytes = bytes_of(entry);
    check(bytes.has_value(), file, ": tensor ", printable(entry.name), " has shape ", entry.sizes,
          " of ", entry.dtype, ", more bytes than an int64 counts", kSaveAgain);
    check(entry.begin <= entry.end && entry.end - entry.begin == *bytes, file, ": tensor ",
          printable(entry.name), " has data_offsets ", entry.begin, " to ", entry.end,
          ", and its shape ", entry.sizes, " of ", entry.dtype, " takes ", *bytes, " bytes",
          kSaveAgain);
    order.push_back(&entry);
  }
  std::sort(order.begin(), order.end(), [](const SafetensorsEntry* a, const SafetensorsEntry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t end = 0;
  for (const SafetensorsEntry* entry : order) {
    check(entry->begin == end, file, ": the data of tensor ", printable(entry->name),
          " begin at byte ", entry->begin, ", and those before end at ", end,
          entry->begin < end ? ": they overlap" : ": there is a gap", kSaveAgain);
    end = entry->end;
  }
  check(end == data_bytes, file, ": the header names ", end, " bytes of data, and ", data_bytes,
        " follow it; ",
        end > data_bytes ? "the file is truncated, copy it again"
                         : "bytes were appended, copy the file again");
}

// The entry that the file has. REQUIRES: room for a dimension, which a complex tensor always has.
SafetensorsEntry as_written(SafetensorsEntry entry) {
  if (entry.dtype != kComplexDouble) return entry;
  entry.dtype = kDouble;
  entry.sizes.push_back(2);
  return entry;
}
// The converse: takes the marks out of the metadata. A mark without such a tensor is text.
void take_marks(SafetensorsHeader& header) {
  for (SafetensorsEntry& entry : header.entries) {
    const auto mark = header.metadata.find(std::string(kComplexMark) + entry.name);
    const size_t rank = entry.sizes.size();
    if (mark == header.metadata.end() || entry.dtype != kDouble || rank == 0 ||
        entry.sizes[rank - 1] != 2)
      continue;
    entry.dtype = kComplexDouble;
    entry.sizes = Dims(entry.sizes.data(), rank - 1);
    header.metadata.erase(mark);
  }
}

}  // namespace

std::string printable(std::string_view name) {
  constexpr size_t kLongest = 120;
  const std::string start(name.substr(0, kLongest));
  return json(start).dump(-1, ' ', true, json::error_handler_t::replace) +
         (name.size() > kLongest ? "..." : "");
}

std::string printable_lines(std::string lines, size_t most) {
  const auto count = static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
  if (count > most) {
    size_t end = 0;
    for (size_t i = 1; i < most; ++i) end = lines.find('\n', end + 1);
    lines = lines.substr(0, end) + "\n  ... and " + std::to_string(count - most + 1) + " more";
  }
  constexpr size_t kLongest = 8000;
  if (lines.size() > kLongest) lines = lines.substr(0, kLongest) + "\n  ...";
  for (char& c : lines)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n') c = '?';
  return lines;
}

std::string write_header(const SafetensorsHeader& header, const std::string& name) {
  std::string text = "{";
  const auto separate = [&] {
    if (text.size() > 1) text += ',';
  };
  Metadata metadata = header.metadata;
  for (const SafetensorsEntry& entry : header.entries)
    if (entry.dtype == kComplexDouble)
      metadata[std::string(kComplexMark) + entry.name] = kComplexMarkValue;
  if (!metadata.empty()) {
    text.append("\"").append(kMetadataKey).append("\":{");
    bool first = true;
    for (const auto& [key, value] : metadata) {
      if (!first) text += ',';
      text += json_text(key, name) + ':' + json_text(value, name);
      first = false;
    }
    text += '}';
  }
  for (const SafetensorsEntry& each : header.entries) {
    const SafetensorsEntry entry = as_written(each);
    check(entry.name != kMetadataKey, name, ": a tensor is named ", kMetadataKey,
          ", which the format keeps for itself; give it another name");
    separate();
    text += json_text(entry.name, name) + ":{\"dtype\":\"";
    text.append(name_of(entry.dtype, name)).append("\",\"shape\":[");
    for (size_t d = 0; d < entry.sizes.size(); ++d)
      text.append(d > 0 ? "," : "").append(std::to_string(entry.sizes[d]));
    text += "],\"data_offsets\":[" + std::to_string(entry.begin) + ',' + std::to_string(entry.end) +
            "]}";
  }
  text += '}';
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  check(text.size() <= kLargestHeader, name, ": the header takes ", text.size(),
        " bytes, and readers take ", kLargestHeader, "; write fewer tensors or shorter metadata");
  std::string length;
  for (size_t b = 0; b < kLengthBytes; ++b)
    length += static_cast<char>(text.size() >> (8 * b) & 0xff);
  return length + text;
}

SafetensorsHeader parse_header(std::string_view json_text, uint64_t data_bytes,
                               std::string_view file) {
  check(json_text.starts_with('{'), file, ": the header does not begin with {; this is not a ",
        "safetensors file, give one that save_file wrote");
  // The parser would take it for the end of the text.
  const size_t nul = json_text.find('\0');
  check(nul == std::string_view::npos, file,
        ": the header is not valid JSON: it goes wrong at byte ", nul + 1, kSaveAgain);
  SafetensorsHeader out;
  HeaderReader reader(file, out);
  json::sax_parse(json_text.begin(), json_text.end(), &reader);
  check_places(out, data_bytes, file);
  take_marks(out);
  return out;
}

}  // namespace gradus::serialize
