"""Tests judge/gimple.py: what a file is refused for is what the compiler made of it."""
import os
import subprocess
import sys
import tempfile
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from judge import build, gimple  # noqa: E402

START = "#define __global__ __attribute__((no_icf))\n#include <cstring>\n#include <string>\n" \
        "namespace course { template <class... T> void launch(void (*f)(T...), T... x) { f(x...); } }\nusing course::launch;\n"
REFUSED = [
    ("__attribute__((no_sanitize_thread)) float f(float* p) { return *p; }", "the attribute no_sanitize"),
    ("[[gnu::optimize(\"O0\"), gnu::noinline]] float f(float* p) { return *p; }", "the attribute optimize"),
    ("float f(float* p) { return [](float* q) __attribute__((no_sanitize(\"thread\"))) { return *q; }(p); }", "the attribute no_sanitize"),
    ("struct S { [[gnu::target(\"avx2\")]] float f(float* p) { return *p; } };\nfloat g(float* p) { return S().f(p); }", "the attribute target"),
    ("#pragma GCC optimize(\"O3\")\nfloat f(float* p) { return *p; }", "the attribute optimize"),
    ("_Pragma(\"GCC optimize(\\\"O3\\\")\") float f(float* p) { return *p; }", "the attribute optimize"),
    ("#pragma GCC target(\"avx2\")\nfloat f(float* p) { return *p; }", "the attribute target"),
    ("#define A(x, y) x##y\nvoid f() { A(as, m)(\"nop\"); }", "assembly"),
    ("const char* f() { return \"\\\"\"; }\nvoid g() { asm volatile(\"nop\"); }", "assembly"),
    ("void* f() { return __builtin_return_address(0); }", "__builtin_return_address"),
    ("void work(float* p) { *p = 1; }\nvoid f(float* p) { launch(work, p); }", "launch starts work"),
    ("float see(float* p) { char t[5]; strncpy(t, (char*)p, 4); return t[0]; }\n__global__ void work(float* p) { *p = see(p); }", "strncpy"),
    ("__global__ void work(float* p) { *p = std::string((char*)p, 4).back(); }", "a function of the host"),
    ("namespace gradus::cuda::sim { __attribute__((no_sanitize_thread)) float call(float* p) { return *p; } }", "the attribute no_sanitize"),
]
TAKEN = [
    "[[nodiscard, gnu::noinline]] float f(float* p) { return *p; }",
    "const char* f() { return \"__asm__ __builtin_ia32_ __attribute__((optimize))\"; }",
    "// asm\nint no_sanitize_thread(int optimize) { return optimize; }",
    "__global__ void work(float* p) { *p = 1; }\nvoid f(float* p) { launch(work, p); }",
    "struct S { int strides[2]; char strcpy; };\n__global__ void work(float* p, S s) { p[s.strides[0]] = s.strcpy; }\nvoid f(float* p) { launch(work, p, S()); }",
    "__global__ void work(float* p, int length) { p[length] = 1; }\nvoid f(float* p) { launch(work, p, (int)std::string(\"a\").size()); }",
    "template <int n> __global__ void work(float* p) { p[n] = 1; }\nvoid f(float* p) { launch(work<3>, p); }",
    "__global__ void work(float* p) { *p = 1; }\nint f(const char* p) { return std::strcmp(p, \"x\") + std::string(p).size(); }",
]


def problem_of(text):
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made")
        subprocess.run([build.CXX, "-std=c++20", "-O1", "-w", "-fsanitize=thread", "-c", "-x", "c++", "-", "-o", os.devnull,
                        f"-fdump-tree-gimple={made}"], input=START + text, text=True, check=True)
        with open(made) as file:
            return gimple.problem_with(file.read())


class GimpleTest(unittest.TestCase):
    def test_refuses(self):
        for text, why in REFUSED:
            self.assertIn(why, problem_of(text) or "nothing", text)

    def test_takes(self):
        for text in TAKEN:
            self.assertIsNone(problem_of(text), text)


if __name__ == "__main__":
    unittest.main()
