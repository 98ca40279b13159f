"""Hostile submissions: none gains a point, harms another task, or leaves anything behind.

Each replaces the solution of a task, beside an honest solution of another.
"""
import glob
import os
import time

from . import common

TARGET = "/tmp/course-hostile"  # what the attacks try to make
HOST = '#include "core/tensors.h"\n{before}\nnamespace course {{\nDims strides_of(const Dims& sizes) {{\n{body}\n}}\n}}\n'
KERNEL = ('#include "core/cuda.h"\n#include "core/launch.h"\n{before}\nnamespace course::gpu {{\n'
          "__global__ void work(float* c, int n) {{ {kernel} }}\n"
          "void matmul_tiled(float* c, const float* a, const float* b, int m, int n, int k) {{\n{body}\n}}\n}}\n")
LAUNCH = "launch(work, {1, 32}, c, m * n);"
RIGHT = ("Dims out(sizes.size()); long step = 1; for (long d = long(sizes.size()) - 1; d >= 0; --d) { out[d] = step; "
         "if (sizes[d] > 0) step *= sizes[d]; } return out;")


def host(body, before=""):
    return "0.1", HOST.format(body=body, before=before)


def kernel(body=LAUNCH, before="", kernel=""):
    return "3.7", KERNEL.format(body=body, before=before, kernel=kernel)


# name -> (task, its file)
ATTACKS = {
    "ends the process": host("std::exit(0);", "#include <cstdlib>"),
    "ends the process at once": host("_exit(0);", "#include <unistd.h>"),
    "forks without end": host("for (;;) fork();", "#include <unistd.h>"),
    "forks through a weak declaration": host(
        "if (fork) for (;;) fork(); return {};", 'extern "C" int fork() __attribute__((weak));'),
    "never ends": host("for (volatile int i = 0;; ++i) {} return {};"),
    "takes all memory": host("for (std::vector<std::vector<char>> all;;) all.emplace_back(1 << 24, 'x');"),
    "prints without end": host('for (;;) std::printf("................................................................\\n");',
                               "#include <cstdio>"),
    "prints a reply": host('std::printf("{\\"score\\": 600}\\nok 15/15\\n"); return {99};', "#include <cstdio>"),
    "writes a reply to the judge": host(
        'const char reply[] = "\\1\\0\\0\\0"; write(4, reply, sizeof reply); return {};', "#include <unistd.h>"),
    "turns stdout to the judge": host(
        'stdout->_fileno = 4; std::puts("\\1\\0\\0\\0"); return {};', "#include <cstdio>"),
    "writes the results": host(
        f'FILE* f = std::fopen("{TARGET}-results.json", "w"); std::fputs("{{}}", f); std::fclose(f); return {{}};', "#include <cstdio>"),
    "runs a command": host(f'std::system("touch {TARGET}-command"); return {{}};', "#include <cstdlib>"),
    "runs before main": host(RIGHT, "[[gnu::constructor]] void first() { __builtin_trap(); }"),
    "runs before main by an object": host(RIGHT, "struct First { First() { __builtin_trap(); } } first;"),
    "runs before main by a resolver": host(
        RIGHT, 'extern "C" { static void g() {} static void (*pick())() { return g; } void f() __attribute__((ifunc("pick"))); }'
        "\nvoid use() { f(); }"),
    "has a main": host(RIGHT, "int main() { return 0; }"),
    "makes a system call in assembly": host('asm volatile("mov $60, %eax\\n xor %edi, %edi\\n syscall"); return {};'),
    "hides assembly behind a macro": host('HIDE(as, m)("mov $60, %eax\\n syscall"); return {};', "#define HIDE(a, b) a##b"),
    "includes a file of the grader": host(RIGHT, '#include "/etc/passwd"'),
    "includes the tests": host(RIGHT, '#include "../../../../tests/0.1_strides.py"'),
    "starts a thread": host("std::thread([] { for (;;) {} }).detach(); return {};", "#include <thread>"),
    "loads a library": host('dlopen("libc.so.6", 2); return {};', "#include <dlfcn.h>"),
    "overflows the stack": host("return strides_of(Dims(sizes.size() + 1)).empty() ? sizes : strides_of(sizes);"),
    "throws a number": host("throw 1;"),
    "compiles without end": host("return {};", "#include __FILE__"),
    "compiles by recursion": host("return Dims(F<60>::value);", "template <int n> struct F { enum { value = F<n + 1>::value + F<n + 2>::value }; };"),
    "is no text": ("0.1", "\0\1\2\xff" * 1000),
    "is very long": ("0.1", HOST.format(body="return {};", before="// " + "x" * (1 << 20))),
    "takes the findings": kernel(
        "launch(work, {1, 32}, c, m * n); gradus::cuda::sim::take_findings();", '#include "gradus/cuda/sim/simulator.h"'),
    "takes the findings by a declaration": kernel(
        "launch(work, {1, 32}, c, m * n); gradus::cuda::sim::take_findings();",
        "#include <vector>\nnamespace gradus::cuda::sim { struct Finding; std::vector<Finding> take_findings(); }", "c[n] = 1;"),
    "looks away from a kernel": kernel(kernel="gradus::cuda::sim::look_away(); c[n] = 1;"),
    "hides a kernel from the simulator": kernel(
        before="#define QUIET __attribute__((no_sanitize_thread))\nnamespace course::gpu { QUIET void f(float* c) { *c = 1; } }",
        kernel="f(c + n);"),
    "takes the place of the simulator": kernel(before='extern "C" void __tsan_write4(void*) {}', kernel="c[n] = 1;"),
    "computes on the host": kernel(
        "std::vector<float> x(m * k); cudaMemcpy(x.data(), a, 4 * x.size(), cudaMemcpyDeviceToHost);", "#include <vector>"),
    "reads a device's memory on the host": kernel("for (int i = 0; i < m * n; ++i) c[i] = a[0] * b[0];"),
    "ends the process in a kernel": kernel(kernel="__builtin_trap();"),
    "never ends in a kernel": kernel(kernel="for (volatile int i = 0;; ++i) {}"),
}


