// Runs task 8.2: with "q" attention of rows, piece by piece; else a text, by a decoder that counts
// its products.
#include <stdexcept>

#include "core/language.h"
#include "runner/runner.h"

namespace {

using Rows = std::vector<float>;

Rows part(const Rows& all, size_t start, size_t size) {
  return {all.begin() + static_cast<long>(start), all.begin() + static_cast<long>(start + size)};
}

// What a decoder has and counts. It lies apart from the object that a student's code gets.
class Counting {
 public:
  explicit Counting(const Message& in)
      : heads_(static_cast<int>(in.number("heads"))),
        d_(static_cast<int>(in.number("d"))),
        layers_(static_cast<int>(in.number("layers"))),
        width_(static_cast<size_t>(heads_) * static_cast<size_t>(d_)),
        table_(in.floats("table")),
        places_(in.floats("places")),
        q_(in.floats("wq")),
        k_(in.floats("wk")),
        v_(in.floats("wv")),
        o_(in.floats("wo")),
        head_(in.floats("head")),
        vocabulary_(head_.size() / width_) {}
  int layers() const { return layers_; }
  int heads() const { return heads_; }
  int d() const { return d_; }

  Rows embed(const std::vector<int>& tokens, long place) {
    if (place < 0 || (static_cast<size_t>(place) + tokens.size()) * width_ > places_.size())
      throw std::runtime_error("embed got " + std::to_string(tokens.size()) +
                               " tokens from place " + std::to_string(place) +
                               " on, where the text has " +
                               std::to_string(places_.size() / width_) + " places");
    Rows out;
    for (const int token : tokens) {
      if (token < 0 || static_cast<size_t>(token) >= vocabulary_)
        throw std::runtime_error("embed got token " + std::to_string(token));
      for (size_t e = 0; e < width_; ++e)
        out.push_back(table_[static_cast<size_t>(token) * width_ + e] +
                      places_[static_cast<size_t>(place) * width_ + e]);
      ++place, embedded++;
    }
    return out;
  }
  course::Projected project(int layer, const Rows& x) {
    const size_t at = matrix(layer);
    projected += rows("project", x);
    ++projections;
    return {times(x, q_, at, width_), times(x, k_, at, width_), times(x, v_, at, width_)};
  }
  Rows finish(int layer, const Rows& x, const Rows& attention) {
    const size_t at = matrix(layer);
    if (rows("finish", x) != rows("finish", attention))
      throw std::runtime_error("finish got " + std::to_string(x.size()) +
                               " numbers, and attention of " + std::to_string(attention.size()));
    finished += rows("finish", x);
    Rows out = times(attention, o_, at, width_);
    for (size_t i = 0; i < out.size(); ++i) out[i] += x[i];
    return out;
  }
  Rows logits(const Rows& x) {
    predicted += rows("logits", x);
    return times(x, head_, 0, vocabulary_);
  }

  long products = 0, embedded = 0, projected = 0, projections = 0, finished = 0, predicted = 0;

 private:
  size_t matrix(int layer) const {
    if (layer < 0 || layer >= layers_)
      throw std::runtime_error("there is no layer " + std::to_string(layer));
    return static_cast<size_t>(layer) * width_ * width_;
  }
  long rows(const char* what, const Rows& x) const {
    if (x.empty() || x.size() % width_ != 0)
      throw std::runtime_error(std::string(what) + " got " + std::to_string(x.size()) +
                               " numbers, where a row has " + std::to_string(width_));
    return static_cast<long>(x.size() / width_);
  }
  Rows times(const Rows& x, const Rows& w, size_t at, size_t columns) {
    Rows out(x.size() / width_ * columns);
    for (size_t i = 0; i < out.size(); ++i)
      for (size_t e = 0; e < width_; ++e)
        out[i] += x[i / columns * width_ + e] * w[at + e * columns + i % columns];
    products += static_cast<long>(out.size() * width_);
    return out;
  }

  int heads_, d_, layers_;
  size_t width_;
  Rows table_, places_, q_, k_, v_, o_, head_;
  size_t vocabulary_;
};

Counting* counting = nullptr;

struct Shown final : course::Decoder {
  int layers() const override { return counting->layers(); }
  int heads() const override { return counting->heads(); }
  int d() const override { return counting->d(); }
  Rows embed(const std::vector<int>& tokens, long place) override {
    return counting->embed(tokens, place);
  }
  course::Projected project(int layer, const Rows& x) override {
    return counting->project(layer, x);
  }
  Rows finish(int layer, const Rows& x, const Rows& attention) override {
    return counting->finish(layer, x, attention);
  }
  Rows logits(const Rows& x) override { return counting->logits(x); }
};

}  // namespace

void run(const Message& in, Message& out) {
  if (in.has("q")) {
    const Rows q = in.floats("q"), k = in.floats("k"), v = in.floats("v");
    const auto heads = static_cast<int>(in.number("heads")), d = static_cast<int>(in.number("d"));
    course::KvCache cache{in.floats("cached_k"), in.floats("cached_v")};
    Rows all;
    size_t at = 0;
    for (const long piece : in.longs("pieces")) {
      const size_t size =
          static_cast<size_t>(piece) * static_cast<size_t>(heads) * static_cast<size_t>(d);
      const Rows got = course::attend(
          cache, {part(q, at, size), part(k, at, size), part(v, at, size)}, heads, d);
      if (got.size() != size)
        throw std::runtime_error("attend gave " + std::to_string(got.size()) + " numbers for " +
                                 std::to_string(size) + " numbers of q");
      all.insert(all.end(), got.begin(), got.end());
      at += size;
    }
    out.floats("out", all);
    out.floats("k", cache.k);
    out.floats("v", cache.v);
    return;
  }
  Counting decoder(in);
  counting = &decoder;
  Shown shown;
  const std::vector<long> prompt = in.longs("prompt");
  const std::vector<int> written =
      course::generate(shown, {prompt.begin(), prompt.end()}, static_cast<int>(in.number("count")));
  out.longs("written", {written.begin(), written.end()});
  out.number("products", decoder.products);
  out.number("embedded", decoder.embedded);
  out.number("projected", decoder.projected);
  out.number("projections", decoder.projections);
  out.number("finished", decoder.finished);
  out.number("predicted", decoder.predicted);
}
