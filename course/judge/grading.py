"""Grades a submission: runs the tests of tasks, and makes the result that every report and format is made of."""
import concurrent.futures
import glob
import hashlib
import importlib.util
import os
import re
import threading
import time
import traceback
import typing

from . import build, hiding, process, testing, traffic

VERSION = "0.1.0"


def load_tasks(home, staff=False, hidden=None):
    """The tasks of course/tests, in order; where they are wanted with the staff's hidden tests: those of `hidden` (name -> text),
    or of their folder."""
    testing.TASKS.clear()
    for path in sorted(glob.glob(os.path.join(home, "tests", "[0-9]*.py"))):
        spec = importlib.util.spec_from_file_location("test_" + os.path.basename(path)[:-3].replace(".", "_"), path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    if staff:
        for name, text in sorted((hiding.texts(home) if hidden is None else hidden).items()):
            exec(compile(text, f"<hidden {name}>", "exec"), {"__name__": "hidden"})
    return [testing.TASKS[name] for name in sorted(testing.TASKS)]


def build_folder(home):
    """Where to build: build/ of a handout, build/grade/ of Gradus."""
    if os.path.isdir(os.path.join(home, "cuda")):
        return os.path.join(home, "build")
    return os.path.join(os.path.dirname(home), "build", "grade")


def student_number(text):
    """The number, or name, of a student as it counts: without spaces, in small letters. Errors: ValueError."""
    number = "".join(text.split()).lower()
    if not re.fullmatch(r"[^\W_][\w.@+-]{0,63}", number):
        raise ValueError("a student's number has 1 to 64 letters, digits and signs of . @ + - _, and begins with a letter or digit")
    return number


def seed_of(student):
    """The seed of a student's inputs: a hash of the number, the same on each machine."""
    return int.from_bytes(hashlib.sha256(f"gradus course, student {student}".encode()).digest()[:4], "big")


LONGEST = 8000  # characters of a message


def plain(text):
    """The text as a terminal may show it: without its commands, and not too long."""
    text = "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text[:LONGEST])
    return text if len(text) < LONGEST else text[:LONGEST] + " ..."


TASK_SECONDS = 40  # of processor time for all tests of a task: after that the rest of them fail


class Ran(typing.NamedTuple):
    """How a test went."""
    message: str  # why it failed, or ""
    seconds: float
    processor_seconds: float
    hint: str  # none where the program ended
    blocks_left: int  # of memory
    timed_out: bool  # it went on until a limit
    shown: dict  # what pictures are drawn of: "compared" (counterexample.py), "traffic" (traffic.py)


class Grader:
    """Grades with the course in `home` and builds into `folder`. The number of a student gives the seed of public tests; hidden ones
    keep `seed`, which no student knows."""
    on_gpu, limits, environment = False, process.Limits, None

    def __init__(self, home, folder, seed=1, cores=None, jobs=None, student=None):
        self.home, self.cores, self.student = home, cores, student
        self.seed, self.hidden_seed = seed_of(student) if student else seed, seed
        self.builder = build.Builder(home, folder)
        self.jobs = jobs or os.cpu_count()
        self.processor_seconds = 0.0
        self._lock = threading.Lock()

    def grade(self, tasks, submission, told=lambda graded: None, built=lambda done, of: None):
        """The result of these tasks. told(task's part) is called for each as it comes, in order; built() while the judge's
        own parts are built."""
        start = time.monotonic()
        self.builder.prepare(tasks, self.jobs, built)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = [pool.submit(self.grade_task, task, submission) for task in tasks]
            graded = []
            for each in waiting:
                graded.append(each.result())
                told(graded[-1])
        return self.result(graded, time.monotonic() - start)

    def result(self, graded, seconds):
        """The result that these parts make."""
        usual, extra = ([each for each in graded if each["extra"] is kind] for kind in (False, True))
        return {"seed": self.seed, "student": self.student or "", "course": "gradus", "version": VERSION,
                "score": sum(each["points"] for each in usual), "max": sum(each["max"] for each in usual),
                "extra": sum(each["points"] for each in extra), "extra_max": sum(each["max"] for each in extra),
                "seconds": round(seconds, 1), "tasks": graded, "leaderboard": []}

    def grade_task(self, task, submission):
        """The part of the result that is about one task. REQUIRES: prepare() was called for it."""
        problem, program, said, text = "", None, build.Said(), ""
        try:
            text = self.builder.text(task, submission)
            program = self.builder.runner(task, submission)
            said = self.builder.said(task, submission)
        except build.Problem as error:
            problem = str(error)
        except Exception:  # noqa: BLE001: a fault of the judge, which costs this task alone
            problem = "the judge failed while it built this file, and its staff should know\n" + traceback.format_exc(limit=-1)
        tests, used, leaks, limits = [], 0.0, False, self.limits  # a leak costs one test, not all
        for test in [*task.tests, *task.hidden_tests]:
            message, seconds, hint, shown = problem and "the task could not be built", 0.0, "", {}
            if used > TASK_SECONDS:
                message = f"not run: the tests before it took more than {TASK_SECONDS} s of processor time"
            elif program:
                message, seconds, processor_seconds, hint, left, timed_out, shown = self.run_test(test, program, said, limits, text)
                used += processor_seconds
                if timed_out and not self.on_gpu:
                    limits = process.ShortLimits
                if left > 0 and not message and not leaks:
                    leaks, hint = True, "Give back what you take with new; a std::vector does so by itself."
                    message = f"{left} blocks of memory were not given back after a call"
            tests.append({"name": test.name, "title": test.title, "points": 0 if message else test.points,
                          "max": test.points, "passed": not message, "hidden": test.of is not None, "of": test.of,
                          "message": message, "hint": hint, "seconds": round(seconds, 2), "shown": shown})
        for each in tests:
            each["seen"] = each["points"]  # what a student may know before hidden tests are published
        for each in tests:
            if each["hidden"] and not each["passed"]:
                for public in tests:
                    if public["name"] == each["of"]:
                        public["points"] = 0
        for each in tests:
            del each["of"]
        return {"task": task.name, "title": task.title, "module": task.module, "file": task.file,
                "points": sum(each["points"] for each in tests), "max": task.points, "extra": task.extra,
                "problem": plain(problem), "warnings": plain(said.warnings), "tests": tests}

    def run_test(self, test, program, said=None, limits=None, text=""):
        """text: that of the student's file."""
        start = time.monotonic()
        runner = process.Runner(program, self.cores, limits or self.limits, self.environment, test.task.file)
        message, hint, shown = "", test.hint, {}
        context = testing.Context(runner.ask, self.hidden_seed if test.of else self.seed, f"{test.task.name} {test.name}", self.on_gpu, said)
        try:
            test.body(context)
        except testing.Failed as failed:
            message = str(failed)
            shown = {"compared": failed.compared} if failed.compared else {}
        except process.Died as died:
            message = f"{context.shown_inputs()}{died}"
            hint = ""
        except Exception:  # noqa: BLE001: a fault of the test itself, or a reply that no honest runner sends
            message = f"{context.shown_inputs()}the test could not read the reply\n" + traceback.format_exc(limit=-1)
        finally:
            runner.close()
            with self._lock:
                self.processor_seconds += runner.processor_seconds
        if message and runner.output:
            printed = runner.output.decode(errors="replace").splitlines()
            message += "\nit printed:\n" + "\n".join("  " + line for line in printed[:20])
        if context.traffic and (message or context.counts):
            moved = traffic.parsed(context.traffic, os.path.basename(test.task.file), text)
            shown.update({"traffic": moved} if moved else {})
        return Ran(plain(message), time.monotonic() - start, runner.processor_seconds, hint, context.blocks_left, runner.timed_out, shown)


