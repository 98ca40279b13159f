// Task 8.6: all tokens go through a layer before they go through the next; numbers are made of
// bits.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include "core/model.h"

namespace course {
namespace {

std::uint64_t number_of(const std::string& bytes, size_t at, size_t size) {
  std::uint64_t out = 0;
  for (size_t i = 0; i < size; ++i)
    out += std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return out;
}

long size_of(const std::string& dtype) {
  if (dtype == "F32") return 4;
  if (dtype == "BF16") return 2;
  if (dtype == "I8") return 1;
  throw std::invalid_argument("no dtype: " + dtype);
}

// Whether a product of sizes is `count`, by division.
bool multiplies_to(const Dims& shape, long count) {
  if (std::count(shape.begin(), shape.end(), 0) > 0) return count == 0;
  for (const long each : shape) {
    if (count % each != 0) return false;
    count /= each;
  }
  return count == 1;
}

std::string bytes_of(ModelFile& file, const Header& header, const Entry& entry) {
  return file.read(header.data + entry.begin, entry.end - entry.begin);
}

Int8Matrix matrix_of(ModelFile& file, const Header& header, const std::string& name, long rows,
                     long columns) {
  const Entry &entry = header.entry(name), &scales = header.entry(name + "_scale");
  if (entry.dtype != "I8" || entry.shape != Dims{rows, columns} ||
      scales.shape != Dims{rows, columns / gpu::kGroup})
    throw std::invalid_argument(name);
  Int8Matrix out;
  out.rows = rows, out.columns = columns;
  for (const char each : bytes_of(file, header, entry))
    out.q.push_back(std::bit_cast<std::int8_t>(each));
  out.scales = read_floats(file, header, scales.name);
  return out;
}

std::vector<float> norm_of(ModelFile& file, const Header& header, const std::string& name,
                           long width) {
  if (header.entry(name).shape != Dims(1, width)) throw std::invalid_argument(name);
  return read_floats(file, header, name);
}

using Rows = std::vector<std::vector<float>>;

void attend(ModelLayer& layer, Blocks& blocks, Rows& rows, const LanguageModel& model) {
  long place = model.place;
  for (std::vector<float>& x : rows) {
    const std::vector<float> h = blocks.rms_norm(x, layer.norm1);
    std::vector<float> q = blocks.product(layer.q, h), k = blocks.product(layer.k, h);
    const std::vector<float> v = blocks.product(layer.v, h);
    q = blocks.rope(q, model.heads, place), k = blocks.rope(k, model.groups, place++);
    std::copy(k.begin(), k.end(), std::back_inserter(layer.cache.k));
    std::copy(v.begin(), v.end(), std::back_inserter(layer.cache.v));
    const std::vector<float> o = blocks.product(
        layer.o, blocks.grouped_attention(q, layer.cache, model.heads, model.groups));
    std::transform(x.begin(), x.end(), o.begin(), x.begin(), std::plus<>());
  }
}

void feed(const ModelLayer& layer, Blocks& blocks, Rows& rows) {
  for (std::vector<float>& x : rows) {
    const std::vector<float> h = blocks.rms_norm(x, layer.norm2);
    std::vector<float> wide = blocks.product(layer.up, h);
    const std::vector<float> gate = blocks.product(layer.gate, h);
    wide.insert(wide.begin(), gate.begin(), gate.end());
    const std::vector<float> down = blocks.product(layer.down, blocks.swiglu(wide));
    std::transform(x.begin(), x.end(), down.begin(), x.begin(), std::plus<>());
  }
}

}  // namespace

Header read_header(ModelFile& file) {
  constexpr long kBefore = 8;
  if (file.size() < kBefore) throw std::invalid_argument("too short");
  const std::uint64_t length = number_of(file.read(0, kBefore), 0, kBefore);
  const long rest = file.size() - kBefore;
  if (length > static_cast<std::uint64_t>(rest)) throw std::invalid_argument("cut off");
  Header out = parse_header(file.read(kBefore, static_cast<long>(length)));
  out.data = kBefore + static_cast<long>(length);
  std::unordered_map<std::string, int> seen;
  for (const Entry& each : out.entries) {
    const long count = each.end - each.begin, size = size_of(each.dtype);
    if (count < 0 || each.end > file.size() - out.data || count % size != 0 ||
        !multiplies_to(each.shape, count / size) || ++seen[each.name] > 1)
      throw std::invalid_argument(each.name);
  }
  return out;
}

std::vector<float> read_floats(ModelFile& file, const Header& header, const std::string& name) {
  const Entry& entry = header.entry(name);
  const size_t size = static_cast<size_t>(size_of(entry.dtype));
  if (size == 1) throw std::invalid_argument(name);
  const std::string bytes = bytes_of(file, header, entry);
  std::vector<float> out;
  for (size_t at = 0; at < bytes.size(); at += size)
    out.push_back(std::bit_cast<float>(
        static_cast<std::uint32_t>(number_of(bytes, at, size) << (32 - 8 * size))));
  return out;
}

LanguageModel load_model(ModelFile& file, const Header& header, Blocks& blocks) {
  LanguageModel out;
  const long width = header.number("width"), hidden = header.number("hidden");
  const long heads = header.number("heads"), groups = header.number("groups");
  if (heads < 1 || width % heads != 0) throw std::invalid_argument("heads");
  if (groups < 1 || heads % groups != 0) throw std::invalid_argument("groups");
  if (width % gpu::kGroup != 0 || hidden % gpu::kGroup != 0) throw std::invalid_argument("32");
  out.heads = static_cast<int>(heads), out.groups = static_cast<int>(groups);
  out.norm = norm_of(file, header, "model.norm.weight", width);
  const long layers = header.number("layers"), d = width / heads;
  for (long i = 0; i < layers; ++i) {
    ModelLayer layer;
    const std::string before = "model.layers." + std::to_string(i) + ".";
    const std::array<std::tuple<int*, const char*, long, long>, 7> matrices{
        {{&layer.down, "mlp.down_proj", width, hidden},
         {&layer.up, "mlp.up_proj", hidden, width},
         {&layer.gate, "mlp.gate_proj", hidden, width},
         {&layer.o, "self_attn.o_proj", width, width},
         {&layer.v, "self_attn.v_proj", groups * d, width},
         {&layer.k, "self_attn.k_proj", groups * d, width},
         {&layer.q, "self_attn.q_proj", width, width}}};
    for (const auto& [number, name, rows, columns] : matrices)
      *number = blocks.put(matrix_of(file, header, before + name + ".weight", rows, columns));
    layer.norm1 = norm_of(file, header, before + "input_layernorm.weight", width);
    layer.norm2 = norm_of(file, header, before + "post_attention_layernorm.weight", width);
    out.layers.push_back(layer);
  }
  out.table =
      matrix_of(file, header, "model.embed_tokens.weight", header.number("vocabulary"), width);
  out.head = blocks.put(out.table);
  return out;
}

std::vector<float> forward(LanguageModel& model, Blocks& blocks, const std::vector<int>& tokens) {
  const Int8Matrix& table = model.table;
  Rows rows;
  for (const int token : tokens) {
    if (token < 0 || token >= table.rows) throw std::out_of_range(std::to_string(token));
    std::vector<float>& row = rows.emplace_back();
    for (long e = 0; e < table.columns; ++e) {
      const size_t at = static_cast<size_t>(token * table.columns + e);
      row.push_back(table.scales[at / 32] * static_cast<float>(table.q[at]));
    }
  }
  for (ModelLayer& layer : model.layers) {
    attend(layer, blocks, rows, model);
    feed(layer, blocks, rows);
  }
  model.place += static_cast<long>(tokens.size());
  return blocks.product(model.head, blocks.rms_norm(rows.back(), model.norm));
}

std::string answer(LanguageModel& model, Blocks& blocks, Words& words, const std::string& question,
                   int most) {
  model.place = 0;
  for (ModelLayer& each : model.layers) each.cache.k.clear(), each.cache.v.clear();
  std::vector<int> written;
  if (most > 0) written.push_back(words.choose(forward(model, blocks, words.encode(question))));
  while (!written.empty() && written.back() != words.end() &&
         static_cast<int>(written.size()) < most)
    written.push_back(words.choose(forward(model, blocks, {written.back()})));
  if (!written.empty() && written.back() == words.end()) written.pop_back();
  return words.decode(written);
}

}  // namespace course