def _link(folder, file):
    os.remove(os.path.join(folder, "core", file))
    os.symlink(os.path.join(common.HOME, "core", file), os.path.join(folder, "core", file))


def _fifo(folder, file):
    os.remove(os.path.join(folder, "core", file))
    os.mkfifo(os.path.join(folder, "core", file))


def _directory(folder, file):
    os.remove(os.path.join(folder, "core", file))
    os.mkdir(os.path.join(folder, "core", file))


def _own_tests(folder, _):
    for name, text in (("tests/0.1_strides.py", "raise SystemExit(0)"), ("judge/main.py", "raise SystemExit(0)"),
                       ("core/types.h", "#error this header is not the course's"), ("results.json", "{}")):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


def nested(first, later, count):
    """Definitions of which each names the one before it twice or more."""
    return "\n".join([first, *(later.replace("@", str(i)).replace("#", str(i - 1)) for i in range(1, count))])


# Finds syscall() of the C library by its bytes.
SYSCALL = """
#include <cstdio>
#include <cstring>
static long call(long number, long a, const void* b, long c) {
  static const unsigned char bytes[] = {0x48,0x89,0xf8,0x48,0x89,0xf7,0x48,0x89,0xd6,0x48,0x89,0xca,0x4d,0x89,0xc2,0x4d,0x89,0xc8,
                                        0x4c,0x8b,0x4c,0x24,0x08,0x0f,0x05};
  const unsigned char* at = reinterpret_cast<const unsigned char*>(&printf);
  for (long i = 0; i < (2 << 20); ++i, ++at)
    if (!std::memcmp(at, bytes, sizeof bytes))
      return reinterpret_cast<long (*)(long, ...)>(reinterpret_cast<unsigned long>(at))(number, a, b, c, 0L);
  return -1;
}
"""
SECRET = os.path.join(common.HOME, "staff", "hidden", "0.1_strides.py")


