// Makes the model that ./train chat talks with: a small Llama, which the library trains on the
// questions and answers of pairs.h. Its matrices are written as bytes with a scale for each group
// of 32.
//
//   make FILE [STEPS]
#include <gradus/gradus.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <random>

#include "core/model.h"
#include "model/pairs.h"

namespace {

using namespace gradus;
namespace functional = gradus::nn::functional;

constexpr int64_t kWidth = 64, kHeads = 4, kGroups = 2, kHead = kWidth / kHeads, kHidden = 128,
                  kLayers = 3;
constexpr int kMerges = 256, kEnd = '\n';
constexpr int64_t kBatch = 48;

struct Options {
  std::string file;
  int64_t steps = 2000;
};

// --- Tokens
// Merges of the questions and answers. None holds the end of a line, which stands between both and
// behind them.
std::vector<course::Merge> merges_of(const std::vector<model::Pair>& pairs) {
  std::string text;
  for (const model::Pair& each : pairs) text += each.question + "\n" + each.answer + "\n";
  std::vector<course::Merge> out;
  std::vector<int> places(256);  // of a token in what is returned, or -1
  for (int i = 0; i < 256; ++i) places[static_cast<size_t>(i)] = i == kEnd ? -1 : i;
  for (const course::Merge& each : course::train_bpe(text, 2 * kMerges)) {
    const int left = places[static_cast<size_t>(each.left)],
              right = places[static_cast<size_t>(each.right)];
    const bool kept = left >= 0 && right >= 0 && static_cast<int>(out.size()) < kMerges;
    places.push_back(kept ? 256 + static_cast<int>(out.size()) : -1);
    if (kept) out.push_back({left, right});
  }
  return out;
}

struct Table final : course::MergeTable {
  explicit Table(const std::vector<course::Merge>& merges) {
    for (const course::Merge& each : merges) {
      const int token = 256 + static_cast<int>(tokens.size());
      tokens[{each.left, each.right}] = token;
    }
  }
  int find(int left, int right) const override {
    const auto at = tokens.find({left, right});
    return at == tokens.end() ? -1 : at->second;
  }
  std::map<std::pair<int, int>, int> tokens;
};

// --- The model
struct BlockImpl : nn::Module {
  BlockImpl()
      : norm1(register_module("input_layernorm",
                              nn::RMSNorm(nn::RMSNormOptions({kWidth}).eps(1e-5)))),
        q(linear("q", kWidth, kWidth)),
        k(linear("k", kWidth, kGroups * kHead)),
        v(linear("v", kWidth, kGroups * kHead)),
        o(linear("o", kWidth, kWidth)),
        norm2(register_module("post_attention_layernorm",
                              nn::RMSNorm(nn::RMSNormOptions({kWidth}).eps(1e-5)))),
        gate(linear("gate", kWidth, kHidden)),
        up(linear("up", kWidth, kHidden)),
        down(linear("down", kHidden, kWidth)) {}

  nn::Linear linear(const char* name, int64_t in, int64_t out) {
    return register_module(name, nn::Linear(nn::LinearOptions(in, out).bias(false)));
  }

  // x (batch, length, width); cosines and sines (length, kHead / 2).
  Tensor forward(const Tensor& x, const Tensor& cosines, const Tensor& sines) {
    const int64_t batch = x.size(0), length = x.size(1);
    const auto heads = [&](const Tensor& part, int64_t count) {
      return part.view({batch, length, count, kHead}).transpose(1, 2);
    };
    const auto turned = [&](const Tensor& part) {
      const auto halves = part.chunk(2, -1);
      return cat({halves[0] * cosines - halves[1] * sines, halves[0] * sines + halves[1] * cosines},
                 -1);
    };
    const auto shared = [&](const Tensor& part) {
      return part.repeat_interleave(kHeads / kGroups, 1);
    };
    const Tensor h = norm1(x);
    const Tensor seen = scaled_dot_product_attention(
        turned(heads(q(h), kHeads)), shared(turned(heads(k(h), kGroups))),
        shared(heads(v(h), kGroups)), {}, 0.0, /*is_causal=*/true);
    const Tensor y = x + o(seen.transpose(1, 2).reshape({batch, length, kWidth}));
    const Tensor wide = norm2(y);
    return y + down(functional::silu(gate(wide)) * up(wide));
  }

