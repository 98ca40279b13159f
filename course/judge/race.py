"""The race of task 6.4 on a GPU: the student's matrix products and cuBLAS, each in a process of its own.

A run draws new numbers, poisons the output, times one call by events of the device, takes what the output holds when the
clock stops, and checks it (runner/race.cu). The time of a racer is the median of its runs. A wrong product has no time."""
import os
import statistics

from . import build, process, testing

TASK = "6.4"
SIZE = 4096
WARM_UP, RUNS = 3, 20


class Racer:
    """A contestant: a task's function (`call` says how it is called), or cuBLAS (task None)."""

    def __init__(self, number, name, call, task):
        self.number, self.name, self.call, self.task = number, name, call, task


def racers():
    """All that may race; those whose task the course lacks are left out."""
    all_of_them = [("3.6", "matmul_coalesced"), ("3.7", "matmul_tiled"), ("3.8", "matmul_register"), ("6.4", "matmul")]
    out = [Racer(number, name, name, testing.TASKS[number]) for number, name in all_of_them if number in testing.TASKS]
    return [*out, Racer("", "cuBLAS", "matmul", None)]


def run(grader, submission, gpu, passing, result):
    """Prints the table of the race. passing: the tasks among those graded whose tests all pass on the GPU."""
    print(f"\nThe race: {SIZE} x {SIZE} x {SIZE}, float32, the median of {RUNS} runs, each on new numbers and checked:")
    if not any(task.name == TASK for task in passing):
        print(f"     it begins when all tests of {TASK} pass on the GPU")
        return
    known = {each["task"] for each in result["tasks"]}
    contestants = []
    for each in racers():
        if each.number in known and each.task not in passing:
            print(f"{each.number:>5}  {each.name:<20} not all of its tests pass")
        else:
            contestants.append(each)
    programs = grader.build(lambda each: grader.builder.race_runner(each, submission), contestants)
    rates = {}
    for racer, program in zip(contestants, programs):
        rate, problem = (None, str(program)) if isinstance(program, build.Problem) else _time(grader, program)
        if rate is not None:
            rates[racer.name] = rate
        elif "is not implemented yet" in problem:
            problem = "not implemented yet"
        elif racer.task is None and isinstance(program, build.Problem):
            problem = "cannot be linked here: " + problem.splitlines()[-1]
        print(f"{racer.number:>5}  {racer.name:<20} " + (f"{rate:8.2f} TFLOP/s" if rate is not None else
                                                         problem.replace("\n", "\n          ")), flush=True)
    if "matmul" not in rates:
        return
    result["leaderboard"].append({"name": "TFLOP/s", "value": round(rates["matmul"], 2), "order": "desc"})
    if "cuBLAS" in rates:
        percent = 100 * rates["matmul"] / rates["cuBLAS"]
        print(f"       that is {percent:.0f}% of cuBLAS")
        result["leaderboard"].append({"name": "% of cuBLAS", "value": round(percent), "order": "desc"})
    result["leaderboard"].append({"name": "GPU", "value": gpu.name})


def _time(grader, program):
    """(TFLOP/s, "") or (None, why there is no time)."""
    runner = process.Runner(program, None, grader.limits, grader.environment)
    try:
        # A seed that nobody knows before: a result cannot be made in advance.
        reply = testing.Reply(runner.ask({"m": SIZE, "n": SIZE, "k": SIZE, "runs": WARM_UP + RUNS,
                                          "seed": int.from_bytes(os.urandom(7), "little")}))
    except process.Died as died:
        return None, str(died)
    finally:
        runner.close()
    if reply["problem"]:
        return None, reply["problem text"]
    if reply["wrong"]:
        run, row = reply["wrong"]
        return None, (f"wrong: in run {run}, row {row} of c was not that of the product when the clock stopped (with whole "
                      f"numbers of up to 12 bits, whose product is exact in float32)")
    seconds = statistics.median(reply["seconds"][WARM_UP:])
    return 2 * SIZE ** 3 / seconds / 1e12, ""
