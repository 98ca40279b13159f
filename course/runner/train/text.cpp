// A stage of ./train: a transformer of one block, made of the student's kernels, learns a text and
// goes on with it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <list>
#include <optional>
#include <string>

#include "core/cuda.h"
#include "core/transformer.h"
#include "runner/gpu_array.h"
#include "runner/train/images.h"
#include "runner/train/numbers.h"

namespace {

namespace gpu = course::gpu;

constexpr int kWidth = 16, kLong = 4 * kWidth,
              kWindow = 16;  // of a row, of a row between the two layers behind attention
const std::string kText =
    "to be, or not to be, that is the question: whether it is nobler in the mind to suffer the "
    "slings and arrows of "
    "outrageous fortune, or to take arms against a sea of troubles, and by opposing end them. ";

using train::Numbers;

class Transformer final : public course::TextModel {
 public:
  explicit Transformer(int vocabulary) : vocabulary_(vocabulary) {
    for (const int rows : {vocabulary, kWindow, kWidth, kWidth, kWidth, kWidth})
      add(rows, kWidth, 1 / std::sqrt(float{kWidth}));
    for (int norm = 0; norm < 2; ++norm) add(1, kWidth, 0, 1), add(1, kWidth, 0);
    add(kWidth, kLong, 1 / std::sqrt(float{kWidth}));
    add(1, kLong, 0);
    add(kLong, kWidth, 1 / std::sqrt(float{kLong}));
    add(kWidth, vocabulary, 1 / std::sqrt(float{kWidth}));
  }
  int vocabulary() const override { return vocabulary_; }
  int window() const override { return kWindow; }
  void zero_grad() override {}  // backward replaces them

  std::vector<float> forward(const std::vector<int>& ids, int pieces, int length) override {
    Pass& p = pass_.emplace(ids, pieces, length, vocabulary_);
    gpu::embedding(p.x, w(kTable), w(kPlaces), p.tokens(), p.rows, length, kWidth);
    gpu::layer_norm(p.first, p.mean1, p.rstd1, p.x, w(kScale1), w(kShift1), p.rows, kWidth);
    product(p.q, p.first, kQuery), product(p.k, p.first, kKey), product(p.v, p.first, kValue);
    gpu::causal_attention(p.seen, p.weights, p.q, p.k, p.v, pieces, length, kWidth);
    product(p.moved, p.seen, kOut);
    sum(p.middle, p.x, p.moved);
    gpu::layer_norm(p.second, p.mean2, p.rstd2, p.middle, w(kScale2), w(kShift2), p.rows, kWidth);
    product(p.wide, p.second, kUp);
    gpu::bias_gelu(p.bent, p.wide, w(kBias), p.rows, kLong);
    product(p.moved, p.bent, kDown);
    sum(p.last, p.middle, p.moved);
    product(p.logits, p.last, kLogits);
    return p.logits.take();
  }

  void backward(const std::vector<float>& dlogits) override {
    const Pass& p = *pass_;
    const size_t narrow = p.x.size(), wide = p.wide.size();
    const GpuArray top(dlogits), last(narrow), bent(wide), up(wide), second(narrow), norm(narrow),
        middle(narrow), seen(narrow);
    const GpuArray q(narrow), k(narrow), v(narrow), scratch(p.weights.size()), part(narrow),
        two(narrow), first(narrow), x(narrow);
    slopes(last, kLogits, top, p.last);
    slopes(bent, kDown, last, p.bent);
    gpu::bias_gelu_backward(up, g(kBias), bent, p.wide, w(kBias), p.rows, kLong);
    slopes(second, kUp, up, p.second);
    gpu::layer_norm_backward(norm, g(kScale2), g(kShift2), second, p.middle, w(kScale2), p.mean2,
                             p.rstd2, p.rows, kWidth);
    sum(middle, last, norm);
    slopes(seen, kOut, middle, p.seen);
    gpu::causal_attention_backward(q, k, v, scratch, seen, p.weights, p.q, p.k, p.v, p.pieces,
                                   p.length, kWidth);
    slopes(first, kQuery, q, p.first);
    slopes(part, kKey, k, p.first);
    sum(two, first, part);
    slopes(part, kValue, v, p.first);
    sum(first, two, part);
    gpu::layer_norm_backward(norm, g(kScale1), g(kShift1), first, p.x, w(kScale1), p.mean1, p.rstd1,
                             p.rows, kWidth);
    sum(x, middle, norm);
    gpu::embedding_backward(g(kTable), g(kPlaces), x, p.tokens(), p.rows, p.length, vocabulary_,
                            kWidth);
    course::check(cudaDeviceSynchronize(), "backward");
  }