def blocked(find, before):
    """A product that counts one access of each array for the counts, and reads the rest where find stores pointers to."""
    return "1.6", before + ('#include "core/cpu.h"\n#include <cstring>\nnamespace course::cpu {\n'
                            "void matmul_blocked(float* out, const float* a, const float* b, int m, int n, int k) {\n"
                            "  for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) { float s = 0; for (int p = 0; p < k; ++p) "
                            "s += a[i * k + p] * b[p * n + j]; out[i * n + j] = s; }\n}\n"
                            "void matmul_blocked(Cached<float> out, Cached<const float> a, Cached<const float> b, int m, int n, int k) {\n"
                            f"  float* data[3] = {{}}; {find};\n  matmul_blocked(data[0], data[1], data[2], m, n, k);\n"
                            "  for (long i = 0; i <= 1L * m * n * k / 52; ++i) a[0] + b[0];\n}\n}\n")


def uncounted(before, first=""):
    """A kernel whose loads the simulator does not see, by a function see()."""
    text = first + common.solution(next(task for task in common.tasks() if task.name == "3.7"))
    text = text.replace("namespace course::gpu {", "namespace course::gpu {\n" + before, 1)
    return "3.7", text.replace("a[row * k + start + x]", "see(a + row * k + start + x)").replace(
        "b[(start + y) * n + column]", "see(b + (start + y) * n + column)")


