"""The picture of task 0.2: element 7 of a tensor of 2 x 3 x 4, and the divisions that find it."""
from svg import BLUE, CELL, GREEN, ORANGE, PURPLE, Canvas

picture = Canvas(560, 250)
picture.text(20, 26, "sizes (2, 3, 4): the number of each element", bold=True)
for matrix in range(2):
    x = 20 + matrix * (4 * CELL + 30)
    picture.cells(x, 66, [[matrix * 12 + row * 4 + column for column in range(4)] for row in range(3)],
                  fill=lambda row, column, matrix=matrix: ORANGE if (matrix, row, column) == (0, 1, 3) else None)
    picture.text(x + 2 * CELL, 56, f"index 0 is {matrix}", 12, "middle")
y = 210
for i, (text, colour) in enumerate([("7 = 1 * 4 + 3", BLUE), ("1 = 0 * 3 + 1", GREEN), ("0 = 0 * 2 + 0", PURPLE)]):
    picture.box(20 + i * 125, y, 105, 28, text, colour, size=13)
    if i < 2:
        picture.arrow(125 + i * 125, y + 14, 143 + i * 125, y + 14)
picture.text(20, y - 14, "divide by 4, by 3, by 2: the remainders are the indices 3, 1, 0", 13)
picture.text(400, y + 19, "position (0, 1, 3)", bold=True)
picture.save("0.2")
