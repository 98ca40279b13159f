"""The picture of task 5.3: shards, gradients, their sum, and the step."""
from svg import BLUE, GREEN, ORANGE, PURPLE, Canvas

picture = Canvas(690, 262)
COLOURS, SIZES = [BLUE, ORANGE, GREEN], [3, 2, 2]
for x, title in [(20, "batch"), (130, "replicas"), (300, "sum, in order"), (462, "mean"), (560, "weights")]:
    picture.text(x, 28, title, bold=True)
row = 0
for i, size in enumerate(SIZES):
    y = 48 + 70 * i
    for r in range(size):
        picture.box(20, 44 + 29 * row, 62, 27, f"row {row}", COLOURS[i], size=12)
        row += 1
    middle = 44 + 29 * (row - size / 2)
    picture.arrow(84, middle, 128, y + 24)
    picture.box(130, y, 104, 48, f"replica {i}\ngradient g{i}", COLOURS[i], size=12)
    picture.arrow(236, y + 24, 298, [72, 142, 212][i])
    picture.box(300, y, 112, 48, ["g0", "g0 + g1", "(g0 + g1) + g2"][i], PURPLE, size=12)
    if i:
        picture.arrow(356, y - 22, 356, y - 2)
    picture.box(560, y, 104, 48, f"replica {i}:\nw - lr * mean", COLOURS[i], size=12)
    picture.arrow(536, 212, 558, y + (24 if i == 2 else 40))
picture.arrow(414, 212, 460, 212)
picture.box(462, 188, 72, 48, "/ 7 rows", PURPLE, size=12)
picture.save("5.3")
