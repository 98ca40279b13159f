"""The picture of task 4.1: the three products of a linear layer, by their shapes."""
from svg import BLUE, GREEN, ORANGE, PALE, PURPLE, Canvas

picture = Canvas(690, 424)
U = 26  # pixels for each row or column
ROWS, IN, OUT = 4, 3, 2


def matrix(x, y, rows, columns, name, fill):
    picture.box(x, y, columns * U, rows * U, name, fill)
    return x + columns * U


def product(y, title, result, left, right):
    """Three matrices (rows, columns, name, fill) as result = left right; y is their middle."""
    picture.text(20, y + 5, title, bold=True)
    x = 130
    for sign, (rows, columns, name, fill) in zip(("=", "", ""), (result, left, right)):
        end = matrix(x, y - rows * U / 2, rows, columns, name, fill)
        picture.text(x + columns * U / 2, y + rows * U / 2 + 16, f"({SHAPE[rows]}, {SHAPE[columns]})", 12, "middle", PALE)
        if sign:
            picture.text(end + 22, y + 5, sign, 16, "middle")
        x = end + (44 if sign else 40)


SHAPE = {ROWS: "rows", IN: "in", OUT: "out"}
product(80, "forward", (ROWS, OUT, "y", ORANGE), (ROWS, IN, "x", BLUE), (IN, OUT, "wᵀ", GREEN))
product(216, "input", (ROWS, IN, "dx", BLUE), (ROWS, OUT, "dy", ORANGE), (OUT, IN, "w", GREEN))
product(346, "weight", (OUT, IN, "dw", GREEN), (OUT, ROWS, "dyᵀ", ORANGE), (ROWS, IN, "x", BLUE))
picture.text(520, 30, "bias", bold=True)
picture.box(520, 44, OUT * U, ROWS * U, "dy", ORANGE)
picture.arrow(520 + OUT * U / 2, 44 + ROWS * U + 4, 520 + OUT * U / 2, 44 + ROWS * U + 36)
picture.box(520, 44 + ROWS * U + 38, OUT * U, U, "db", PURPLE)
picture.text(560, 44 + ROWS * U + 24, "the sum of all rows", 13)
for i, line in enumerate(("A transposed matrix is", "the same memory, with", "row and column of its", "Mat exchanged.")):
    picture.text(520, 318 + 20 * i, line, 13)
picture.save("4.1")
