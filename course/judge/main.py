"""The command line of ./grade."""
import argparse
import json
import os
import shutil
import sys
import time

from . import build, grading, hiding, history, report
from .formats import FORMATS
from .watching import stamps

TEXT = """Grades what you wrote in core/. Without a name it grades everything; ./grade 3 grades module 3, and
./grade 3.7 one task, with every failure explained. The exit status is 0 when
it graded, however many points there are."""


def main(home, arguments):
    options = _parse(arguments)
    missing = [each for each in (build.CXX, "addr2line", "c++filt", "nm", "objcopy", "objdump", "readelf") if not shutil.which(each)]
    if missing:
        _usage(f"{', '.join(missing)} not found; install g++ (12 or newer) and binutils: apt install g++ binutils")
    tasks = grading.load_tasks(home, options.staff, hiding.texts(home, options.hidden) if options.staff else None)
    names = [_name_of(each, tasks) for each in options.names]
    wanted = [task for task in tasks if not names or task.name in names or str(task.module) in names]
    if not os.path.isdir(os.path.join(options.submission or home, "core")):
        _usage(f"{options.submission} holds no folder core/ with solutions")
    for each in options.format:
        if each.partition("=")[0] not in FORMATS:
            _usage(f"there is no format {each.partition('=')[0]}; there are {', '.join(FORMATS)}")
    for path in _outputs(options):
        _check_writable(path)
    folder = options.build or grading.build_folder(home)
    student = _student_of(home, options)
    grader = grading.Grader(home, folder, 1 if options.seed is None else options.seed, options.cores, options.jobs, student)
    submission = options.submission or home
    progress = None if options.submission or options.staff else history.History(home)
    hidden = os.path.join(home, "staff", "hidden")
    if options.staff and os.access(hidden, os.R_OK) and not hiding.hide(hidden):
        print("note: this kernel cannot close staff/hidden to what students wrote; run_autograder as root can\n")
    changed = grader.builder.changed_headers()
    if changed:
        print(f"note: changed since it was handed out: {', '.join(changed)}; scores are made with what was handed out\n")
    explain_all = any("." in name for name in names)
    files = [os.path.join(submission, "core", task.file) for task in wanted]
    try:
        if options.web:
            from . import web
            return web.main(grader, wanted, submission, progress, report.Report(explain_all))
        while True:
            before = stamps(files)
            result = _grade(grader, wanted, submission, explain_all, options)
            if progress:
                progress.add(result["tasks"])
            if not options.watch:
                break
            print("\nwaiting for a change; Ctrl-C ends")
            while stamps(files) == before:
                time.sleep(0.3)
            time.sleep(0.1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # as by ./grade | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except build.Problem as problem:
        print(f"grade: the judge's own parts do not build on this machine:\n{problem}", file=sys.stderr)
        return 1
    if options.gpu:
        from . import gpu
        gpu.main(home, folder, wanted, submission, grader.seed, result)
    _write(options, result)
    return 0


def _grade(grader, tasks, submission, explain_all, options):
    shown = report.Report(explain_all)
    result = grader.grade(tasks, submission, shown.task, shown.built)
    shown.total(result)
    if options.usage:
        print(f"processor time of the runners: {grader.processor_seconds:.1f} s")
    return result


def _name_of(given, tasks):
    """The task or module that was asked for; a task's file stands for the task."""
    for task in tasks:
        if given in (task.name, str(task.module)):
            return given
        if os.path.basename(given) == os.path.basename(task.file):
            return task.name
    module = [task.name for task in tasks if given.partition(".")[0] == str(task.module)]
    if module:
        _usage(f"there is no task {given}; module {module[0][0]} has {', '.join(module)}")
    _usage(f"there is no task or module {given}; modules are {', '.join(sorted({str(task.module) for task in tasks}))}")


def _outputs(options):
    """The files that the result is written to."""
    formats = [each.partition("=") for each in options.format]
    return [*filter(None, [options.json]), *(path or FORMATS[name][0] for name, _, path in formats)]


def _check_writable(path):
    """Ends with a message where the file cannot be written; leaves it as it is."""
    exists = os.path.exists(path)
    if exists and not os.path.isfile(path) and not os.path.isdir(path):
        return  # a pipe or a terminal
    try:
        open(path, "a").close()
    except OSError as error:
        _usage(f"cannot write {path}: {error.strerror}")
    if not exists:
        os.remove(path)


def _write(options, result):
    renders = [lambda each: json.dumps(each, indent=1)] if options.json else []
    renders += [FORMATS[each.partition("=")[0]][1] for each in options.format]
    for path, render in zip(_outputs(options), renders):
        with open(path, "w") as file:
            file.write(render(result))


def _student_of(home, options):
    """The student's number that gives the seed: the option, or the first line of student.txt; None where neither is."""
    text, path = options.student, os.path.join(home, "student.txt")
    if text and options.seed is not None and not options.staff:
        _usage("--seed and --student both choose the inputs; leave one of them out")
    if not text and options.seed is None and not options.submission and not options.staff and os.path.isfile(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.readline(1000)
    try:
        return grading.student_number(text) if text else None
    except ValueError as error:
        _usage(f"{'--student' if options.student else 'student.txt'}: {error}")


def _usage(text):
    print(f"grade: {text}", file=sys.stderr)
    raise SystemExit(2)


def _parse(arguments):
    def staffs(text):
        return text if "--staff" in arguments else argparse.SUPPRESS

    parser = argparse.ArgumentParser(prog="grade", description=TEXT)
    parser.add_argument("names", nargs="*", metavar="TASK", help="tasks (3.7) or modules (3)")
    parser.add_argument("--watch", action="store_true", help="grade again whenever a file changes")
    parser.add_argument("--web", action="store_true", help="show the results, with pictures, on a page in the browser")
    parser.add_argument("--seed", type=int, help="of random inputs (1); it changes no score")
    parser.add_argument("--student", metavar="NUMBER", help="a student's number gives the seed; so does the line of student.txt")
    parser.add_argument("--gpu", action="store_true", help="then run the kernels on a GPU too, and time the race (6.4)")
    parser.add_argument("--json", metavar="FILE", help="write the result")
    parser.add_argument("--format", action="append", default=[], metavar="NAME=FILE",
                        help="write the result for gradescope, classroom50 or junit")
    parser.add_argument("--submission", metavar="DIR", help=staffs("take the solutions in DIR/core, and nothing else of DIR"))
    parser.add_argument("--staff", action="store_true", help=staffs("run the hidden tests too, where they are"))
    parser.add_argument("--hidden", type=int, metavar="N", help=staffs("the hidden tests are in this open file"))
    parser.add_argument("--jobs", type=int, help="how many tasks are tested at once (all cores)")
    parser.add_argument("--cores", type=int, help="how many cores a simulated device uses (all)")
    parser.add_argument("--build", metavar="DIR", help=staffs("where to build (build/)"))
    parser.add_argument("--usage", action="store_true", help=staffs("say how much processor time the runners took"))
    options = parser.parse_args(arguments)
    beside = [name for name in ("watch", "gpu", "json", "format", "staff", "submission", "usage") if getattr(options, name)]
    if options.web and beside:
        parser.error(f"--web goes without --{beside[0]}: the page shows what is in core/, and grades again when it changes")
    return options
