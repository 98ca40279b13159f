"""Tests judge/gimple.py and judge/kernels.py: what a file is refused for is what the compiler made of it."""
import os
import subprocess
import sys
import tempfile
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from checks import common  # noqa: E402
from judge import build, gimple, kernels, symbols  # noqa: E402

START = "#define __global__ __attribute__((no_icf))\n#include <cstring>\n#include <string>\n" \
        "namespace course { template <class... T> void launch(void (*f)(T...), std::type_identity_t<T>... x) { f(x...); } }\nusing course::launch;\n"
COPY = "using F = char* (*)(char*, const char*, size_t);\n"
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
    ("void work(float* p) { *p = 1; }\nvoid f(float* p) { launch(work, p); }", "7: launch starts work"),
    ("float see(float* p) { char t[5]; strncpy(t, (char*)p, 4); return t[0]; }\n__global__ void work(float* p) { *p = see(p); }",
     "6: a kernel calls strncpy, "),
    ("__global__ void work(float* p) { *p = std::string((char*)p, 4).back(); }", "6: a kernel calls std::string, "),
    ("__global__ void work(float* p) { *p = __builtin_memcmp(p, p + 1, 4); }", "6: a kernel calls memcmp, "),
    ("__global__ void work(float* p) { *p = std::_Hash_bytes(p, 4, 0); }", "6: a kernel calls std::_Hash_bytes, "),
    (COPY + "__global__ void work(char* p, F f) { f(p, p + 4, 4); }\nvoid f(char* p) { launch(work, p, &strncpy); }",
     "7: a kernel calls strncpy by a pointer, "),
    (COPY + "static const F all[] = {strncpy, nullptr};\n__global__ void work(char* p) { all[*p](p, p + 4, 4); }",
     "8: a kernel calls strncpy by a pointer, "),
    (COPY + "__global__ void work(char* p) { F strlen_1 = &strncpy; strlen_1(p, p + 4, 4); }", "7: a kernel calls strncpy"),
    ("static void work(char* p) { *p = strlen(p); }\nvoid f(char* p, bool b) { auto k = b ? work : nullptr; launch(k, p); }",
     "6: a kernel calls strlen, "),
    ("struct A { virtual int f(char* p) = 0; };\nstruct B : A { int f(char* p) override { return strlen(p); } };\n"
     "__global__ void work(char* p, A* a) { a->f(p); }\nvoid g(char* p) { B b; launch(work, p, (A*)&b); }", "7: a kernel calls strlen"),
    ("__global__ void work(unsigned* p) { p[1] = __atomic_load_n(p, 77); }", "6: it calls __atomic_load_4 with an order"),
    ("#include <cstdarg>\nstruct A { float v; };\nNOT_INLINED float take(int n, ...) { va_list l; va_start(l, n); A a = va_arg(l, A); va_end(l); return a.v; }\n"
     "__global__ void work(A* p) { p->v = take(1, p[2]); }", "9: a call takes a struct from memory"),
    ("struct A { float v[4]; };\nNOT_INLINED float take(A a) { return a.v[0]; }\n"
     "__global__ void work(A* p) { p->v[0] = ((float (*)(...))take)(p[2]); }", "8: a call takes a struct from memory"),
    ("struct A {};\nusing M = void (A::*)();\nNOT_INLINED long take(M m) { long v; memcpy(&v, &m, 8); return v; }\n"
     "__global__ void work(M* p, long* out) { *out = take(p[2]); }", "9: a call takes a struct from memory"),
    ("struct A { float v; };\nNOT_INLINED float take(int n, ...) { return n; }\n"
     "__global__ void work(float* p) { static thread_local A all[32]; all[(int)*p].v = 1; *p = take(1, all[(int)p[1]]); }", "8: a call takes a struct from memory"),
    ("#include <new>\nstruct A { float v; };\nNOT_INLINED A give(float v) { return {v}; }\n__global__ void work(A* p) { new (p) A(give(p[1].v)); }",
     "9: a call takes a struct from memory"),
    ("#include <new>\nstruct A { float v; };\nstruct B { A a; B(float v); };\nNOT_INLINED A give(float v) { return {v}; }\nB::B(float v) : a(give(v)) {}\n"
     "__global__ void work(B* p) { new (p) B(p[1].a.v); }", "10: a call takes a struct from memory"),
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
    "int twice(int x) { return 2 * x; }\n__global__ void work(int* p, int (*f)(int)) { *p = f(*p); }\nvoid f(int* p) { launch(work, p, &twice); "
    "if (!p) throw std::string(\"x\"); }",
    "struct S { int i; template <class T> S(T x) : i(x) {} };\n__global__ void work(int* p) { S s(p[1]); *p = s.i; }",
    # Structs that functions take and give, which are copied where the simulator sees it, or lie on the stack.
    "struct A { float v[4]; };\nNOT_INLINED float take(A a) { return a.v[0]; }\n__global__ void work(A* p) { p->v[1] = take(p[2]); }",
    "struct A { float v; };\nNOT_INLINED A give(A a) { return {a.v + 1}; }\n__global__ void work(A* p) { p[0] = give(p[1]); p[2] = give(give(p[3])); }",
    "struct A { float v; };\nstruct B { A a, b; };\nNOT_INLINED A give(float v) { return {v}; }\n"
    "__global__ void work(B* p) { B b{give(1), give(2)}; A all[2] = {give(3), give(4)}; all[1] = give(5); p[0] = b; p[1] = {all[0], all[1]}; }",
    "struct A { float v[2]; A(float x) : v{x, x} {} };\nstruct B { A a; B(float x) : a(x) {} A get() const { return a; } };\n"
    "NOT_INLINED B give(float x) { return B(x); }\n__global__ void work(float* p) { B b = give(*p); *p = b.get().v[0]; }",
    "struct A { float v; A(float x) : v(x) {} A(const A& o) : v(o.v) {} };\nNOT_INLINED A give(float x) { return A(x); }\nNOT_INLINED A more(float x) { return give(x + 1); }\n"
    "__global__ void work(float* p) { *p = more(*p).v; }",
    "template <class F> NOT_INLINED float holds(F f) { return f(1); }\n"
    "__global__ void work(float* p, int n) { const float x = p[1]; auto f = [=](float y) { return x + y + n; }; *p = holds(f); }",
    "struct A { float v; };\nNOT_INLINED float one(A a) { return a.v; }\ntemplate <class... T> NOT_INLINED float all(T... x) { return (one(x) + ...); }\n"
    "__global__ void work(A* p) { p->v = all(p[1], p[2]); }",
    "#include <functional>\nint twice(int (*f)(int), int x) { return f(f(x)); }\nint more(int x) { return x + 1; }\n"
    "__global__ void work(int* p, int (*f)(int)) { *p = twice(f, *p); }\n"
    "void f(int* p) { std::function<long(long)> g = [&](long i) { return i + *p; }; launch(work, p, more); p[1] = g(2); }",
    "#include <cstdio>\nstruct A { float v; };\n__global__ void work(A* p) { std::printf(\"%f %f\", p[1].v, (double)p[2].v); }",
    "struct A { int i; };\nNOT_INLINED int take(A a, int (*f)(int), const char* t, double x) { return f(a.i) + t[0] + x; }\nint same(int x) { return x; }\n"
    "__global__ void work(A* p, A a) { if (p->i > 2 || p[1].i < 3) p->i = take(a, same, \"(a, *b)\", 1.5); }",
    "int host(int n, ...) { return n; }\nstruct A { int i; };\nint f(A* p) { return host(1, p[3]); }\n__global__ void work(int* p) { *p = 1; }",
    "struct Big { float v[5]; };\nNOT_INLINED float take(Big b) { return b.v[1]; }\n__global__ void work(float* p, Big big) { *p = take(big); }\nvoid f(float* p) { launch(work, p, Big()); }",
    "__global__ void work(unsigned* p) { p[1] = __atomic_load_n(p, __ATOMIC_ACQUIRE) + __builtin_popcount(*p); }",
]
OWN = [
    ("__global__ void work(float* p) { float x[64]; for (int i = 0; i < 64; ++i) x[i] = p[i]; p[0] = x[(int)p[1]]; }", 256, 512),
    ("float last(float* p) { volatile float x[999]; x[(int)p[1]] = 1; return x[(int)p[2]]; }\n__global__ void work(float* p) { *p = last(p); }", 3996, 4200),
    ("float last(float* p, int n) { volatile float x[9]; x[n & 7] = 1; return n ? last(p, n - 1) + x[n & 3] : p[0]; }\n"
     "__global__ void work(float* p) { *p = last(p, p[1]); }", float("inf"), float("inf")),
    ("__global__ void work(float* p, int n) { float x[n]; for (int i = 0; i < n; ++i) x[i] = p[i]; p[0] = x[(int)p[1]]; }", float("inf"), float("inf")),
    ("float host(float* p) { volatile float x[999]; x[(int)p[1]] = 1; return x[(int)p[2]]; }\n__global__ void work(float* p) { *p = 1; }", 0, 64),
    # Arguments that a call puts on the stack; memory that a loop takes, again and again.
    ("NOT_INLINED float sum(float* p, int a, int b, int c, int d, int e, int f) { return p[a + b + c + d + e + f]; }\n"
     "__global__ void work(float* p, int n) { *p = sum(p, n, 2, n, 4, n, 6); }", 0, 256),
    ("__global__ void work(char** p, int n) { for (int i = 0; i < n; ++i) p[i] = (char*)__builtin_alloca(16); }", float("inf"), float("inf")),
]
# Names of functions of the standard library, of the course and of CUDA that no macro takes.
NAMES = """abs acos all_of any_of apply asin at atan2 atexit atof atoi atol atomicAdd atomicCAS atomicExch atomicMax back basic_string begin bind
    block block_sum broadcast broadcast_to bsearch calloc cbegin ceil ceil_div cend check clamp clear clock cmp compare copy copy_n cos count count_if
    crbegin cross_entropy cudaFree cudaMalloc cudaMemcpy data declare difftime dim distance div dot div_up emplace empty end equal erase erf exclusive_scan exit
    exp expf fabs fclose fflush fgets fill fill_n filter find find_if floor fmax fmaxf fmod fopen for_each forward fputs frac fread free
    front fseek fwrite gather generate get getc getenv grid gridcheck handle hash hypot idx inclusive_scan index index_of inner_product insert iota
    is_sorted isalpha isdigit j0 j1 key labs launch ldexp left length lerp less linear list log log2 longjmp lower_bound make_pair malloc map matmul matmul_tiled max max_element
    mean memchr memcmp memcpy memmove memset merge message min min_element minmax mismatch modf move mul next none_of not_implemented nth norm one order
    partial_sum partition path perror plus pop pow prev printf ptr push putchar puts qsort raise rand range rank rbegin read realloc reduce ref
    remainder remove rename rend replace reset resize reverse rint rotate round row run scan scanf search setbuf shuffle shuffled sin size slot sort
    sprintf sqrt srand stable_sort step strcat strchr strcmp strcpy strides strides_of string strlen strncpy strstr strtod strtok
    sum swap system tan tanh test tie time to_string tolower toupper transform trunc tuple unique upper_bound value vector view warp write y0 y1
    yn zip nan strtof remquo""".split()
