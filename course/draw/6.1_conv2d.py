"""Draws the pixels that a block of outputs needs: its tile and the halo around it."""
from svg import BLUE, GREEN, ORANGE, Canvas

CELL = 24
picture = Canvas(690, 350)


def grid(x, y, size, fill):
    picture.cells(x, y, [[""] * size for _ in range(size)], fill, cell=CELL)


def needed(i, j):
    """A block of 4 x 4 outputs at (3, 3), windows of 3 x 3, padding 1: pixels 2 ... 7 of rows and columns."""
    if 2 <= i <= 4 and 2 <= j <= 4:
        return BLUE
    if 3 <= i <= 6 and 3 <= j <= 6:
        return GREEN
    return ORANGE if 2 <= i <= 7 and 2 <= j <= 7 else None


picture.text(30, 30, "x, one channel of 10 x 10 pixels")
grid(30, 44, 10, needed)
picture.text(400, 30, "out, one channel, padding 1")
grid(400, 44, 10, lambda i, j: BLUE if (i, j) == (3, 3) else GREEN if 3 <= i <= 6 and 3 <= j <= 6 else None)
picture.arrow(30 + 5 * CELL + 2, 44 + 3.5 * CELL, 400 + 3 * CELL - 4, 44 + 3.5 * CELL)
picture.text(30, 306, "orange: the halo, needed by the outputs at the border of the block", 13)
picture.text(30, 324, "blue: the window of the block's first output", 13)
picture.text(30, 342, "green: a block of 4 x 4 outputs, and the pixels at the same places", 13)
picture.save("6.1")
