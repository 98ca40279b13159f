"""The picture of task 0.4: views of the same six numbers."""
from svg import BLUE, CELL, GREEN, ORANGE, PURPLE, Canvas

picture = Canvas(640, 300)
picture.text(20, 30, "memory", bold=True)
picture.cells(100, 10, [[0, 1, 2, 3, 4, 5]], fill=lambda row, column: BLUE)
top = 130


def view(x, title, rows, colour, lines):
    picture.text(x, top - 14, title, 13, bold=True)
    picture.cells(x, top, rows, fill=lambda row, column: colour)
    for i, line in enumerate(lines):
        picture.text(x, top + 3 * CELL + 20 + i * 18, line, 12)


view(20, "x", [[0, 1, 2], [3, 4, 5]], BLUE, ["sizes (2, 3)", "strides (3, 1)", "offset 0"])
view(170, "permute {1, 0}", [[0, 3], [1, 4], [2, 5]], ORANGE, ["sizes (3, 2)", "strides (1, 3)", "offset 0"])
view(320, "narrow 1, 1, 2", [[1, 2], [4, 5]], GREEN, ["sizes (2, 2)", "strides (3, 1)", "offset 1"])
view(470, "row 1, expanded", [[3, 4, 5], [3, 4, 5], [3, 4, 5]], PURPLE, ["sizes (3, 3)", "strides (0, 1)", "offset 3"])
for i, x in enumerate((40, 205, 355, 520)):
    picture.line(100 + (0.5, 0.5, 1.5, 3.5)[i] * CELL, 46, x, top - 32, dashed=True)
picture.text(330, 32, "where the first element lies: the offset", 12)
picture.save("0.4")
