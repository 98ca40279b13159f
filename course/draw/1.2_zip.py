"""The picture of task 1.2: a column and a row make a matrix."""
from svg import BLUE, CELL, GREEN, ORANGE, Canvas

picture = Canvas(600, 200)
picture.text(20, 26, "x: sizes (2, 1)", 13, bold=True)
picture.cells(20, 70, [[1], [2]], fill=lambda row, column: BLUE)
picture.cells(20 + CELL, 70, [[1, 1], [2, 2]], fill=lambda row, column: "#eef4fa")
picture.text(20 + 3 * CELL + 20, 70 + CELL + 6, "+", 20, "middle")
x = 180
picture.text(x, 26, "y: sizes (1, 3)", 13, bold=True)
picture.cells(x, 70, [[10, 20, 30]], fill=lambda row, column: ORANGE)
picture.cells(x, 70 + CELL, [[10, 20, 30]], fill=lambda row, column: "#fff1e2")
picture.text(x + 3 * CELL + 20, 70 + CELL + 6, "=", 20, "middle")
x = 340
picture.text(x, 26, "out: sizes (2, 3)", 13, bold=True)
picture.cells(x, 70, [[11, 21, 31], [12, 22, 32]], fill=lambda row, column: GREEN)
picture.text(20, 170, "pale: repeated by a stride that counts as 0; nothing is copied", 13)
picture.save("1.2")
