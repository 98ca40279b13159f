"""The picture of task 1.3: a matrix reduced along each of its dimensions."""
from svg import BLUE, CELL, GREEN, ORANGE, Canvas

picture = Canvas(560, 230)
picture.text(20, 26, "x: sizes (2, 3)", 13, bold=True)
picture.cells(20, 40, [[0, 1, 2], [3, 4, 5]], fill=lambda row, column: BLUE)
for column in range(3):
    picture.arrow(20 + (column + 0.5) * CELL, 40 + 2 * CELL + 4, 20 + (column + 0.5) * CELL, 150)
picture.cells(20, 154, [[3, 5, 7]], fill=lambda row, column: ORANGE)
picture.text(20, 212, "dim 0: sizes (1, 3)", 13, bold=True)
for row in range(2):
    picture.arrow(20 + 3 * CELL + 4, 40 + (row + 0.5) * CELL, 190, 40 + (row + 0.5) * CELL)
picture.cells(194, 40, [[3], [12]], fill=lambda row, column: GREEN)
picture.text(244, 40 + CELL + 5, "dim 1: sizes (2, 1)", 13, bold=True)
picture.text(194, 160, "steps between the elements of a sum:", 13)
picture.text(194, 180, "strides[0] = 3 along dim 0, strides[1] = 1 along dim 1", 13)
picture.save("1.3")