KERNEL = """namespace n@ {
__device__ inline int helper_of(int x) { return x + 1; }
__device__ inline long #(short x, char y) { return x + y; }
struct Has { int # = 2; };
__global__ void work(float* out, int n) { const int a = helper_of(n); Has has; volatile float words[2] = {1.f * #(a, 1), 2.f * has.#}; out[0] = words[n & 1]; }
__global__ void second(float* out, int #, int (*f)(int)) { auto g = [&](int i) { return # + i; }; if (# > 0) out[#] = g(f(#)); }
__global__ void third(float* out, int n) { bool # = n > 0; int y[3] = {n, 1, 2}; { int #[3] = {n, 1, 2}; out[1] = #[n % 3]; } auto h = [](int #) { return # * 2; };
  if (#) out[0] = h(y[1]); }
void host(float* out, int n) { std::vector<int> #(4, n); std::sort(#.begin(), #.end()); course::launch(work, {1, 32}, out, n); course::launch(second, {1, 32}, out, #[1], helper_of);
  course::launch(third, {1, 32}, out, n); }
}
"""
HOST = """namespace n@ {
inline long helper(int #) { auto g = [&](long i) { return # + i; }; std::map<long, std::string> has; has[g(1)] = "1"; return has.size() + #; }
struct Has { int #(int x) { return x + 1; } };
long host(long n) { long first = Has().#(n); const bool # = first > 2; std::vector<long> all; if (#) all.push_back(helper(n)); return first + all.size(); }
}
"""


