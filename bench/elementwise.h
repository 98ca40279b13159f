// The elementwise cases, one text for Gradus and libtorch. Who includes this has said before which
// of the two the namespace `api` is.
#pragma once

#include <string>
#include <tuple>

namespace bench {

// Calls time(name, calls, f) for every case; `calls` calls of f take about a millisecond, but for
// the largest ones.
template <class Time>
void elementwise(Time time) {
  const std::tuple<const char*, int, int> sizes[] = {
      {"1e3", 1000, 1000}, {"1e5", 100000, 20}, {"1e7", 10000000, 1}};
  for (const auto& [size, n, calls] : sizes) {
    const auto x = api::randn({n}), y = api::rand({n}) + 0.1;
    const auto run = [&, size = size, calls = calls](const char* op, const auto& f) {
      time((op + std::string(", ") + size).c_str(), calls, f);
    };
    run("a + b", [&] { return x + y; });
    run("a * b", [&] { return x * y; });
    run("a > b", [&] { return x > y; });
    run("relu", [&] { return api::relu(x); });
    run("exp", [&] { return api::exp(x); });
    run("log", [&] { return api::log(y); });
    run("sigmoid", [&] { return api::sigmoid(x); });
    run("tanh", [&] { return api::tanh(x); });
    run("sin", [&] { return api::sin(x); });
    run("gelu", [&] { return api::gelu(x); });
  }
}

}  // namespace bench
