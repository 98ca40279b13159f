"""Functions of the standard library that compute are allowed, others are refused with advice."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
from judge import symbols  # noqa: E402

NUMBERS = """
#include <cinttypes>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <vector>

namespace course {
int less(const void* a, const void* b) { return *static_cast<const int*>(a) - *static_cast<const int*>(b); }
double all(int i, long n, long long m, double x, float y, long double z) {
  double sum = std::div(i, 3).rem + std::div(n, 3L).rem + std::div(m, 3LL).quot + std::lldiv(m, 7).rem + imaxdiv(n, 5).rem;
  sum += std::abs(i) + std::labs(n) + std::llabs(m) + imaxabs(n);
  sum += std::remquo(x, 3.0, &i) + std::scalbln(y, n) + std::scalbn(x, i) + std::nexttoward(y, z) + std::nextafter(x, 1.0);
  sum += std::hypot(x, 2.0) + std::fdim(x, 1.0) + std::ilogb(x) + std::lgamma(x) + std::cbrt(y) + std::fma(x, 2.0, 1.0) + std::lerp(x, 2.0, 0.5);
  std::complex<double> c = std::polar(x, 2.0);
  std::complex<float> f(y, y);
  c = std::exp(c) * std::log(c) / std::sqrt(c) + std::pow(c, c) + std::sin(c) + std::tanh(c) + std::acos(c) + std::proj(c);
  f = f * f / (f + 1.0f) + std::exp(f);
  sum += std::abs(c) + std::arg(c) + std::abs(f);
  std::vector<int> list{3, 1, i};
  std::qsort(list.data(), list.size(), sizeof(int), less);
  return sum + (std::bsearch(&i, list.data(), list.size(), sizeof(int), less) != nullptr);
}
}  // namespace course
"""


def problem(text):
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "a.cpp"), os.path.join(folder, "a.o")
        with open(source, "w") as file:
            file.write(text)
        subprocess.run(["g++", "-std=c++20", "-O1", "-c", source, "-o", out], check=True)
        return symbols.problem_with(out, ["course::all"])


class SymbolsTest(unittest.TestCase):
    def test_functions_of_numbers_are_allowed(self):
        self.assertIsNone(problem(NUMBERS))

    def test_others_are_refused_with_advice(self):
        for call, said in (("malloc(1)", "use std::vector"), ("cudaMemset(nullptr, 0, 4)", "launch starts a kernel"), ("system(nullptr)", "not allowed")):
            declared = "int cudaMemset(void*, int, unsigned long);\n#include <cstdlib>\n"
            found = problem(f"{declared}namespace course {{ long all() {{ return (long)({call}); }} }}")
            self.assertIn(said, found or "")


if __name__ == "__main__":
    unittest.main()
