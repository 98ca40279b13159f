"""The picture of task 5.6: a sum that goes from rank to rank, until each rank has a part; then parts that all get."""
from svg import BLUE, GREEN, GREY, ORANGE, Canvas

COLOURS = [BLUE, ORANGE, GREEN]
picture = Canvas(700, 300)
for r in range(3):
    picture.text(150 + 184 * r + 69, 34, f"rank {r}", 14, "middle", bold=True)
for row, (title, cells) in enumerate((("at first", None), ("reduce-scatter", "own"), ("all-gather", "all"))):
    y = 50 + 86 * row
    picture.text(14, y + 23, title)
    for r in range(3):
        for p in range(3):
            text = f"{'abc'[r]}{p}" if cells is None else f"sum {p}" if cells == "all" or p == r else ""
            picture.box(150 + 184 * r + 46 * p, y, 46, 36, text, COLOURS[p] if text and cells else GREY, size=12)
for r in range(3):  # all ranks' numbers of part r meet at rank r, and go from there to all
    for other in range(3):
        x, to = 150 + 184 * other + 46 * r + 23, 150 + 184 * r + 46 * r + 23
        picture.arrow(x, 88, to + (0 if x == to else -8 if x < to else 8), 132)
        picture.arrow(to, 174, x, 218)
picture.text(14, 286, "Each half moves (N - 1) / N of the data of a rank. Both together are the all-reduce of task 5.2.", 13)
picture.save("5.6")
