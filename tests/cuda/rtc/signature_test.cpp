// Kernels and their parameters, read from source text.
#include "gradus/cuda/rtc/signature.h"

#include <gtest/gtest.h>

namespace gradus::cuda::rtc {
namespace {

std::string described(const std::vector<Signature>& kernels) {
  std::string out;
  for (const Signature& kernel : kernels) {
    out += (kernel.is_template ? "template " : "") + kernel.name + "(";
    for (const Parameter& each : kernel.parameters)
      out += (out.back() == '(' ? "" : ", ") + std::string(each.is_const ? "const " : "") +
             each.type + (each.is_pointer ? "*" : "") + " " + each.name;
    out += ")\n";
  }
  return out;
}

TEST(Signature, ReadsTheHeadOfAKernel) {
  EXPECT_EQ(described(kernels_in("extern \"C\" __global__ void f(const float* __restrict__ x, "
                                 "float *y, unsigned long long int n, long, double const* z) {}")),
            "f(const float* x, float* y, unsigned long long n, long , const double* z)\n");
  EXPECT_EQ(described(kernels_in("__global__ void f() {} __global__ void g(void) {}")),
            "f()\ng()\n");
  EXPECT_EQ(described(kernels_in("__global__ void __launch_bounds__(256, 2) f(int n[], float* "
                                 "const x, uint8_t k = 3);")),
            "f(int* n, float* x, uint8_t k)\n");
}

TEST(Signature, KnowsTemplatesAndNamespaces) {
  EXPECT_EQ(described(kernels_in("namespace a::b { namespace { struct S { int x; };\n"
                                 "template <class T, int N = 4>\n"
                                 "__global__ void f(std::array<T, N> x, S s) { if (1) {} } }\n"
                                 "__global__ static void g(T* x) {} }\n"
                                 "extern \"C\" { __global__ void h(__half* x) {} }")),
            "template a::b::f(std::array<T,N> x, S s)\na::b::g(T* x)\nh(__half* x)\n");
}

TEST(Signature, LooksPastCommentsStringsAndThePreprocessor) {
  EXPECT_EQ(described(kernels_in("// __global__ void a(int x) {}\n"
                                 "/* __global__ void b() {} */\n"
                                 "#define KERNEL(name) \\\n __global__ void name(int x) {}\n"
                                 "const char* s = \"__global__ void c() { \\\" }\";\n"
                                 "__global__ void d(int x /* of y */, // the last\n float y) {}\n"
                                 "__global__ void d(int x, float y);")),
            "d(int x, float y)\n");
}

TEST(Signature, TextThatEndsEarlyHasNoKernel) {
  for (const char* text : {"__global__", "__global__ void", "__global__ void f", "\"", "/*", "#",
                           "__global__ void f(int", "namespace", "__global__ void f(int x"})
    EXPECT_EQ(described(kernels_in(text)), "") << text;
}

}  // namespace
}  // namespace gradus::cuda::rtc
