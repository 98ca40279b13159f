"""./train: trains on images of digits, and on a text, with the student's code, stage by stage as far as tasks are solved.
./train chat answers questions with it."""
import argparse
import array
import gzip
import os
import signal
import struct
import subprocess
import tempfile
import time

from . import build, grading

TEXT = """Trains small models on images of handwritten digits, and on a text, with what you wrote: whatever computes is your code. Each stage
needs some tasks; those that are not solved yet are named. ./train chat, which runs where it is named alone, answers each line of the input."""


class Stage:
    def __init__(self, name, title, program, tasks, given, options=(), kernels=False, talks=False):
        self.name, self.title, self.program, self.tasks = name, title, program, tasks
        self.given, self.options, self.kernels, self.talks = given, list(options), kernels, talks


CPU = ["1.1", "1.2", "1.3", "1.4"]
LINEAR = "core/4_training/linear_model.cpp"
STAGES = [
    Stage("cpu", "a linear layer and your loop, on the CPU", "linear", [*CPU, "4.1", "4.4"], ["core/4_training/host_device.cpp", LINEAR]),
    Stage("autodiff", "two layers, by your automatic differentiation", "layers", ["0.1", "0.3", *CPU, "2.1", "2.2", "2.3", "2.4", "2.5"],
          ["core/2_autodiff/operations.cpp"]),
    Stage("gpu", "a linear layer and your loop, with your kernels", "linear",
          ["3.1", "3.2", "3.3", "3.8", "4.1", "4.2", "4.3", "4.4"], ["core/4_training/gpu_device.cu", LINEAR], ["-DTRAIN_ON_GPU"], kernels=True),
    Stage("replicas", "four replicas in four threads, by your step of task 5.3", "replicas", ["1.4", "5.3"], []),
    Stage("ring", "four ranks in four threads, which add up gradients by your ring", "replicas", ["1.4", "5.2"], [], ["-DTRAIN_RING"]),
    Stage("text", "a transformer learns a text and goes on with it, with your kernels", "text",
          ["3.3", "3.8", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6"], [], kernels=True),
    Stage("chat", "a language model from a file answers each line that it reads", "chat", ["8.1", "8.3", "8.4", "8.5", "8.6"], ["core/header.cpp"],
          kernels=True, talks=True),
]


def images(folder, part):
    """(rows, pixels of a row, floats from 0 to 1, labels) of files in MNIST's format."""
    def read(name):
        path = os.path.join(folder, name)
        if not os.path.exists(path) and not os.path.exists(path + ".gz"):
            raise SystemExit(f"train: {folder} has no {name} or {name}.gz; --data names a folder with files in MNIST's format")
        with (open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz")) as file:
            return file.read()
    pixels, labels = read(f"{part}-images-idx3-ubyte"), read(f"{part}-labels-idx1-ubyte")
    _, rows, height, width = struct.unpack(">4I", pixels[:16])
    return rows, height * width, array.array("f", (each / 255 for each in pixels[16:])), array.array("q", list(labels[8:]))


def unsolved(task, submission):
    """Whether the file of a task is still its stub."""
    with open(os.path.join(submission, "core", task.file), errors="replace") as file:
        return f'not_implemented("{task.name}")' in file.read()


def build_stage(builder, stage, tasks, submission, folder):
    """The program of a stage. Errors: build.Problem."""
    on_gpu = not builder._simulator_rooms()

    def own(path):
        return builder._own(path, *stage.options, *(["-x", "c++"] if path.endswith(".cu") and not on_gpu else []))
    parts = [builder._student_object(task, submission) for task in tasks]
    parts += [own("core/not_implemented.cpp"), own(f"runner/train/{stage.program}.cpp"), *map(own, stage.given)]
    if any(task.kernels for task in tasks):
        parts += builder._simulator_libraries(next(task for task in tasks if task.kernels))
    program = os.path.join(folder, stage.name)
    build._run([*builder._linker(), "-o", program, *parts, "-lpthread"], folder)
    return program


def packed(folder, epochs, most):
    """What a program reads: images to learn, at most `most` of them, and images to test."""
    learned, tested = images(folder, "train"), images(folder, "t10k")
    rows, width = min(most or learned[0], learned[0]), learned[1]
    return b"".join([struct.pack("<5q", rows, tested[0], width, max(learned[3]) + 1, epochs), learned[2][:rows * width].tobytes(),
                     learned[3][:rows].tobytes(), tested[2].tobytes(), tested[3].tobytes()])


def main(home, arguments):
    options = _parse(arguments)
    tasks = {task.name: task for task in grading.load_tasks(home)}
    folder = grading.build_folder(home)
    builder, on_gpu = build.Builder(home, folder), None
    if options.gpu:
        from . import gpu
        try:
            card = gpu.Gpu()
        except build.Problem as problem:
            raise SystemExit(f"train: {problem}") from None
        print(f"on {card}")
        on_gpu = gpu.GpuBuilder(home, os.path.join(folder, "gpu"), card.nvcc, card.arch)
    failed = 0
    for stage in STAGES:
        if stage.name not in options.stages if options.stages else stage.talks:
            continue
        wanted = [tasks[name] for name in stage.tasks]
        print(f"{stage.name}: {stage.title}", flush=True)
        missing = [task.name for task in wanted if unsolved(task, home)]
        if missing:
            print(f"  it needs what is not implemented yet: {', '.join(missing)}")
            continue
        if stage.kernels and not on_gpu:
            print("  (on a simulated GPU; --gpu takes a real one)", flush=True)
        with tempfile.TemporaryDirectory(dir=folder) as place:
            try:
                program = build_stage(on_gpu if stage.kernels and on_gpu else builder, stage, wanted, home, place)
            except build.Problem as problem:
                print("\n".join("  " + line for line in str(problem).splitlines()))
                failed += 1
                continue
            start = time.monotonic()
            if stage.talks:
                done = subprocess.run([program, options.model or os.path.join(home, "model", "chat.safetensors"), str(options.temperature)])
            else:
                given = packed(options.data or os.path.join(home, "data", "digits"), options.epochs, options.images)
                done = subprocess.run([program], input=given)
            if done.returncode < 0:
                print(f"  the program crashed: {signal.Signals(-done.returncode).name}")
            failed += done.returncode != 0
            print(f"  ({time.monotonic() - start:.1f} s)")
    return 1 if failed else 0


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="train", description=TEXT)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=", ".join(each.name for each in STAGES))
    parser.add_argument("--epochs", type=int, default=5, metavar="N", help="how often all images are learned (5)")
    parser.add_argument("--images", type=int, metavar="N", help="how many images are learned")
    parser.add_argument("--data", metavar="DIR", help="files in MNIST's format (data/digits)")
    parser.add_argument("--model", metavar="FILE", help="what chat reads (model/chat.safetensors)")
    parser.add_argument("--temperature", type=float, default=0, metavar="T", help="of chat: how freely it chooses its words (0: always the likeliest)")
    parser.add_argument("--gpu", action="store_true", help="stages with kernels (gpu, text, chat) on a real GPU (needs nvcc)")
    options = parser.parse_args(arguments)
    unknown = [each for each in options.stages if each not in [stage.name for stage in STAGES]]
    if unknown or options.epochs < 1 or (options.images or 1) < 1:
        parser.error(f"there is no stage {unknown[0]}" if unknown else "--epochs and --images are 1 or more")
    if not options.temperature >= 0:
        parser.error("--temperature is 0 or more")
    if options.model and not os.path.isfile(options.model):
        raise SystemExit(f"train: there is no file {options.model}; --model names a model")
    return options
