"""What the page of ./grade --web shows, and the tasks that wait to be graded."""
import os
import threading
import time
import traceback

from .. import build
from ..watching import stamps


class Desk:
    """Grades tasks one after the other, those that were asked for last first. told(task's part of the result) is called for each."""

    def __init__(self, grader, tasks, submission, progress, told=lambda graded: None):
        self.grader, self.tasks, self.progress = grader, {each.name: each for each in tasks}, progress
        self._submission, self._told = submission, told
        self.changed = threading.Condition()  # guards what follows, and tells of changes
        self.version = 1
        self.versions = {name: 1 for name in self.tasks}  # when the part of a task changed last
        self.graded, self.waiting, self.working = {}, [], []
        self.building, self.problem = "", ""
        self.busy = False  # until the points are kept, too
        self.asked = ""  # the task that was asked for last: the page opens it

    def ask(self, names):
        """Lets these tasks be graded, before all that wait."""
        with self.changed:
            self.waiting = [*names, *(each for each in self.waiting if each not in names)]
            self.asked = names[0] if len(names) == 1 else self.asked
            self._note(names)

    def _note(self, names=()):
        self.version += 1
        self.versions.update({name: self.version for name in names})
        self.changed.notify_all()

    def wait(self, after, seconds):
        """Waits until there is more than version `after`, but no longer than so many seconds."""
        with self.changed:
            self.changed.wait_for(lambda: self.version > after, seconds)

    def result(self):
        """The result so far; a task that is not graded yet has no points."""
        parts = [self.graded.get(name) or {"points": 0, "max": task.points, "extra": task.extra} for name, task in self.tasks.items()]
        return self.grader.result(parts, 0)

    def grade_next(self):
        """Waits for tasks that are asked for, and grades them: as many at once as the grader has jobs."""
        with self.changed:
            self.changed.wait_for(lambda: self.waiting)
            self.working, self.waiting = self.waiting[:self.grader.jobs], self.waiting[self.grader.jobs:]
            self.problem, self.busy = "", True
            names = list(self.working)
            self._note(names)
        done = []
        try:
            self.grader.grade([self.tasks[name] for name in names], self._submission, lambda part: (done.append(part), self._done(part)), self._built)
            self.progress.add(done)
        except build.Problem as problem:
            self._fail(f"the judge's own parts do not build on this machine:\n{problem}")
        except Exception:  # noqa: BLE001: the page goes on, and says what happened
            self._fail("the judge failed:\n" + traceback.format_exc(limit=-3))
        with self.changed:
            self.working, self.building, self.busy = [], "", False
            self._note(names)

    def _done(self, part):
        with self.changed:
            self.graded[part["task"]] = part
            self.working.remove(part["task"])
            self._note([part["task"]])
        self._told(part)

    def _built(self, done, of):
        with self.changed:
            self.building = f"building the judge and the simulator, once: {done} of {of}" if done < of else ""
            self._note()

    def _fail(self, text):
        with self.changed:
            self.problem = text
            self._note()

    def grade_all_asked(self):
        while True:
            self.grade_next()

    def watch(self, seconds=0.4):
        """Lets a task be graded whenever its file changes."""
        files = {name: os.path.join(self._submission, "core", task.file) for name, task in self.tasks.items()}
        before = stamps(files.values())
        while True:
            time.sleep(seconds)
            now = stamps(files.values())
            names = [name for name, old, new in zip(files, before, now) if old != new]
            before = now
            if names:
                self.ask(names)
