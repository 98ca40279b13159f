"""Runs benchmark programs side by side, of which one at a time measures.

    bench/in_turns.py TURNS [--only PART] [--device DEVICE] PROGRAM=LOG...

With --wait a program says that it is ready for a case, waits for a line of its input, and answers
with a line of its output, which goes to its log; it prepares its next case before another program
measures. So what else the machine does in those moments, and what clock it runs at, hits all of
them. All that is done TURNS times.
"""
import argparse
import subprocess
import time

REST = 0.02  # seconds in which the threads of the program before stop looking for work


def take_turns(programs, logs, options):
    running = [subprocess.Popen([program, "--wait", *options], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
               for program in programs]
    for program in running:
        program.stdout.readline()
    ended = False
    while not ended:
        for program, log in zip(running, logs):
            time.sleep(REST)
            try:
                program.stdin.write("\n")
                program.stdin.flush()
            except BrokenPipeError:
                pass  # it has ended, which its output says
            log.write(program.stdout.readline())
            ended = not program.stdout.readline() or ended
    for program in running:
        program.communicate()
        if program.returncode != 0:
            raise SystemExit(f"bench/in_turns.py: {program.args[0]} ended with status {program.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("turns", type=int)
    parser.add_argument("--only", default="", metavar="PART", help="the cases whose names contain it")
    parser.add_argument("--device", default="cpu", help="where tensors are made")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM=LOG")
    args = parser.parse_args()
    programs, paths = zip(*(program.rsplit("=", 1) for program in args.programs))
    logs = [open(path, "w") for path in paths]
    for _ in range(args.turns):
        take_turns(programs, logs, ["--device", args.device, args.only])


main()