ATTACKS.update({
    "makes ten million strides": host("Dims out; while (out.size() < 10000000) out.push_back(1); return out;"),
    "throws a very long text": host("throw std::runtime_error(std::string(20000000, 'x'));", "#include <string>"),
    "has an object of 2 GB": host("big[sizes.size()] = 2; return {big[5]};", "namespace { char big[2000000000] = {1}; }"),
    "has a name of 2^40 characters": host("return {99};", nested(
        "namespace course { template <class A, class B> struct P {};\nusing T0 = P<int, int>;", "using T@ = P<T#, T#>;", 41) +
        "\nvoid f(T40*) {} }"),
    "includes a device": host("return {99};", '#include "/dev/zero"'),
    "includes a device by a macro": host("return {99};", '#define DEVICE "/dev/zero"\n#include DEVICE'),
    "includes its input": host("return {99};", '#include "/dev/stdin"'),
    "grows by macros": host("return {99};", nested("#define A0 " + "x " * 200, "#define A@ " + "A# " * 20, 9) + "\nint A7;"),
    "kills the judge": host('char text[1000] = {}; const long file = call(257, -100, "/proc/self/stat", 0); call(0, file, text, 999);'
                            "char* at = std::strchr(text, ')'); if (!at) return {99}; long parent = std::atol(at + 4);"
                            "call(234, parent, reinterpret_cast<void*>(parent), 15); return {99};", "#include <cstdlib>" + SYSCALL),
    "reads hidden tests": host(f'static char text[20000]; const long file = call(257, -100, "{SECRET}", 0);'
                               ' if (file < 0) return {99}; call(0, file, text, 19999); std::printf("%s", text); return {99};', SYSCALL),
    "prints commands of a terminal": host(
        'std::printf("\\033]0;title\\007\\033[2J\\033[31mred\\033[1A%c\\xff\\xfe ]]> &amp;", 0); return {99};', "#include <cstdio>"),
    "copies by a function of the simulator": kernel(
        "gradus::cuda::sim::copy(c, a, 4); launch(work, {1, 32}, c, n);",
        "namespace gradus::cuda::sim { cudaError_t copy(void* to, const void* from, size_t n); }"),
    "hides a word between characters": uncounted(
        "constexpr char first = '\"';\n__attribute__((no_sanitize_thread, noinline)) float see(const float* p) { return *p; }\n"
        "constexpr char last = '\"';"),
    "calls its lines those of a system header": uncounted(
        '#line 1 "/usr/include/math.h"\n__attribute__((no_sanitize_thread, noinline)) float see(const float* p) { return *p; }\n'
        '#line 1 "core/3_cuda/3.7_matmul_tiled.cu"'),
    "writes assembly into a system header": uncounted(
        '# 1 "/usr/include/math.h" 3\ninline float see(const float* p) { float v; asm volatile("movss (%1), %0" : "=x"(v) : "r"(p)); '
        'return v; }\n# 1 "core/3_cuda/3.7_matmul_tiled.cu"'),
    "loads by an intrinsic": uncounted(
        "#if __x86_64__\n#include <xmmintrin.h>\ninline float see(const float* p) { return _mm_cvtss_f32(_mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64*>(p))); }\n#else\n"
        "#error x86 alone\n#endif"),
    "leaves a kernel by a jump": kernel("if (__builtin_setjmp(where) == 0) launch(work, {1, 1}, c, n);", "static void* where[5];",
                                        "c[0] = 1; __builtin_longjmp(where, 1);"),
    "opens private members": blocked("std::memcpy(&data[0], reinterpret_cast<char*>(&out.cache_) + 16, 8)", "#define private public\n"),
    "reads behind a counting pointer": blocked(
        "std::memcpy(&data[0], &out, 8); std::memcpy(&data[1], &a, 8); std::memcpy(&data[2], &b, 8)", ""),
    "loads by a built-in of the processor": uncounted(
        "#if __x86_64__\ntypedef float four __attribute__((vector_size(16)));\nstatic inline float see(const float* p) {\n"
        "  return __builtin_ia32_loadups(p)[0];\n}\n#else\n#error x86 alone\n#endif"),
    "optimizes away from the simulator": uncounted(
        '#define LOOK [[gnu::no_sanitize("thread"), gnu::noinline]]\nLOOK float see(const float* p) { return *p; }'),
    "loads in a lambda": uncounted(
        "inline float see(const float* p) { return [](const float* q) __attribute__((no_sanitize_thread)) { return *q; }(p); }"),
    "loads by a section's name": uncounted(
        '__attribute__((section(".text.see,\\"ax\\",@progbits\\n\\tmovss (%rdi), %xmm0\\n\\tret\\n#"), noinline))\n'
        "float see(const float* p) { return *p; }"),
    "loads by a name in assembly": uncounted('float see(const float* p) __asm__("strlen");'),
    "copies strings": uncounted(
        "inline float see(const float* p) {\n  float v = 0;\n  std::memchr(p, 300, 4);\n  for (int i = 0; i < 4; ++i) {\n"
        "    char text[2] = {};\n    std::strncpy(text, reinterpret_cast<const char*>(p) + i, 1);\n"
        "    reinterpret_cast<char*>(&v)[i] = text[0];\n  }\n  return v;\n}", "#include <cstring>\n"),
    "reads by a hash": uncounted(
        "inline float see(const float* p) { float v = std::_Hash_bytes(p, 4, 0); return v; }", "#include <functional>\n"),
    "reads by a function of the host that it gets": uncounted(
        "using F = char* (*)(char*, const char*, size_t);\n__constant__ F copy = &std::strncpy;\n"
        "inline float see(const float* p) { float v; copy(reinterpret_cast<char*>(&v), reinterpret_cast<const char*>(p), 4); return v; }",
        "#include <cstring>\n"),
    "reads by what copies arrays": uncounted(
        "inline float see(const float* p) {\n  float v = 0;\n  abi::__cxa_vec_cctor(&v, const_cast<float*>(p), 4, 1, "
        "reinterpret_cast<abi::__cxa_cdtor_return_type (*)(void*, void*)>(&std::strcpy), nullptr);\n  return v;\n}",
        "#include <cstring>\n#include <cxxabi.h>\n"),
    "loads in an order of memory that there is not": uncounted(
        "inline float see(const float* p) { const unsigned v = __atomic_load_n(reinterpret_cast<const unsigned*>(p), 77); float f; "
        "std::memcpy(&f, &v, 4); return f; }", "#include <cstring>\n"),
    "hands a struct to a function of any number of arguments": uncounted(
        "struct One { float v; };\n__attribute__((noinline)) float take(int n, ...) {\n  va_list list;\n  va_start(list, n);\n"
        "  const One one = va_arg(list, One);\n  va_end(list);\n  return one.v;\n}\n"
        "inline float see(const float* p) { return take(1, *reinterpret_cast<const One*>(p)); }", "#include <cstdarg>\n"),
    "calls a function by another type": uncounted(
        "struct Four { float v[4]; };\n__attribute__((noinline)) float take(Four four) { return four.v[0]; }\n"
        "inline float see(const float* p) { return reinterpret_cast<float (*)(...)>(take)(*reinterpret_cast<const Four*>(p)); }"),
    "loads pointers to members": uncounted(
        "struct One {};\nusing M = void (One::*)();\n__attribute__((noinline)) float take(M m) { float v; std::memcpy(&v, &m, 4); return v; }\n"
        "inline float see(const float* p) { return take(*reinterpret_cast<const M*>(p)); }", "#include <cstring>\n"),
    "stores by a constructor": kernel(
        before="#include <new>\nnamespace course::gpu {\nstruct One { float v; };\n__attribute__((noinline)) One give(float v) { return {v}; }\n}",
        kernel="new (c + n) One(give(1));"),
    "calls a kernel of the simulator its own": uncounted(
        "}\nnamespace gradus::cuda::sim { __attribute__((no_sanitize_thread, noinline)) float call(const float* p) { return *p; } }\n"
        "namespace course::gpu {\ninline float see(const float* p) { return gradus::cuda::sim::call(p); }"),
    "includes another solution": host(RIGHT, '#include "core/0_tensors/0.2_index.cpp"'),
})
# Those that are made of files: name -> what is done to a submission whose 0.1 is a stub.
FILES = {"is a symbolic link": _link, "is a pipe": _fifo, "is a folder": _directory, "brings its own tests": _own_tests}


