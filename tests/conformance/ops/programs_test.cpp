// Random programs over all dtypes, numbers and tensors without dimensions, against PyTorch's values
// (tests/conformance/golden/make_programs.py).
#include <fstream>
#include <set>

#include "tests/conformance/golden/golden.h"
#include "tests/support.h"

namespace gradus::test {
namespace {

// GRADUS_PROGRAMS may name a longer file, which make_programs.py writes.
const Golden& programs() {
  static const Golden all = [] {
    const char* const other = std::getenv("GRADUS_PROGRAMS");
    if (!other) return Golden(recorded("golden/programs.txt"));
    std::ifstream file(other);
    return Golden({std::istreambuf_iterator<char>(file), {}});
  }();
  return all;
}

// An argument: a tensor, or a number.
struct Argument {
  Tensor tensor;
  Scalar number;
  bool is_number() const { return !tensor.defined(); }
};
using Arguments = std::vector<Argument>;
using Function = std::function<Tensor(const Arguments&)>;

// f of two operands of which one or none is a number.
template <class F>
Function on_either(F f) {
  return [f](const Arguments& a) {
    if (a[0].is_number()) return f(a[0].number, a[1].tensor);
    return a[1].is_number() ? f(a[0].tensor, a[1].number) : f(a[0].tensor, a[1].tensor);
  };
}
// The same where the first is a tensor.
template <class F>
Function on_tensor(F f) {
  return [f](const Arguments& a) {
    return a[1].is_number() ? f(a[0].tensor, a[1].number) : f(a[0].tensor, a[1].tensor);
  };
}
template <class F>
Function on_tensors(F f) {
  return [f](const Arguments& a) { return f(a[0].tensor, a[1].tensor); };
}

#define ON_EITHER(name)                                                       \
  {                                                                           \
#name, on_either([](const auto& x, const auto& y) { return name(x, y); }) \
  }
#define ON_TENSOR(name)                                                       \
  {                                                                           \
#name, on_tensor([](const auto& x, const auto& y) { return name(x, y); }) \
  }
#define ON_TENSORS(name)                                                       \
  {                                                                            \
#name, on_tensors([](const auto& x, const auto& y) { return name(x, y); }) \
  }
#define IN_PLACE(name)                                                                        \
  {                                                                                           \
#name "_", on_tensor([](const Tensor& x, const auto& y) { return x.clone().name##_(y); }) \
  }
#define WITH(name, value)                                    \
  {                                                          \
    name, [](const Arguments& a) -> Tensor { return value; } \
  }

std::map<std::string, Function> functions(const Tensor& condition) {
  const auto number = [](const Argument& a) { return a.number.toDouble(); };
  using A = const Arguments&;
  return {
      ON_EITHER(add),
      ON_EITHER(sub),
      ON_EITHER(mul),
      ON_EITHER(div),
      ON_EITHER(pow),
      ON_EITHER(remainder),
      ON_TENSOR(fmod),
      ON_TENSOR(floor_divide),
      ON_TENSOR(div_trunc),
      ON_TENSOR(eq),
      ON_TENSOR(ne),
      ON_TENSOR(lt),
      ON_TENSOR(le),
      ON_TENSOR(gt),
      ON_TENSOR(ge),
      ON_TENSORS(maximum),
      ON_TENSORS(minimum),
      ON_TENSORS(fmax),
      ON_TENSORS(atan2),
      ON_TENSORS(copysign),
      ON_TENSORS(xlogy),
      IN_PLACE(add),
      IN_PLACE(sub),
      IN_PLACE(mul),
      IN_PLACE(div),
      IN_PLACE(pow),
      IN_PLACE(remainder),
      IN_PLACE(fmod),
      IN_PLACE(floor_divide),
      IN_PLACE(div_trunc),
      IN_PLACE(eq),
      IN_PLACE(lt),
      {"where",
       [condition](A a) {
         if (a[0].is_number() && a[1].is_number())
           return where(condition, a[0].number, a[1].number);
         return on_either([&](const auto& x, const auto& y) { return where(condition, x, y); })(a);
       }},
      {"add_scaled", [](A a) { return add(a[0].tensor, a[1].tensor, a[2].number); }},
      {"sub_scaled", [](A a) { return sub(a[0].tensor, a[1].tensor, a[2].number); }},
      {"rsub", [](A a) { return rsub(a[0].tensor, a[1].tensor, a[2].number); }},
      {"lerp", [](A a) { return lerp(a[0].tensor, a[1].tensor, a[2].number); }},
      {"lerp_by", [](A a) { return lerp(a[0].tensor, a[1].tensor, a[2].tensor); }},
      {"addcmul", [](A a) { return addcmul(a[0].tensor, a[1].tensor, a[2].tensor, a[3].number); }},
      {"addcdiv", [](A a) { return addcdiv(a[0].tensor, a[1].tensor, a[2].tensor, a[3].number); }},
      {"clamp", [](A a) { return clamp(a[0].tensor, a[1].number, a[2].number); }},
      {"clamp_by", [](A a) { return clamp(a[0].tensor, a[1].tensor, a[2].tensor); }},
      {"clamp_min", [](A a) { return clamp_min(a[0].tensor, a[1].number); }},
      {"clamp_max", [](A a) { return clamp_max(a[0].tensor, a[1].number); }},
      {"leaky_relu", [](A a) { return leaky_relu(a[0].tensor, a[1].number); }},
      {"elu", [](A a) { return elu(a[0].tensor, a[1].number); }},
      {"celu", [](A a) { return celu(a[0].tensor, a[1].number); }},
      {"threshold", [](A a) { return threshold(a[0].tensor, a[1].number, a[2].number); }},
      {"hardtanh", [](A a) { return hardtanh(a[0].tensor, a[1].number, a[2].number); }},
      {"hardshrink", [](A a) { return hardshrink(a[0].tensor, a[1].number); }},
      {"softshrink", [](A a) { return softshrink(a[0].tensor, a[1].number); }},
      {"softplus", [](A a) { return softplus(a[0].tensor, a[1].number, a[2].number); }},
      {"nan_to_num", [number](A a) { return nan_to_num(a[0].tensor, number(a[1]), number(a[2])); }},
      {"add_scaled_", [](A a) { return a[0].tensor.clone().add_(a[1].tensor, a[2].number); }},
      {"lerp_", [](A a) { return a[0].tensor.clone().lerp_(a[1].tensor, a[2].number); }},
      {"addcmul_",
       [](A a) { return a[0].tensor.clone().addcmul_(a[1].tensor, a[2].tensor, a[3].number); }},
      {"addcdiv_",
       [](A a) { return a[0].tensor.clone().addcdiv_(a[1].tensor, a[2].tensor, a[3].number); }},
      {"clamp_", [](A a) { return a[0].tensor.clone().clamp_(a[1].number, a[2].number); }},
      {"leaky_relu_", [](A a) { return a[0].tensor.clone().leaky_relu_(a[1].number); }},
      {"elu_", [](A a) { return a[0].tensor.clone().elu_(a[1].number); }},
      {"threshold_", [](A a) { return a[0].tensor.clone().threshold_(a[1].number, a[2].number); }},
  };
}
#undef ON_EITHER
#undef ON_TENSOR
#undef ON_TENSORS
#undef IN_PLACE

// Functions that have one right result, to the last bit; others may round otherwise.
const std::set<std::string> kExact = {
    "add",          "sub",       "mul",        "div",        "remainder", "fmod",
    "floor_divide", "div_trunc", "eq",         "ne",         "lt",        "le",
    "gt",           "ge",        "maximum",    "minimum",    "fmax",      "copysign",
    "where",        "clamp",     "clamp_by",   "clamp_min",  "clamp_max", "leaky_relu",
    "threshold",    "hardtanh",  "hardshrink", "softshrink", "nan_to_num"};

// Whether both are NaN or one number; of the sign of 0 nothing is said.
bool same_bits(const Tensor& got, const Tensor& expected) {
  const std::vector<double> x = to_vector(got), y = to_vector(expected);
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
  return true;
}

// Runs the programs with tensors of so many rows of four elements.
void run_programs(Device device, int64_t rows) {
  const Golden& golden = programs();
  ASSERT_FALSE(golden.cases.empty());
  const auto input = [&](const Tensor& x) {
    return (x.dim() == 1 && x.numel() == 4 && rows > 1 ? x.repeat({rows, 1}) : x).to(device);
  };
  const auto all = functions(input(golden["ba"]));
  Tensor last;
  int64_t found = 0;
  for (const GoldenCase& c : golden.cases) {
    SCOPED_TRACE(c.text);
    Arguments arguments;
    for (size_t i = 1; i < c.words.size(); ++i) {
      const std::string& word = c.words[i];
      if (word == "$")
        arguments.push_back({last, 0});
      else if (golden.lets.contains(word))
        arguments.push_back({input(golden[word]), 0});
      else if (word.find_first_of(".ein") == std::string::npos)
        arguments.push_back({Tensor(), std::stoll(word)});
      else
        arguments.push_back({Tensor(), std::strtod(word.c_str(), nullptr)});
    }
    const Function& function = all.at(c.words[0]);
    if (!c.expected.defined()) {
      // A GPU, which would have to be waited for, says nothing of divisions by 0.
      if (device.is_cpu()) {
        EXPECT_THROW(function(arguments), Error) << "PyTorch refuses this";
      }
      continue;
    }
    const Tensor expected = input(c.expected);
    last = expected;
    const std::string name = c.words[0].substr(0, c.words[0].find_last_not_of('_') + 1);
    try {
      const Tensor got = function(arguments);
      const bool exact = kExact.contains(name) && !(name == "div" && arguments[0].is_number());
      const auto near = same(got, expected, 16);
      if (near && (!exact || same_bits(got, expected))) continue;
      ADD_FAILURE() << "got " << got.flatten().slice(0, 0, 4) << "\nexpected "
                    << expected.flatten().slice(0, 0, 4) << near.message();
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    if (++found == 50) return;
  }
}

TEST(Programs, GiveWhatPyTorchGives) { run_programs(kCPU, 1); }
TEST(Programs, GiveItInLongTensors) { run_programs(kCPU, 33); }
TEST(Programs, GiveItOnAGpu) {
  if (cuda::is_available()) run_programs(kCUDA, 1);
}

}  // namespace
}  // namespace gradus::test