def made_of(text, folder):
    """(functions, calls that are not marked, names of functions whose addresses are taken, graph) of a text."""
    made, marked, out = (os.path.join(folder, each) for each in ("made", "marked", "out.o"))
    subprocess.run([build.CXX, "-std=c++20", "-O1", "-w", "-g1", "-fsanitize=thread", "-DNOT_INLINED=__attribute__((noinline))", *build.SEEN, "-c", "-x", "c++", "-", "-o", out,
                    "-dumpdir", folder + os.sep, "-dumpbase", "graph", f"-fdump-tree-ssa-asmname-lineno={made}",
                    f"-fdump-tree-tsan-asmname-lineno={marked}", "-fcallgraph-info=su"], input=START + text, text=True, check=True)
    with open(made) as file, open(marked) as later, open(os.path.join(folder, "graph.ci")) as graph:
        unmarked = gimple.unmarked_in(later.read(), symbols.data_of(out))
        return gimple.functions_in(file.read()), unmarked, symbols.addresses_taken(out), graph.read()


def problem_of(text):
    with tempfile.TemporaryDirectory() as folder:
        try:
            functions, unmarked, taken, _ = made_of(text, folder)
        except gimple.Refused as refused:
            return str(refused)
        return kernels.problem_with(functions, unmarked, taken, "<stdin>", symbols.readable)


