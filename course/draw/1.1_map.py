"""The picture of task 1.1: one position, and its places in two memories."""
from svg import BLUE, CELL, GREY, ORANGE, Canvas

picture = Canvas(600, 250)
picture.text(20, 26, "position (1, 2)", bold=True)
picture.cells(20, 40, [["", "", ""], ["", "", "p"]], fill=lambda row, column: ORANGE if (row, column) == (1, 2) else None)
x = 200
picture.text(x, 40, "x: sizes (2, 3), strides (1, 2)", 13, bold=True)
picture.cells(x, 50, [list(range(6))], fill=lambda row, column: ORANGE if column == 5 else BLUE)
picture.text(x, 104, "1 * 1 + 2 * 2 = place 5", 13)
picture.text(x, 150, "out: sizes (2, 3), strides (4, 1)", 13, bold=True)
picture.cells(x, 160, [list(range(8))], fill=lambda row, column: ORANGE if column == 6 else GREY if column % 4 == 3 else BLUE)
picture.text(x, 214, "1 * 4 + 2 * 1 = place 6", 13)
picture.text(x, 236, "grey: gaps, which belong to others", 12)
picture.line(20 + 3 * CELL, 40 + 1.5 * CELL, x - 6, 70, arrow=True)
picture.line(20 + 3 * CELL, 40 + 1.5 * CELL, x - 6, 172, arrow=True)
picture.save("1.1")
