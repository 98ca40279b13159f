"""What ./grade prints: a line for each task, what failed and why, and the score."""
import sys


def explained(graded, explain_all):
    """What there is to say of a task's part of the result, in order: (kind, text, test). The kinds are "problem", "unsolved", "warnings",
    "test" (its text is the message) and "more"."""
    if graded["problem"]:
        yield "problem", graded["problem"], None
        return
    failed = [each for each in graded["tests"] if not each["passed"]]
    if failed and len(failed) == len(graded["tests"]) and all("is not implemented yet" in each["message"] for each in failed):
        yield "unsolved", f"task {graded['task']} is not implemented yet: core/{graded['file']}", None
        return
    if failed and graded.get("warnings"):
        yield "warnings", "\n".join(graded["warnings"].splitlines()[:12]), None
    told = set()
    explained = failed if explain_all else failed[:1]
    for each in graded["tests"] if explain_all else explained:
        if not (each["hidden"] and each["passed"]):
            yield "test", "as above" if each["message"] in told else each["message"], each
            told.add(each["message"] or None)
    if len(failed) > len(explained):
        yield "more", f"and {len(failed) - len(explained)} more; ./grade {graded['task']} explains all", None


def score(result):
    """The score as a line of text."""
    extra = f", and {result['extra']} of {result['extra_max']} extra" if result["extra_max"] else ""
    return f"score {result['score']} of {result['max']}{extra}"


class Report:
    """Prints each task as it is graded. With all=False only the first failure of a task is explained."""

    def __init__(self, explain_all, out=sys.stdout):
        self._explain_all, self._out = explain_all, out
        self._colour = out.isatty()

    def built(self, done, of):
        """How far the judge's own parts are; where they are there already it is over before it can be seen."""
        if self._colour:
            print(f"\rbuilding the judge and the simulator, once: {done} of {of} \r" if done < of else "\r" + " " * 60 + "\r",
                  end="", file=self._out, flush=True)

    def _print(self, text, colour=None):
        print(f"\033[{colour}m{text}\033[0m" if colour and self._colour else text, file=self._out, flush=True)

    def task(self, graded):
        points = f"{graded['points']}/{graded['max']}"
        full = graded["points"] == graded["max"]
        self._print(f"{graded['task']}  {graded['title']:<44} {points:>7}", "32" if full else None)
        for kind, text, test in explained(graded, self._explain_all):
            if kind == "warnings":
                self._explain("the compiler warns:")
            if kind == "test":
                mark = "ok  " if test["passed"] else "FAIL"
                self._print(f"     {mark} {test['points']}/{test['max']}  {test['name']}: {test['title']}",
                            None if test["passed"] else "31")
            self._explain(text)
            if kind == "test" and not test["passed"] and test["hint"]:
                self._explain("hint: " + test["hint"])

    def _explain(self, text):
        for line in text.splitlines():
            self._print("          " + line)

    def total(self, result):
        student = f", student {result['student']}" if result["student"] else ""
        self._print(f"\n{score(result)}   ({result['seconds']:.0f} s, seed {result['seed']}{student})")