class GimpleTest(unittest.TestCase):
    def test_refuses(self):
        for text, why in REFUSED:
            self.assertIn(why, problem_of(text) or "nothing", text)

    def test_takes(self):
        for text in TAKEN:
            self.assertIsNone(problem_of(text), text)

    def test_knows_the_memory_of_a_thread(self):
        for text, least, most in OWN:
            with tempfile.TemporaryDirectory() as folder:
                functions, _, _, graph = made_of(text, folder)
                size = kernels.own_memory(functions, graph)[0]
                self.assertTrue(least <= size <= most, f"{text}: {size}")


class NamesTest(unittest.TestCase):
    """Variables, parameters, members, lambdas and functions may have any name."""

    def built(self, task, before, each, after, call):
        grader, tasks = common.grader(), common.tasks(names=[task])
        for start in range(0, len(NAMES), 60):
            names = list(enumerate(NAMES))[start:start + 60]
            text = before + "".join(each.replace("#", name).replace("@", str(i)) for i, name in names)
            text += after.replace("@", " ".join(call.replace("@", str(i)) for i, _ in names))
            with common.Submission({tasks[0].file: text}) as folder:
                try:
                    grader.builder._student_object(tasks[0], folder)
                except build.Problem as problem:
                    self.fail(str(problem))

    def test_kernels(self):
        self.assertGreaterEqual(len(NAMES), 200)
        self.built("3.1", '#include <algorithm>\n#include <vector>\n#include "core/cuda.h"\n#include "core/launch.h"\nnamespace course::gpu {\n', KERNEL,
                   "__global__ void map_kernel(Op1 op, float* out, const float* x, long n) { if (n > 0) out[0] = apply(op, x[0]); }\n"
                   "void map(Op1 op, float* out, const float* x, long n) { launch(map_kernel, {1, 32}, op, out, x, n); @ }\n}\n", "n@::host(out, n);")

    def test_functions_of_the_host(self):
        self.built("0.1", '#include <map>\n#include <string>\n#include <vector>\n#include "core/tensors.h"\nnamespace course {\n', HOST,
                   "Dims strides_of(const Dims& sizes) { long n = sizes.size(); return {@}; }\n}\n", "n@::host(n),")


if __name__ == "__main__":
    unittest.main()
