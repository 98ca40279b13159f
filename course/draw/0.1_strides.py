"""The picture of task 0.1: a matrix, and its place in memory."""
from svg import BLUE, CELL, ORANGE, Canvas

picture = Canvas(520, 220)
colour = lambda row: (BLUE, ORANGE)[row]  # noqa: E731
picture.text(20, 26, "sizes (2, 3)", bold=True)
picture.cells(20, 40, [["a", "b", "c"], ["d", "e", "f"]], fill=lambda row, column: colour(row))
picture.arrow(20 + 0.5 * CELL, 40 + 2 * CELL + 14, 20 + 1.5 * CELL, 40 + 2 * CELL + 14)
picture.text(20 + 1.7 * CELL, 40 + 2 * CELL + 19, "next column: + 1")
picture.arrow(20 + 3 * CELL + 14, 40 + 0.5 * CELL, 20 + 3 * CELL + 14, 40 + 1.5 * CELL)
picture.text(20 + 3 * CELL + 26, 40 + CELL + 5, "next row: + 3")
picture.text(290, 62, "strides (3, 1)", bold=True)
picture.text(20, 170, "memory", bold=True)
x = 100
picture.cells(x, 148, [["a", "b", "c", "d", "e", "f"]], fill=lambda row, column: colour(column // 3))
for i in range(6):
    picture.text(x + (i + 0.5) * CELL, 200, i, 12, "middle")
picture.text(x + 6 * CELL + 14, 200, "place = row * 3 + column", 12)
picture.save("0.1")
