// Runs task 8.3: the probabilities, or with "draws" so many tokens that are drawn by the numbers of
// a list.
#include "core/language.h"
#include "runner/runner.h"

namespace {

// The numbers of a list, over and over.
struct Numbers final : course::Random {
  explicit Numbers(std::vector<float> given) : values(std::move(given)) {}
  float next() override { return values[static_cast<size_t>(calls++) % values.size()]; }
  std::vector<float> values;
  long calls = 0;
};

}  // namespace

void run(const Message& in, Message& out) {
  const std::vector<float> logits = in.floats("logits");
  const course::Sampling sampling{in.real("temperature"), static_cast<int>(in.number("top_k")),
                                  in.real("top_p")};
  if (!in.has("draws")) {
    out.floats("probabilities", course::probabilities(logits, sampling));
    return;
  }
  Numbers random(in.floats("random"));
  std::vector<long> tokens;
  for (long i = 0; i < in.number("draws"); ++i)
    tokens.push_back(course::sample(logits, sampling, random));
  out.longs("tokens", tokens);
  out.number("calls", random.calls);
}
