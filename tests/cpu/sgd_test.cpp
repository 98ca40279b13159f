#include <gtest/gtest.h>

#include "tests/random.h"

namespace gradus::test {
namespace {

struct Reference {
  std::vector<double> parameter, buffer;

  void step(const SgdSettings& s, const std::vector<double>& gradient) {
    for (size_t i = 0; i < parameter.size(); ++i) {
      double d = s.maximize ? -gradient[i] : gradient[i];
      d += s.weight_decay * parameter[i];
      if (s.momentum != 0) {
        buffer[i] = s.first ? d : s.momentum * buffer[i] + (1 - s.dampening) * d;
        d = s.nesterov ? d + s.momentum * buffer[i] : buffer[i];
      }
      parameter[i] -= s.lr * d;
    }
  }
};

void run(SgdSettings settings, ScalarType dtype, int64_t n) {
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(real(-1, 1)));
  Reference want{values, std::vector<double>(values.size())};
  const Tensor parameter = tensor({n}, values, dtype), gradient = empty({n}, dtype);
  const Tensor buffer = settings.momentum != 0 ? empty({n}, dtype) : Tensor();
  if (buffer.defined()) cpu_backend().fill(buffer, std::nan(""));  // unread in the first step
  for (int step = 0; step < 4; ++step) {
    settings.first = step == 0;
    for (int64_t i = 0; i < n; ++i) set(gradient, i, values[i] = static_cast<float>(real(-1, 1)));
    cpu_backend().sgd(settings, SgdParameter{parameter, gradient, buffer});
    want.step(settings, values);
  }
  for (int64_t i = 0; i < n; ++i)
    ASSERT_NEAR(get(parameter, i), want.parameter[i], dtype == kFloat ? 2e-6 : 1e-14);
}

TEST(CpuSgd, FollowsTheFormulas) {
  for (ScalarType dtype : {kFloat, kDouble})
    for (int64_t n : {1, 13, 70'000}) {
      run({0.1, 0, 0, 0, false, false, true}, dtype, n);
      run({0.1, 0, 0, 0.3, false, true, true}, dtype, n);
      run({0.1, 0.9, 0, 0, false, false, true}, dtype, n);
      run({0.1, 0.9, 0.4, 0.2, false, false, true}, dtype, n);
      run({0.1, 0.9, 0, 0.2, true, false, true}, dtype, n);
      run({0.1, 0.9, 0, 0.2, true, true, true}, dtype, n);
    }
}

TEST(CpuSgd, StepsEveryParameter) {
  const Tensor a = tensor({1}, {1}), b = tensor({2}, {1, 2}, kDouble);
  const std::vector<SgdParameter> all{{a, tensor({1}, {2}), {}},
                                      {b, tensor({2}, {1, 1}, kDouble), {}}};
  cpu_backend().sgd({0.5, 0, 0, 0, false, false, true}, all);
  EXPECT_EQ(get(a, 0), 0);
  EXPECT_EQ(get(b, 0), 0.5);
  EXPECT_EQ(get(b, 1), 1.5);
}

}  // namespace
}  // namespace gradus::test
