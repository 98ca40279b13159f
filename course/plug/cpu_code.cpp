// The student's functions on the CPU.
#include "core/cpu.h"
#include "plug/code.h"

namespace course::plug {

namespace {

void reduce(Op2 op, float start, float* out, const float* x, int64_t rows, int64_t n, float*) {
  cpu::reduce(op, start, out, {2, {rows, 1}, {1, 1}}, x, {2, {rows, n}, {n, 1}}, 1);
}

void blocked(float* out, const Mat& a, const Mat& b, int m, int n, int k) {
  cpu::matmul_blocked(out, a.data, b.data, m, n, k);
}

}  // namespace

const Code& cpu_code() {
  static const Code code = {
      "1.1",  "1.2",    "1.3",
      "1.2",  cpu::map, cpu::zip,
      reduce, 0,        {{"1.6", false, blocked}, {"1.4", true, cpu::matmul}, {}},
      nullptr};
  return code;
}

}  // namespace course::plug
