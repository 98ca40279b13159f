// The elementwise cases, one text for Gradus and libtorch: who includes this says before which
// namespace `api` is.
#pragma once

#include <cstdio>
#include <string>

namespace bench {

// Calls time(name, calls, f) for every case.
template <class Time>
void elementwise(Time time) {
  for (const auto& [size, n, calls] : {std::tuple{"1e3", 1000, 2000}, {"1e5", 100000, 50},
                                       {"1e7", 10000000, 2}}) {
    const auto x = api::randn({n}), y = api::rand({n}) + 0.1;
    const auto run = [&, size = size, calls = calls](const char* op, auto f) {
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
