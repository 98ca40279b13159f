// Runs task 7.6: the loss of some logits; a training; or a text. The model is a table of logits for
// the token after each token, which learns by gradient descent and notes what it is asked for. With a
// "vocabulary" the table may have fewer rows than there are tokens, which share them in turn.
#include <stdexcept>

#include "core/transformer.h"
#include "runner/runner.h"

namespace {

std::vector<int> ints(const std::vector<long>& values) { return {values.begin(), values.end()}; }

std::vector<long> longs(const std::vector<int>& values) { return {values.begin(), values.end()}; }

class Table final : public course::TextModel {
 public:
  Table(std::vector<float> logits, size_t vocabulary, int window, float lr)
      : logits_(std::move(logits)), slopes_(logits_.size(), 1000.0f), width_(vocabulary), window_(window), lr_(lr) {
    if (vocabulary == 0)
      while (width_ * width_ < logits_.size()) ++width_;
  }
  int vocabulary() const override { return static_cast<int>(width_); }
  int window() const override { return window_; }

  void zero_grad() override {
    events += 'z';
    slopes_.assign(slopes_.size(), 0.0f);
  }

  std::vector<float> forward(const std::vector<int>& ids, int pieces, int length) override {
    events += 'f';
    if (pieces < 1 || length < 1 || length > window_ ||
        ids.size() != static_cast<size_t>(pieces) * static_cast<size_t>(length))
      throw std::runtime_error("forward got " + std::to_string(ids.size()) + " tokens, " +
                               std::to_string(pieces) + " pieces of " + std::to_string(length));
    std::vector<float> out;
    for (const int id : ids) {
      if (id < 0 || static_cast<size_t>(id) >= width_)
        throw std::runtime_error("forward got token " + std::to_string(id));
      seen.push_back(id);
      const auto row = logits_.begin() + static_cast<long>(row_of(id));
      out.insert(out.end(), row, row + vocabulary());
    }
    lengths.push_back(length);
    ids_ = ids;
    return out;
  }

  void backward(const std::vector<float>& dlogits) override {
    events += 'b';
    if (dlogits.size() != ids_.size() * width_)
      throw std::runtime_error("backward got " + std::to_string(dlogits.size()) + " numbers");
    for (size_t i = 0; i < dlogits.size(); ++i)
      slopes_[row_of(ids_[i / width_]) + i % width_] += dlogits[i];
  }

  void step() override {
    events += 's';
    for (size_t i = 0; i < logits_.size(); ++i) logits_[i] -= lr_ * slopes_[i];
  }

  const std::vector<float>& logits() const { return logits_; }
  std::string events;
  std::vector<long> seen, lengths;

 private:
  // Where the row of a token begins.
  size_t row_of(int id) const { return static_cast<size_t>(id) * width_ % logits_.size(); }

  std::vector<float> logits_, slopes_;
  std::vector<int> ids_;
  size_t width_;
  int window_;
  float lr_;
};

// The numbers of a list, over and over.
struct Listed final : course::Random {
  explicit Listed(std::vector<float> values) : numbers(std::move(values)) {}
  float next() override { return numbers[static_cast<size_t>(calls++) % numbers.size()]; }
  std::vector<float> numbers;
  long calls = 0;
};

}  // namespace

void run(const Message& in, Message& out) {
  if (in.has("targets")) {
    std::vector<float> dlogits(3, 1000.0f);
    out.floats("loss",
               {course::cross_entropy(dlogits, in.floats("logits"), ints(in.longs("targets")))});
    out.floats("dlogits", dlogits);
    return;
  }
  const size_t vocabulary = in.has("vocabulary") ? static_cast<size_t>(in.number("vocabulary")) : 0;
  Table model(in.floats("logits"), vocabulary, static_cast<int>(in.number("window")), in.real("lr"));
  Listed random(in.floats("random"));
  if (in.has("text"))
    out.floats("losses", course::train_text(model, ints(in.longs("text")),
                                            static_cast<int>(in.number("pieces")),
                                            static_cast<int>(in.number("steps")), random));
  out.longs("seen", model.seen);
  if (in.has("prompt")) {
    model.seen.clear(), model.lengths.clear();
    const long calls = random.calls;
    out.longs("written", longs(course::write_text(model, ints(in.longs("prompt")),
                                                  static_cast<int>(in.number("count")),
                                                  in.real("temperature"), random)));
    out.longs("read", model.seen);
    out.longs("lengths", model.lengths);
    out.number("drawn", random.calls - calls);
  }
  out.floats("model", model.logits());
  out.text("events", model.events);
  out.number("calls", random.calls);
}