  nn::RMSNorm norm1;
  nn::Linear q, k, v, o;
  nn::RMSNorm norm2;
  nn::Linear gate, up, down;
};
GRADUS_MODULE(Block);

struct LlamaImpl : nn::Module {
  explicit LlamaImpl(int64_t vocabulary)
      : table(register_module("embed_tokens", nn::Embedding(vocabulary, kWidth))),
        norm(register_module("norm", nn::RMSNorm(nn::RMSNormOptions({kWidth}).eps(1e-5)))) {
    for (int64_t i = 0; i < kLayers; ++i)
      blocks.push_back(register_module("layer" + std::to_string(i), Block()));
    for (Tensor& weight : parameters())
      if (weight.dim() == 2) nn::init::normal_(weight, 0, 0.08);
  }

  Tensor forward(const Tensor& tokens) {
    const Tensor rates = pow(10000.0, arange(0, kHead, 2, kFloat) / -static_cast<double>(kHead));
    const Tensor angles = arange(tokens.size(1), kFloat).unsqueeze(1) * rates;
    Tensor x = table(tokens);
    for (Block& block : blocks) x = block(x, angles.cos(), angles.sin());
    return matmul(norm(x), table->weight.t());
  }

  nn::Embedding table;
  nn::RMSNorm norm;
  std::vector<Block> blocks;
};
GRADUS_MODULE(Llama);

// --- Learning
// Rows of tokens, and what follows each token; -100 where that is not learned.
struct Batch {
  std::vector<std::vector<int>> rows;
  std::vector<size_t> questions;  // tokens of each question, with the end of its line