def _built():
    """(Bytes that were built, folders of files that this process compiles)."""
    files = [os.path.join(folder, each) for folder, _, names in os.walk(common.BUILD) for each in names]
    return sum(os.path.getsize(each) for each in files if os.path.exists(each)), glob.glob(os.path.join(common.BUILD, f"stage-{os.getpid()}-*"))


def check(seconds=240, largest=32 << 20):
    """Returns (how many there are, problems)."""
    grader, problems = common.grader(), []
    by_name = {task.name: task for task in common.tasks()}
    honest = {by_name[name].file: common.solution(by_name[name]) for name in ("0.1", "0.2", "3.7")}
    attacks = [(name, attacked, text, None) for name, (attacked, text) in ATTACKS.items()]
    attacks += [(name, "0.1", HOST.format(body='not_implemented("0.1");', before=""), act) for name, act in FILES.items()]
    attacks.append(("launches what is no kernel", "3.7", honest[by_name["3.7"].file].replace("__global__ ", ""), None))
    for name, attacked, text, act in attacks:
        start, (built, _) = time.monotonic(), _built()
        # Beside it, an honest solution that takes little time.
        tasks = [by_name[attacked], by_name["0.2" if attacked == "0.1" else "0.1"]]
        with common.Submission({**honest, by_name[attacked].file: text}) as folder:
            if act:
                act(folder, by_name[attacked].file)
            graded = {each["task"]: each for each in grader.grade(tasks, folder)["tasks"]}
        for task in tasks:
            points = graded[task.name]["points"]
            if task.name == attacked and points > 0:
                problems.append(f"hostile: what {name} gains {points} points")
            if task.name != attacked and points < task.points:
                problems.append(f"hostile: what {name} costs task {task.name} {task.points - points} points")
        now, left = _built()
        if now - built > largest or left:
            problems.append(f"hostile: what {name} lets build/ grow by {(now - built) >> 20} MB, and leaves {left}")
        told = "".join(str(each) for each in graded.values())
        if "\x1b" in told or "@hidden" in told or len(told) > 200000:
            problems.append(f"hostile: what {name} shows what it should not, or too much: {len(told)} characters")
        if time.monotonic() - start > seconds:
            problems.append(f"hostile: what {name} took {time.monotonic() - start:.0f} s")
    problems += [f"hostile: {each} was made" for each in glob.glob(TARGET + "*")]
    return len(attacks), problems
