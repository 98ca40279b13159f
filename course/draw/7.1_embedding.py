"""The picture of task 7.1: tokens pick rows of one table, and their places rows of another."""
from svg import BLUE, GREEN, ORANGE, Canvas

picture = Canvas(640, 236)
ids = [2, 0, 1, 2]
picture.text(20, 26, "ids", bold=True)
picture.cells(20, 40, [[each] for each in ids])
for x, title, rows, fill in ((110, "table", 3, BLUE), (270, "places", 2, ORANGE)):
    picture.text(x, 26, title, bold=True)
    picture.cells(x, 40, [[f"{title[0]}{i}", "", ""] for i in range(rows)], fill=lambda i, j, fill=fill: fill)
picture.text(430, 26, "out", bold=True)
picture.cells(430, 40, [[f"t{v}+p{i % 2}", "", ""] for i, v in enumerate(ids)], fill=lambda i, j: GREEN, cell=44, size=11)
picture.arrow(56, 57, 106, 125)
picture.arrow(376, 57, 426, 62)
picture.text(20, 222, "length is 2: the places are 0, 1, 0, 1. Backward, row 2 of the table collects from tokens 0 and 3.", 13)
picture.save("7.1")
