"""./grade --gpu: runs the tests of kernels again on a GPU, and times the race of task 6.4. It changes no points.

A solution runs here as the simulator has seen it, compiled by nvcc. The runner has no system call filter then, since
CUDA's driver needs to open devices: whoever grades the code of others this way wants a container around it."""
import concurrent.futures
import ctypes
import glob
import os
import re
import shutil
import subprocess

from . import build, grading, process, race


class Gpu:
    """The first GPU, and nvcc. Errors: build.Problem says which of them is missing, and what to do."""

    def __init__(self):
        self.nvcc = find_nvcc()
        self.version = _nvcc_version(self.nvcc)
        self.name, self.arch = _device()

    def __str__(self):
        return f"{self.name} ({self.arch}), nvcc {self.version}"


def find_nvcc():
    folders = [os.path.join(os.environ[each], "bin") for each in ("CUDA_HOME", "CUDA_PATH") if each in os.environ]
    path = os.pathsep.join([*folders, os.environ.get("PATH", ""), "/usr/local/cuda/bin"])
    found = shutil.which("nvcc", path=path)
    if not found:
        raise build.Problem("there is no nvcc: install NVIDIA's CUDA toolkit (12 or newer), and set CUDA_HOME or PATH so that "
                            "it is found")
    return found


def _nvcc_version(nvcc):
    text = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"release (\d+)\.(\d+)", text)
    if not found:
        raise build.Problem(f"{nvcc} --version does not say its version")
    if int(found.group(1)) < 12:
        raise build.Problem(f"{nvcc} is of CUDA {found.group(1)}.{found.group(2)}, which knows no C++20: CUDA 12 or newer is needed")
    return f"{found.group(1)}.{found.group(2)}"


