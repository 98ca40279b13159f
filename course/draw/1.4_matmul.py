"""The picture of task 1.4: a row of a and a column of b make one element of out."""
from svg import BLUE, CELL, GREEN, ORANGE, Canvas

picture = Canvas(560, 260)
m, n, k = 3, 4, 2
left, top = 60, 120
grid = lambda rows, columns: [[""] * columns for _ in range(rows)]  # noqa: E731
picture.text(left + k * CELL / 2, top + m * CELL + 20, "a (m, k)", 13, "middle", bold=True)
picture.cells(left, top, grid(m, k), fill=lambda row, column: BLUE if row == 1 else None)
x = left + k * CELL + 40
picture.text(x + n * CELL + 14, 20 + k * CELL / 2 + 5, "b (k, n)", 13, bold=True)
picture.cells(x, 20, grid(k, n), fill=lambda row, column: ORANGE if column == 2 else None)
picture.text(x + n * CELL / 2, top + m * CELL + 20, "out (m, n)", 13, "middle", bold=True)
picture.cells(x, top, grid(m, n), fill=lambda row, column: GREEN if (row, column) == (1, 2) else None)
picture.arrow(left + k * CELL + 2, top + 1.5 * CELL, x + 2 * CELL - 2, top + 1.5 * CELL)
picture.arrow(x + 2.5 * CELL, 20 + k * CELL + 2, x + 2.5 * CELL, top + CELL - 2)
picture.text(left - 12, top + 1.5 * CELL + 5, "i", 14, "end")
picture.text(x + 2.5 * CELL, 14, "j", 14, "middle")
picture.text(x + n * CELL + 14, top + 1.5 * CELL - 4, "the sum of", 13)
picture.text(x + n * CELL + 14, top + 1.5 * CELL + 14, "a(i, p) * b(p, j)", 13)
picture.save("1.4")
