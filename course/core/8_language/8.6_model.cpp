// Task 8.6: a language model from a file: its header, its weights, a step with a cache, and an
// answer.
#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

#include "core/model.h"

namespace course {

Header read_header(ModelFile& file) {
  // BEGIN SOLUTION 8.6
  const auto refuse = [](const std::string& why) { throw std::invalid_argument(why); };
  if (file.size() < 8) refuse("the file has no length of a header");
  std::uint64_t length = 0;
  std::memcpy(&length, file.read(0, 8).data(), 8);
  if (length > static_cast<std::uint64_t>(file.size() - 8)) refuse("the header is cut off");
  Header header = parse_header(file.read(8, static_cast<long>(length)));
  header.data = 8 + static_cast<long>(length);
  const std::map<std::string, long> sizes{{"F32", 4}, {"BF16", 2}, {"I8", 1}};
  std::set<std::string> names;
  for (const Entry& each : header.entries) {
    const auto size = sizes.find(each.dtype);
    if (size == sizes.end()) refuse(each.name + " has dtype " + each.dtype);
    if (each.begin > each.end || each.end > file.size() - header.data)
      refuse(each.name + " lies outside of the data");
    if (!names.insert(each.name).second) refuse("two tensors have the name " + each.name);
    long bytes = std::count(each.shape.begin(), each.shape.end(), 0) > 0 ? 0 : size->second;
    for (const long n : each.shape)
      if (__builtin_mul_overflow(bytes, n, &bytes)) refuse(each.name + " has too large a shape");
    if (bytes != each.end - each.begin) refuse(each.name + " has not the bytes of its shape");
  }
  return header;
  // END SOLUTION 8.6
}

std::vector<float> read_floats(ModelFile& file, const Header& header, const std::string& name) {
  // BEGIN SOLUTION 8.6
  const Entry& entry = header.entry(name);
  if (entry.dtype == "I8") throw std::invalid_argument("read_floats: " + name + " is I8");
  const std::string bytes = file.read(header.data + entry.begin, entry.end - entry.begin);
  const size_t size = entry.dtype == "F32" ? 4 : 2;
  std::vector<float> out(bytes.size() / size);
  for (size_t i = 0; i < out.size(); ++i)  // the bytes of a BF16 are the upper ones of a float
    std::memcpy(reinterpret_cast<char*>(&out[i]) + 4 - size, bytes.data() + i * size, size);
  return out;
  // END SOLUTION 8.6
}

LanguageModel load_model(ModelFile& file, const Header& header, Blocks& blocks) {
  // BEGIN SOLUTION 8.6
  const long width = header.number("width"), hidden = header.number("hidden");
  const long heads = header.number("heads"), groups = header.number("groups");
  if (heads == 0 || groups == 0 || width % heads + heads % groups > 0 ||
      width % gpu::kGroup + hidden % gpu::kGroup > 0)
    throw std::invalid_argument("load_model: a number does not divide another");
  const auto check = [&](const std::string& name, const Dims& shape) {
    if (header.entry(name).shape != shape) throw std::invalid_argument(name + ": wrong shape");
  };
  const auto vector = [&](const std::string& name) {
    check(name, {width});
    return read_floats(file, header, name);
  };
  const auto matrix = [&](const std::string& name, long rows, long columns) {
    check(name, {rows, columns});
    check(name + "_scale", {rows, columns / gpu::kGroup});
    const Entry& entry = header.entry(name);
    if (entry.dtype != "I8") throw std::invalid_argument(name + ": wrong dtype");
    const std::string q = file.read(header.data + entry.begin, entry.end - entry.begin);
    const std::vector<float> scales = read_floats(file, header, name + "_scale");
    return Int8Matrix{{q.begin(), q.end()}, scales, rows, columns};
  };
  LanguageModel model;
  model.heads = static_cast<int>(heads), model.groups = static_cast<int>(groups);
  model.table = matrix("model.embed_tokens.weight", header.number("vocabulary"), width);
  model.head = blocks.put(model.table);
  model.norm = vector("model.norm.weight");
  for (long i = 0; i < header.number("layers"); ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    const auto put = [&](const std::string& name, long rows, long columns) {
      return blocks.put(matrix(layer + name + "_proj.weight", rows, columns));
    };
    const long narrow = width / heads * groups;
    model.layers.push_back({vector(layer + "input_layernorm.weight"),
                            vector(layer + "post_attention_layernorm.weight"),
                            put("self_attn.q", width, width),
                            put("self_attn.k", narrow, width),
                            put("self_attn.v", narrow, width),
                            put("self_attn.o", width, width),
                            put("mlp.gate", hidden, width),
                            put("mlp.up", hidden, width),
                            put("mlp.down", width, hidden),
                            {}});
  }
  return model;
  // END SOLUTION 8.6
}

std::vector<float> forward(LanguageModel& model, Blocks& blocks, const std::vector<int>& tokens) {
  // BEGIN SOLUTION 8.6
  const Int8Matrix& table = model.table;
  for (const int token : tokens)
    if (token < 0 || token >= table.rows)
      throw std::out_of_range("forward: there is no token " + std::to_string(token));
  const auto add = [](std::vector<float>& x, const std::vector<float>& y) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  };
  const auto append = [](std::vector<float>& x, const std::vector<float>& y) {
    x.insert(x.end(), y.begin(), y.end());
  };
  std::vector<float> x(static_cast<size_t>(table.columns));
  for (const int token : tokens) {
    for (size_t e = 0, at = static_cast<size_t>(token) * x.size(); e < x.size(); ++e, ++at)
      x[e] = static_cast<float>(table.q[at]) * table.scales[at / gpu::kGroup];
    for (ModelLayer& layer : model.layers) {
      const std::vector<float> h = blocks.rms_norm(x, layer.norm1);
      const auto q = blocks.rope(blocks.product(layer.q, h), model.heads, model.place);
      append(layer.cache.k, blocks.rope(blocks.product(layer.k, h), model.groups, model.place));
      append(layer.cache.v, blocks.product(layer.v, h));
      const auto seen = blocks.grouped_attention(q, layer.cache, model.heads, model.groups);
      add(x, blocks.product(layer.o, seen));
      const std::vector<float> wide = blocks.rms_norm(x, layer.norm2);
      std::vector<float> both = blocks.product(layer.gate, wide);
      append(both, blocks.product(layer.up, wide));
      add(x, blocks.product(layer.down, blocks.swiglu(both)));
    }
    ++model.place;
  }
  return blocks.product(model.head, blocks.rms_norm(x, model.norm));
  // END SOLUTION 8.6
}

std::string answer(LanguageModel& model, Blocks& blocks, Words& words, const std::string& question,
                   int most) {
  // BEGIN SOLUTION 8.6
  for (ModelLayer& layer : model.layers) layer.cache = {};
  model.place = 0;
  std::vector<int> tokens = words.encode(question), written;
  while (static_cast<int>(written.size()) < most) {
    const int token = words.choose(forward(model, blocks, tokens));
    if (token == words.end()) break;
    written.push_back(token);
    tokens = {token};
  }
  return words.decode(written);
  // END SOLUTION 8.6
}

}  // namespace course