def _device():
    """Name and architecture of the first GPU, from the driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise build.Problem("there is no NVIDIA driver (libcuda.so.1), so no GPU that can be used") from None
    count, device = ctypes.c_int(0), ctypes.c_int(0)
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status != 0 or count.value == 0:
        raise build.Problem("the NVIDIA driver finds no GPU" + (f" (CUDA error {status})" if status else "") +
                            "; in a container it needs --gpus all")
    name = ctypes.create_string_buffer(256)
    driver.cuDeviceGet(ctypes.byref(device), 0)
    driver.cuDeviceGetName(name, len(name), device)
    numbers = []
    for attribute in (75, 76):  # COMPUTE_CAPABILITY_MAJOR and _MINOR
        number = ctypes.c_int(0)
        driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, device)
        numbers.append(number.value)
    return name.value.decode(errors="replace"), "sm_%d%d" % tuple(numbers)


def has_conditions(text):
    """Whether a file may have parts for some compilers only. A raw string counts, since it could hide them."""
    text = text.replace("\\\n", "")
    plain = re.sub(r'"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', " ", text, flags=re.S)
    return bool(re.search(r"(#|%:)\s*(if|elif|else)", plain) or re.search(r'R"', text))


class GpuBuilder(build.Builder):
    """Builds runners with nvcc, without the simulator and the system call filter."""

    def __init__(self, home, folder, nvcc, arch):
        super().__init__(home, folder)
        self._nvcc = [nvcc, "-ccbin", build.CXX, "-std=c++20", "-O2", f"-arch={arch}", "-Wno-deprecated-gpu-targets"]
        for each in glob.glob(os.path.join(folder, "*.problem")):  # the compiler may have been mended
            os.remove(each)
        self._rules = self._surroundings + " ".join(self._nvcc) + _nvcc_version(nvcc)

    def _linker(self):
        return self._nvcc

    def _runner_sources(self, task):
        return [each.replace("_simulator.cpp", "_nothing.cpp") for each in super()._runner_sources(task)
                if not each.endswith(("sandbox.cpp", "where.cpp"))]

    def _simulator_rooms(self):
        return []

    def _simulator_libraries(self, task):
        return []

    def _includes(self):
        return ["-I", self.given, "-I", self.home]

    def _own_compiler(self):
        return [*self._nvcc, "-DCOURSE_GPU"]

    def _kernel_compiler(self):
        return self._own_compiler()

    def _compile(self, task, stage, name, out):
        with open(os.path.join(stage, name), errors="replace") as file:
            if has_conditions(file.read()):
                raise build.Problem(f"{name}: it holds #if, so it could be another program here than on the simulator; "
                                    "leave it out to run it on a GPU")
        build._run([*self._nvcc, "-DCOURSE_GPU", "-lineinfo", *self._includes(), "-c", name, "-o", out], stage)

    def race_runner(self, racer, submission):
        """The program that times a racer (race.py). Errors: Problem."""
        if racer.task:
            contestant, libraries = self._student_object(racer.task, submission), []
        else:
            contestant, libraries = self._own(os.path.join("runner", "race_cublas.cpp")), ["-lcublas"]
        parts = [os.path.join("runner", each) for each in ("main.cpp", "message.cpp", "observe_nothing.cpp")]
        objects = [self._own(os.path.join("runner", "race.cu"), f"-DRACER={racer.call}"),
                   *map(self._own, [*parts, os.path.join("core", "not_implemented.cpp")]), contestant]
        program = self._path("".join(objects), f"race-{racer.name}")
        return self._made(program, [*self._linker(), "-o", program, *objects, *libraries])


class GpuLimits(process.Limits):
    processor_seconds = 120
    wall_seconds = 240
    resident_bytes = 8 << 30


class GpuGrader(grading.Grader):
    """Runs tests on a GPU; tests count nothing then."""
    on_gpu, limits = True, GpuLimits

    def __init__(self, home, folder, seed, gpu):
        super().__init__(home, folder, seed)
        self.builder = GpuBuilder(home, folder, gpu.nvcc, gpu.arch)
        # The driver's cache is a file, and writing files is forbidden.
        self.environment = {"CUDA_CACHE_DISABLE": "1"}
        for each in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
            if each in os.environ:
                self.environment[each] = os.environ[each]

    def build(self, build_one, things):
        """A program or a Problem for each of these."""
        def attempt(each):
            try:
                return build_one(each)
            except build.Problem as problem:
                return problem
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(attempt, things))


# What differs between the two, where a test fails on the GPU alone.
WHY = ("the simulator found no mistake in this test. What it cannot show: a race that its one order of threads hides, a "
       "block that needs more registers than there are, work on another stream, half-precise device functions (__expf)")


def main(home, folder, tasks, submission, seed, result):
    """Runs the tests of kernels among these tasks on a GPU, and the race. Adds to result["leaderboard"]."""
    with_kernels = [task for task in tasks if task.kernels]
    print()
    if not with_kernels:
        print("--gpu: none of these tasks has kernels")
        return
    try:
        gpu = Gpu()
    except build.Problem as problem:
        print(f"--gpu: {problem}.\nThe score stands: it comes from the simulator.")
        return
    print(f"The same tests on {gpu}; nothing is counted here, and the score stays:")
    grader = GpuGrader(home, os.path.join(folder, "gpu"), seed, gpu)
    graded = {each["task"]: each for each in result["tasks"]}
    try:
        grader.builder.prepare(with_kernels)
    except build.Problem as problem:
        print(f"--gpu: the judge's own parts do not build with nvcc:\n{problem}")
        return
    solved = [task for task in with_kernels if not _unsolved(graded[task.name])]
    programs = dict(zip((task.name for task in solved),
                        grader.build(lambda task: grader.builder.runner(task, submission), solved)))
    passing = [task for task in with_kernels
               if _run_task(grader, task, programs.get(task.name), graded[task.name])]
    if any(task.name == race.TASK for task in with_kernels):
        race.run(grader, submission, gpu, passing, result)


def _unsolved(graded):
    """Why a task is not run here; empty where it is."""
    if graded["problem"]:
        return "not run: it cannot be built for the simulator either"
    if all("is not implemented yet" in each["message"] for each in graded["tests"]):
        return "not implemented yet"
    return ""


def _run_task(grader, task, program, graded):
    """Prints how a task does on the GPU. Returns whether all its tests pass."""
    head = f"{task.name}  {task.title:<44} "
    if not isinstance(program, str):
        reason = _unsolved(graded) or f"nvcc does not build it\n{program}"
        print(head + reason.replace("\n", "\n          "), flush=True)
        return False
    failed = []
    tests = [*task.tests, *task.hidden_tests]
    for test in tests:
        message = grader.run_test(test, program)[0]
        if message:
            failed.append((test, message))
    print(f"{head}{len(tests) - len(failed)} of {len(tests)} tests pass", flush=True)
    on_simulator = {each["name"]: each["passed"] for each in graded["tests"]}
    for test, message in failed:
        print(f"     FAIL {test.name}: {test.title}")
        if on_simulator.get(test.name):
            message += "\n" + WHY
        print("\n".join("          " + line for line in message.splitlines()), flush=True)
    return not failed
