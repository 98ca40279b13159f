// Runs task 2.6: counts the calls of a function, and where they are.
#include "runner/2.6_functions.h"
#include "runner/runner.h"

namespace {
[[maybe_unused]] const auto& made_before_any_call = functions::all();
}  // namespace

void run(const Message& in, Message& out) {
  const course::Function& given = functions::all().at(in.text("function"));
  const std::vector<float> numbers = in.floats("x");
  const std::vector<double> x(numbers.begin(), numbers.end());
  long calls = 0, gradient_calls = 0, elsewhere = 0, most_changed = 0;
  std::vector<float> distances(x.size());
  const course::Function counted{
      [&](const std::vector<double>& at) {
        ++calls;
        long changed = 0;
        for (size_t i = 0; i < x.size(); ++i) {
          changed += at.at(i) != x[i];
          distances.at(i) = std::max(distances[i], static_cast<float>(std::abs(at[i] - x[i])));
        }
        most_changed = std::max(most_changed, changed);
        return given.value(at);
      },
      [&](const std::vector<double>& at) {
        ++gradient_calls;
        elsewhere += at != x;
        return given.gradient(at);
      }};
  const bool right = in.has("step") ? course::gradcheck(counted, x, in.real("step"), in.real("tolerance"))
                                    : course::gradcheck(counted, x);
  out.number("right", right);
  out.number("calls", calls);
  out.number("gradient calls", gradient_calls);
  out.number("gradients elsewhere", elsewhere);
  out.number("most changed", most_changed);
  out.floats("distances", distances);
}
