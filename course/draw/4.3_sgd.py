"""The picture of task 4.3: a table of parameters, and the grid of its launch."""
from svg import BLUE, GREEN, GREY, ORANGE, Canvas

picture = Canvas(690, 262)
picture.text(20, 28, "Params, an argument of the kernel", bold=True)
ROWS = [("weight 0", 3.4, BLUE), ("bias 0", 0.6, ORANGE), ("weight 1", 2.2, GREEN)]
for j, (title, width) in enumerate([("weight", 64), ("gradient", 64), ("velocity", 64), ("size", 48)]):
    picture.text(20 + 64 * j + width / 2, 58, title, 12, "middle")
for i, (name, blocks, colour) in enumerate(ROWS):
    y = 66 + 52 * i
    for j in range(3):
        picture.box(20 + 64 * j, y, 64, 36, "pointer", colour, size=12)
    picture.box(212, y, 48, 36, [870, 150, 560][i], colour, size=12)
picture.text(322, 28, "the grid: blocks of 256 threads", bold=True)
for j in range(4):
    picture.text(322 + 80 * j + 38, 58, f"x = {j}", 12, "middle")
for i, (name, blocks, colour) in enumerate(ROWS):
    y = 66 + 52 * i
    picture.arrow(262, y + 18, 318, y + 18)
    for j in range(4):
        used = min(max(blocks - j, 0), 1)
        picture.box(322 + 80 * j, y, 76, 36, "", GREY)
        if used > 0:
            picture.box(322 + 80 * j, y, 76 * used, 36, "", colour)
    picture.text(664, y + 23, f"y = {i}", 12, "middle")
picture.text(20, 246, "Threads past the end of their parameter (grey) do nothing. One launch, whatever the sizes are.", 13)
picture.save("4.3")