  void add(const Table& table, const model::Pair& pair) {
    rows.push_back(course::encode(table, pair.question));
    rows.back().push_back(kEnd);
    questions.push_back(rows.back().size());
    for (const int each : course::encode(table, pair.answer)) rows.back().push_back(each);
    rows.back().push_back(kEnd);
  }
  std::pair<Tensor, Tensor> tensors() const {
    size_t length = 0;
    for (const auto& row : rows) length = std::max(length, row.size() - 1);
    std::vector<int64_t> x, y;
    for (size_t r = 0; r < rows.size(); ++r)
      for (size_t i = 0; i < length; ++i) {
        const bool there = i + 1 < rows[r].size();
        x.push_back(there ? rows[r][i] : kEnd);
        y.push_back(there && i + 1 >= questions[r] ? rows[r][i + 1] : -100);
      }
    const auto shape = [&](const std::vector<int64_t>& values) {
      return tensor(values).view({static_cast<int64_t>(rows.size()), static_cast<int64_t>(length)});
    };
    return {shape(x), shape(y)};
  }
};

// The same question as people type it: with a capital letter, or without its mark.
model::Pair typed(model::Pair pair, std::mt19937& random) {
  if (random() % 4 == 0) pair.question[0] = static_cast<char>(std::toupper(pair.question[0]));
  if (random() % 4 == 0 && pair.question.back() == '?') pair.question.pop_back();
  return pair;
}

// How many of these pairs are answered to the letter, each token by the largest logit.
int64_t right(Llama& llama, const Table& table, const std::vector<model::Pair>& pairs) {
  const NoGradGuard no_grad;
  int64_t out = 0;
  for (size_t start = 0; start < pairs.size(); start += 64) {
    Batch batch;
    for (size_t i = start; i < std::min(pairs.size(), start + 64); ++i) batch.add(table, pairs[i]);
    const auto [x, y] = batch.tensors();
    const Tensor same = llama(x).argmax(-1).eq(y).logical_or(y.eq(-100));
    out += same.all(-1).sum().item<int64_t>();
  }
  return out;
}

// --- The file
// A matrix as bytes, with a scale for each group of 32 numbers of a row. The weight becomes what
// the bytes stand for.
void add_bytes(serialize::NamedTensors& out, const std::string& name, Tensor& weight) {
  const NoGradGuard no_grad;
  const Tensor groups = weight.view({weight.size(0), -1, course::gpu::kGroup});
  const Tensor scales = groups.abs().amax({-1}) / 127;
  const Tensor bytes = (groups / scales.unsqueeze(-1)).round();
  weight.copy_((bytes * scales.unsqueeze(-1)).view_as(weight));
  out.insert(name, bytes.view_as(weight).to(kInt8));
  out.insert(name + "_scale", scales);
}

serialize::NamedTensors named(Llama& llama) {
  const NoGradGuard no_grad;
  serialize::NamedTensors out;
  const auto add_norm = [&](const std::string& name, Tensor& weight) {
    out.insert(name, weight.to(kBFloat16));
    weight.copy_(out[name].to(kFloat));
  };
  add_bytes(out, "model.embed_tokens.weight", llama->table->weight);
  for (size_t i = 0; i < llama->blocks.size(); ++i) {
    Block& block = llama->blocks[i];
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    add_norm(layer + "input_layernorm.weight", block->norm1->weight);
    add_norm(layer + "post_attention_layernorm.weight", block->norm2->weight);
    const std::pair<const char*, nn::Linear*> matrices[] = {
        {"self_attn.q_proj", &block->q}, {"self_attn.k_proj", &block->k},
        {"self_attn.v_proj", &block->v}, {"self_attn.o_proj", &block->o},
        {"mlp.gate_proj", &block->gate}, {"mlp.up_proj", &block->up},
        {"mlp.down_proj", &block->down}};
    for (const auto& [name, matrix] : matrices)
      add_bytes(out, layer + name + ".weight", (*matrix)->weight);
  }
  add_norm("model.norm.weight", llama->norm->weight);
  return out;
}

void make(const Options& options) {
  set_num_threads(1);
  manual_seed(1);
  std::mt19937 random(1);
  const std::vector<model::Pair> pairs = model::pairs();
  const std::vector<course::Merge> merges = merges_of(pairs);
  const Table table(merges);
  Llama llama(256 + static_cast<int64_t>(merges.size()));
  std::cout << pairs.size() << " questions, " << merges.size() << " merges" << std::endl;
  optim::AdamW adamw(llama->parameters(), optim::AdamWOptions(3e-3).weight_decay(0.05));
  optim::OneCycleLR schedule(
      adamw, optim::OneCycleLROptions(3e-3, options.steps).pct_start(0.1).cycle_momentum(false));
  for (int64_t step = 1; step <= options.steps; ++step) {
    Batch batch;
    for (int64_t i = 0; i < kBatch; ++i)
      batch.add(table, typed(pairs[random() % pairs.size()], random));
    const auto [x, y] = batch.tensors();
    adamw.zero_grad();
    const Tensor loss = functional::cross_entropy(llama(x).flatten(0, 1), y.flatten());
    loss.backward();
    nn::utils::clip_grad_norm_(llama->parameters(), 1.0);
    adamw.step();
    schedule.step();
    if (step % 250 == 0)
      std::cout << "step " << step << ": loss " << loss.item<float>() << std::endl;
  }
  const serialize::NamedTensors tensors = named(llama);
  std::string said;
  for (const course::Merge& each : merges)
    said += std::to_string(each.left) + " " + std::to_string(each.right) + " ";
  serialize::save_file(tensors, options.file,
                       {{"layers", std::to_string(kLayers)},
                        {"heads", std::to_string(kHeads)},
                        {"groups", std::to_string(kGroups)},
                        {"width", std::to_string(kWidth)},
                        {"hidden", std::to_string(kHidden)},
                        {"vocabulary", std::to_string(256 + merges.size())},
                        {"merges", said}});
  std::cout << "with weights of a byte: " << right(llama, table, pairs) << " of " << pairs.size()
            << " questions answered to the letter" << std::endl;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) {
    std::cerr << "make FILE [STEPS]\n";
    return 2;
  }
  Options options;
  options.file = argv[1];
  if (argc == 3) options.steps = std::stol(argv[2]);
  make(options);
} catch (const std::exception& error) {
  std::cerr << "make: " << error.what() << '\n';
  return 1;
}