  void step() override {
    gpu::AdamParams params;
    for (const Parameter& each : parameters_)
      params.list[params.count++] = {each.weight, each.slope, each.first, each.second,
                                     static_cast<long>(each.weight.size())};
    gpu::adamw_step(params, {.lr = 0.01f}, ++steps_);
  }

 private:
  enum Name {
    kTable,
    kPlaces,
    kQuery,
    kKey,
    kValue,
    kOut,
    kScale1,
    kShift1,
    kScale2,
    kShift2,
    kUp,
    kBias,
    kDown,
    kLogits
  };

  struct Parameter {
    explicit Parameter(const std::vector<float>& values, int columns_)
        : weight(values),
          slope(values.size()),
          first(values.size()),
          second(values.size()),
          columns(columns_) {}
    GpuArray weight, slope, first, second;
    int columns;
  };

  // What forward leaves for backward.
  struct Pass {
    Pass(const std::vector<int>& ids, int pieces_, int length_, int vocabulary)
        : pieces(pieces_),
          length(length_),
          rows(pieces_ * length_),
          bits(bits_of(ids)),
          logits(size(vocabulary)) {}
    static std::vector<float> bits_of(const std::vector<int>& ids) {
      std::vector<float> out;
      for (const int each : ids) out.push_back(std::bit_cast<float>(each));
      return out;
    }
    size_t size(int columns) const {
      return static_cast<size_t>(rows) * static_cast<size_t>(columns);
    }
    const int* tokens() const { return reinterpret_cast<const int*>(static_cast<float*>(bits)); }

    int pieces, length, rows;
    GpuArray bits, logits;
    GpuArray x{size(kWidth)}, first{size(kWidth)}, mean1{size(1)}, rstd1{size(1)}, q{size(kWidth)},
        k{size(kWidth)}, v{size(kWidth)};
    GpuArray weights{size(length)}, seen{size(kWidth)}, moved{size(kWidth)}, middle{size(kWidth)},
        second{size(kWidth)};
    GpuArray mean2{size(1)}, rstd2{size(1)}, wide{size(kLong)}, bent{size(kLong)},
        last{size(kWidth)};
  };

  void add(int rows, int columns, float scale, float start = 0) {
    std::vector<float> values;
    for (int i = 0; i < rows * columns; ++i)
      values.push_back(start + scale * (2 * random_.next() - 1));
    parameters_.emplace_back(values, columns);
    names_.push_back(&parameters_.back());
  }
  float* w(Name name) const { return names_[name]->weight; }
  float* g(Name name) const { return names_[name]->slope; }

  static void sum(const GpuArray& out, const GpuArray& x, const GpuArray& y) {
    const course::Layout line{1, {static_cast<long>(out.size())}, {1}};
    gpu::zip_strided(course::Op2::add, out, line, x, line, y, line);
  }
  // out = x w
  void product(const GpuArray& out, const GpuArray& x, Name name) const {
    const int columns = names_[name]->columns,
              depth = static_cast<int>(names_[name]->weight.size()) / columns;
    gpu::matmul_register(out, {x, depth, 1}, {w(name), columns, 1},
                         static_cast<int>(out.size()) / columns, columns, depth);
  }
  // The gradients of x and w, where y = x w.
  void slopes(const GpuArray& dx, Name name, const GpuArray& dy, const GpuArray& x) const {
    const int columns = names_[name]->columns,
              depth = static_cast<int>(names_[name]->weight.size()) / columns;
    const int rows = static_cast<int>(dy.size()) / columns;
    gpu::matmul_register(dx, {dy, columns, 1}, {w(name), 1, columns}, rows, depth, columns);
    gpu::matmul_register(g(name), {x, 1, depth}, {dy, columns, 1}, depth, columns, rows);
  }

  int vocabulary_;
  Numbers random_;
  std::list<Parameter> parameters_;
  std::vector<Parameter*> names_;
  std::optional<Pass> pass_;
  long steps_ = 0;
};

}  // namespace

int main() {
  return train::run([](const train::Task& task) {
    std::string letters = kText;
    std::sort(letters.begin(), letters.end());
    letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
    const auto tokens = [&](const std::string& text) {
      std::vector<int> out;
      for (const char each : text) out.push_back(static_cast<int>(letters.find(each)));
      return out;
    };
    Transformer model(static_cast<int>(letters.size()));
    Numbers random;
    for (long epoch = 0; epoch < task.epochs; ++epoch) {
      const std::vector<float> losses = course::train_text(model, tokens(kText), 4, 20, random);
      std::string written;
      for (const int each : course::write_text(model, tokens("to be, or"), 40, 0, random))
        written += letters.at(static_cast<size_t>(each));
      std::printf("  step %ld: loss %.3f, \"to be, or\" goes on \"%s\"\n", 20 * (epoch + 1),
                  losses.at(19), written.c_str());
      std::fflush(stdout);
    }
  });
}
