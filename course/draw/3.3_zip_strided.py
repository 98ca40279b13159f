"""Draws one element of a sum whose second operand is broadcast by a stride of 0."""
from svg import BLUE, GREEN, ORANGE, PALE, Canvas

picture = Canvas(650, 236)
X, Y, OUT, TOP, CELL = 20, 240, 470, 66, 48


def matrix(x, rows, colour, name, strides):
    picture.text(x, 24, name, 14, bold=True)
    picture.text(x, 44, strides, 12, colour=PALE)
    picture.cells(x, TOP, rows, lambda i, j: colour if (i, j) == (1, 2) else None, CELL, 12)


matrix(X, [["x0", "x1", "x2"], ["x3", "x4", "x5"]], BLUE, "x: sizes (2, 3)", "strides (3, 1)")
matrix(Y, [["y0", "y1", "y2"], ["y0", "y1", "y2"]], ORANGE, "y: sizes (2, 3)", "strides (0, 1): only 3 numbers")
matrix(OUT, [["", "", ""], ["", "", "x5+y2"]], GREEN, "out: sizes (2, 3)", "strides (3, 1)")
picture.text(202, TOP + CELL + 6, "+", 22, "middle")
picture.text(426, TOP + CELL + 6, "=", 22, "middle")
for x, text, colour in ((X, "1 * 3 + 2 * 1 = 5", BLUE), (Y, "1 * 0 + 2 * 1 = 2", ORANGE), (OUT, "1 * 3 + 2 * 1 = 5", GREEN)):
    picture.arrow(x + 2.5 * CELL, TOP + 2 * CELL, x + 2.5 * CELL, 178)
    picture.box(x, 180, 150, 28, text, colour, size=13)
picture.text(X, 228, "Thread i = 5 computes position (1, 2): one position, and a place in each of three memories.", 13)
picture.save("3.3")
