"""What the checks share: graders, and submissions that are made of solutions, stubs or single files."""
import os
import shutil
import tempfile

from judge import grading, stubs

HOME = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
BUILD = grading.build_folder(HOME)


def grader(**options):
    return grading.Grader(HOME, BUILD, **options)


def tasks(staff=False, names=()):
    """All tasks, or those of these names or modules."""
    return [each for each in grading.load_tasks(HOME, staff)
            if not names or each.name in names or str(each.module) in names]


class Submission:
    """A temporary folder of solution files, for use as a context manager. texts: file -> text."""

    def __init__(self, texts):
        self._texts = texts

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="course-")
        for name, text in self._texts.items():
            path = os.path.join(self.folder, "core", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        return self.folder

    def __exit__(self, *_):
        shutil.rmtree(self.folder)


def read(*path):
    with open(os.path.join(HOME, *path)) as file:
        return file.read()


def solution(task):
    """The text that a student who has solved a task hands in."""
    return stubs.unmarked(read("core", task.file))


def lost(graded):
    """The names of the public tests without points; those that a hidden test cost are among them."""
    return sorted(each["name"] for each in graded["tests"] if not each["hidden"] and each["points"] < each["max"])
