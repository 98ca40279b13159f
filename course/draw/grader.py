"""Draws how a test runs: what the judge, the runner, the student's object and the simulator do."""
from svg import BLUE, GREEN, GREY, ORANGE, PAPER, Canvas

picture = Canvas(760, 386)

# From the student's file to an object.
picture.text(330, 32, "Build, once for each task", 15, bold=True)
picture.box(330, 46, 170, 58, "3.7_matmul_tiled.cu\nthe student's file", ORANGE, size=13)
picture.box(590, 46, 150, 58, "3.7.o\nits own functions", ORANGE, size=13)
picture.arrow(502, 75, 588, 75)
for i, line in enumerate(("g++, alone;", "symbols", "checked")):
    picture.text(544, 66 + 18 * i + (10 if i else 0), line, 12, "middle")

# The judge and the runner, two processes.
picture.text(330, 146, "Run, once for each test", 15, bold=True)
picture.box(20, 160, 196, 210, fill=BLUE)
picture.text(34, 185, "judge", 15, bold=True)
for i, line in enumerate(("a process in Python", "draws the inputs", "knows what is expected", "limits time and memory")):
    picture.text(34, 210 + 20 * i, line, 13)
picture.box(34, 300, 168, 56, "tests/\n3.7_matmul_tiled.py", PAPER, size=13)
picture.box(20, 46, 196, 58, "points and a hint\nresults.json", PAPER, size=13)
picture.arrow(118, 158, 118, 106)

picture.box(330, 160, 410, 210, fill=GREY)
picture.text(344, 185, "runner", 15, bold=True)
picture.text(410, 185, "a process in C++, behind a system call filter", 12)
picture.box(344, 202, 150, 66, "runner/\n3.7_matmul_tiled.cpp", PAPER, size=13)
picture.box(552, 202, 174, 66, "3.7.o: matmul_tiled\nlaunches kernels", ORANGE, size=13)
picture.arrow(496, 235, 550, 235)
picture.text(522, 228, "calls", 12, "middle")
picture.box(344, 300, 382, 56, "simulated device: memory, threads, barriers\nfinds races and bounds, counts loads and wavefronts", GREEN, size=13)
picture.arrow(639, 270, 639, 298)
picture.text(648, 289, "runs on", 12)
picture.arrow(700, 106, 700, 200)
picture.text(692, 146, "linked", 12, "end")

picture.arrow(218, 222, 328, 222)
picture.text(272, 214, "inputs", 13, "middle")
picture.arrow(328, 306, 218, 306)
for i, line in enumerate(("results", "findings", "counts")):
    picture.text(272, 298 + 18 * i + (8 if i else 0), line, 13, "middle")
picture.save("grader")
