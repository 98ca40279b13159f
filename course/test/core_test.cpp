// Trains by the course's core alone: operations of module 1, recorded and differentiated by module 2.
#include <cmath>
#include <cstdio>
#include <string>

#include "core/cpu.h"
#include "core/model.h"
#include "core/operations.h"

// Whoever links the core gives it threads, or, as here, none.
__attribute__((weak)) void course::cpu::parallel_for(long n, const std::function<void(long begin, long end)>& body) {
  body(0, n);
}

namespace {

using namespace course;  // NOLINT: the framework under test

int failures = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

Tensor tensor(const Dims& sizes, const std::vector<float>& values) {
  const Tensor out = make(sizes);
  std::copy(values.begin(), values.end(), out.write());
  return out;
}

float item(const Tensor& x) { return x.read()[0]; }

void step(std::vector<Tensor>& weights, float rate) {
  for (const Tensor& each : weights) {
    Tensor& gradient = each.node->gradient;
    float* const to = each.write();
    for (long i = 0; i < each.count(); ++i) to[i] -= rate * gradient.read()[i];
    gradient = {};
  }
}

// Whether gradcheck() finds f's gradient right. f goes from leaves of these sizes to any tensor.
bool checked(const std::vector<Dims>& sizes, const std::vector<double>& at,
             const std::function<Tensor(const std::vector<Tensor>&)>& f) {
  const auto run = [&](const std::vector<double>& x, std::vector<Tensor>& leaves) {
    size_t next = 0;
    for (const Dims& each : sizes) {
      const Tensor one = make(each);
      for (long i = 0; i < one.count(); ++i) one.write()[i] = static_cast<float>(x.at(next++));
      leaves.push_back(leaf(one));
    }
    // The elements of the result weigh differently, so that a mix-up shows.
    const Tensor y = f(leaves), weights = make(y.sizes);
    for (long i = 0; i < y.count(); ++i) weights.write()[i] = 0.5f + 0.25f * static_cast<float>(i);
    return sum(y * weights);
  };
  const Function function{
      [&](const std::vector<double>& x) {
        std::vector<Tensor> leaves;
        return static_cast<double>(item(run(x, leaves)));
      },
      [&](const std::vector<double>& x) {
        std::vector<Tensor> leaves;
        backward(run(x, leaves).node.get(), make({}, 1));
        std::vector<double> out;
        for (const Tensor& each : leaves)
          out.insert(out.end(), each.node->gradient.read(), each.node->gradient.read() + each.count());
        return out;
      }};
  return gradcheck(function, at, 1e-2, 1e-2);
}

void every_operation() {
  const std::vector<double> six = {0.5, 1.25, -0.75, 1.5, -1.25, 2};
  const std::vector<double> positive = {0.5, 1.25, 0.75, 1.5, 1.75, 2};
  for (const Op1 op : {Op1::neg, Op1::exp, Op1::relu, Op1::sigmoid, Op1::tanh, Op1::square, Op1::log})
    expect(checked({{2, 3}}, op == Op1::log ? positive : six, [op](const auto& x) { return map(op, x[0]); }),
           "gradient of operation " + std::to_string(static_cast<int>(op)) + " on one number");
  for (const Op2 op : {Op2::add, Op2::sub, Op2::mul, Op2::div, Op2::maximum}) {
    const std::string name = " of operation " + std::to_string(static_cast<int>(op)) + " on two numbers";
    const auto f = [op](const auto& x) { return zip(op, x[0], x[1]); };
    expect(checked({{3}, {3}}, positive, f), "gradient" + name);
    expect(checked({{2, 2}, {2}}, positive, f), "gradient, broadcast by a new dimension," + name);
    expect(checked({{2, 1}, {1, 3}}, {0.5, 1.25, 0.75, 1.5, 1.75}, f), "gradient, both broadcast," + name);
    expect(checked({{}, {5}}, positive, f), "gradient, with a single number," + name);
  }
  expect(checked({{2, 3}, {3, 1}}, {1, 2, -1, 0.5, 3, -2, 1, -0.5, 2}, [](const auto& x) { return matmul(x[0], x[1]); }),
         "gradient of matmul");
  expect(checked({{2, 3}}, six, [](const auto& x) { return sum(x[0]) * x[0]; }), "gradient of sum");
  expect(checked({{2}, {2}}, {0.5, 1.5, -0.5, 2}, [](const auto& x) {
           const Tensor shared = tanh(x[0] * x[1]);
           return shared * shared + exp(-shared) / (sigmoid(x[0]) + x[0] * x[0]);
         }), "gradient of a graph with shared nodes");
}

void a_line() {
  const Tensor x = tensor({4, 1}, {-1, 0, 1, 2}), y = tensor({4, 1}, {-1, 1, 3, 5}), quarter = make({}, 0.25f);
  std::vector<Tensor> weights = {leaf(make({1, 1})), leaf(make({1}))};
  for (int i = 0; i < 200; ++i) {
    const Tensor loss = sum(square(matmul(x, weights[0]) + weights[1] - y)) * quarter;
    backward(loss.node.get(), make(loss.sizes, 1));
    step(weights, 0.2f);
  }
  std::printf("y = 2x + 1: found y = %.4fx + %.4f\n", item(weights[0]), item(weights[1]));
  expect(std::abs(item(weights[0]) - 2) < 1e-3 && std::abs(item(weights[1]) - 1) < 1e-3, "the line is learned");
}

void exclusive_or() {
  const Tensor x = tensor({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), y = tensor({4, 1}, {0, 1, 1, 0}), one = make({}, 1);
  std::vector<Tensor> weights = {leaf(tensor({2, 4}, {0.9f, -0.6f, 0.7f, -0.2f, -0.8f, 0.5f, 0.4f, 0.7f})),
                                 leaf(make({4})), leaf(tensor({4, 1}, {0.6f, -0.9f, 0.3f, 0.8f})), leaf(make({1}))};
  float first = 0, last = 0;
  Tensor p;
  for (int i = 0; i < 500; ++i) {
    p = sigmoid(matmul(tanh(matmul(x, weights[0]) + weights[1]), weights[2]) + weights[3]);
    const Tensor loss = -sum(y * log(p) + (one - y) * log(one - p));  // cross entropy
    backward(loss.node.get(), make(loss.sizes, 1));
    step(weights, 0.3f);
    (i == 0 ? first : last) = item(loss);
  }
  std::printf("XOR: loss %.3f, then %.5f; found %.3f %.3f %.3f %.3f\n", first, last, p.read()[0], p.read()[1], p.read()[2],
              p.read()[3]);
  for (int i = 0; i < 4; ++i) expect((p.read()[i] > 0.5f) == (y.read()[i] > 0.5f), "XOR is learned");
  expect(last < 0.05f * first, "the loss of XOR falls");
}

void mistakes() {
  const Tensor x = leaf(make({3}, 2));
  const Tensor y = sum(square(x));
  x.write()[0] = 1;  // square needs the x that it got
  bool threw = false;
  try {
    backward(y.node.get(), make({}, 1));
  } catch (const std::runtime_error&) {
    threw = true;
  }
  expect(threw, "backward() notices that a saved tensor was changed");
}

void memory() {
  std::weak_ptr<Storage> kept;
  Tensor x = leaf(make({3}, 2));
  {
    Tensor y = exp(x);  // saves its own result
    kept = y.storage;
    for (int i = 0; i < 200000; ++i) y = -y;  // deeper than the stack
  }
  expect(kept.expired(), "a graph is freed with the last tensor that needs it");
}

bool is_header(const std::string& text) {
  try {
    parse_header(text);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

void headers() {
  const std::string text = R"({"__metadata__" : {"heads":"4", "a\"b":"x y"}, "w": {"dtype":"F32","shape":[2, 3],"data_offsets":[8,32]},
 "b":{"shape":[],"data_offsets":[0,0],"dtype":"I8"}} )";
  const Header header = parse_header(text);
  const Entry& w = header.entry("w");
  expect(w.dtype == "F32" && w.shape == Dims{2, 3} && w.begin == 8 && w.end == 32, "a tensor of a header");
  expect(header.entries.size() == 2 && header.entries[1].name == "b" && header.entries[1].shape.empty(), "the last tensor of a header");
  expect(header.number("heads") == 4 && header.metadata.at("a\"b") == "x y", "metadata of a header");
  for (size_t size = 0; size + 1 < text.size(); ++size)
    expect(!is_header(text.substr(0, size)), "a header of " + std::to_string(size) + " bytes is cut off");
  const std::string tensor = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  expect(is_header(tensor) && is_header("{}"), "short headers");
  const std::pair<const char*, const char*> changes[] = {
      {"[1]", "[-1]"}, {"[1]", "[1.5]"}, {"[1]", "[1,]"}, {"[1]", "[9223372036854775808]"}, {"[1]", "1"}, {"[0,4]", "[0]"},
      {"[0,4]", "[0,4,4]"}, {"\"F32\"", "32"}, {"\"F32\"", "\"\""}, {",\"shape\":[1]", ""}, {"\"dtype\":\"F32\",", ""},
      {"\"shape\"", "\"size\""}, {"\"x\"", "x"}, {"\"x\"", "\"\\u0041\""}, {":{", "{"}, {"}}", "},}"}, {"}}", "}} {}"}};
  for (const auto& [from, to] : changes)
    expect(!is_header(std::string(tensor).replace(tensor.find(from), std::string(from).size(), to)), std::string("a header with ") + to);
  expect(is_header(std::string(tensor).replace(tensor.find("[1]"), 3, "[9223372036854775807]")), "the largest number");
}

}  // namespace

int main() {
  headers();
  every_operation();
  a_line();
  exclusive_or();
  mistakes();
  memory();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
