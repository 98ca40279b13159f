// Runs task 4.5: the part that "function" names.
#include <stdexcept>

#include "core/recipe.h"
#include "runner/runner.h"

namespace {

// The numbers of a list, over and over.
struct Listed final : course::Random {
  explicit Listed(std::vector<float> values) : numbers(std::move(values)) {}
  float next() override { return numbers[static_cast<size_t>(calls++) % numbers.size()]; }
  std::vector<float> numbers;
  long calls = 0;
};

void initialize(const Message& in, Message& out) {
  const long outputs = in.number("outputs"), inputs = in.number("inputs");
  Listed random(in.floats("random"));
  std::vector<float> w(static_cast<size_t>(outputs * inputs), 1000.0f);
  course::initialize(w.data(), outputs, inputs, in.real("gain"), random);
  out.floats("w", w);
  out.number("calls", random.calls);
}

void clip(const Message& in, Message& out) {
  std::vector<float> numbers = in.floats("gradients");
  std::vector<course::Gradient> gradients;
  float* at = numbers.data();
  for (const long size : in.longs("sizes")) {
    gradients.push_back({at, size});
    at += size;
  }
  out.floats("norm", {course::clip_gradients(gradients, in.real("most"))});
  out.floats("gradients", numbers);
}

// x goes through once for each number of "modes", 1 in training; then dy goes back, each time: after a change to the mode that
// "modes back" has, where it is sent.
void dropout(const Message& in, Message& out) {
  course::Dropout layer(in.real("p"));
  Listed random(in.floats("random"));
  std::vector<float> results, slopes;
  const std::vector<long> modes = in.longs("modes"), back = in.has("modes back") ? in.longs("modes back") : std::vector<long>{};
  for (size_t i = 0; i < modes.size(); ++i) {
    if (modes[i] >= 0) layer.train(modes[i] != 0);
    for (const float each : layer.forward(in.floats("x"), random)) results.push_back(each);
    if (i < back.size()) layer.train(back[i] != 0);
    for (const float each : layer.backward(in.floats("dy"))) slopes.push_back(each);
  }
  out.floats("y", results);
  out.floats("dx", slopes);
  out.number("calls", random.calls);
}

}  // namespace

void run(const Message& in, Message& out) {
  const std::string function = in.text("function");
  if (function == "initialize") {
    initialize(in, out);
  } else if (function == "clip") {
    clip(in, out);
  } else if (function == "dropout") {
    dropout(in, out);
  } else if (function == "rates") {
    const course::Schedule schedule{in.real("lr"), in.real("least"), in.number("warmup"),
                                    in.number("steps")};
    std::vector<float> rates;
    for (const long step : in.longs("at")) rates.push_back(course::learning_rate(schedule, step));
    out.floats("rates", rates);
  } else {
    throw std::logic_error("there is no function " + function);
  }
}
