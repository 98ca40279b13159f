"""What ./grade prints: a line for each task, what failed and why, and the score."""
import sys


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
        if graded["problem"]:
            self._explain(graded["problem"])
            return
        failed = [each for each in graded["tests"] if not each["passed"]]
        if failed and all("is not implemented yet" in each["message"] for each in failed):
            if len(failed) == len(graded["tests"]):
                self._explain(f"task {graded['task']} is not implemented yet: core/{graded['file']}")
                return
        if failed and graded.get("warnings"):
            self._explain("the compiler warns:")
            self._explain("\n".join(graded["warnings"].splitlines()[:12]))
        told = set()
        explained = failed if self._explain_all else failed[:1]
        for each in graded["tests"] if self._explain_all else explained:
            if each["hidden"] and each["passed"]:
                continue
            mark = "ok  " if each["passed"] else "FAIL"
            self._print(f"     {mark} {each['points']}/{each['max']}  {each['name']}: {each['title']}",
                        None if each["passed"] else "31")
            if not each["passed"]:
                self._explain("as above" if each["message"] in told else each["message"])
                told.add(each["message"])
                if each["hint"]:
                    self._explain("hint: " + each["hint"])
        if len(failed) > len(explained):
            self._explain(f"and {len(failed) - len(explained)} more; ./grade {graded['task']} explains all")

    def _explain(self, text):
        for line in text.splitlines():
            self._print("          " + line)

    def total(self, result):
        line = f"score {result['score']} of {result['max']}"
        if result["extra_max"]:
            line += f", and {result['extra']} of {result['extra_max']} extra"
        self._print(f"\n{line}   ({result['seconds']:.0f} s, seed {result['seed']})")
