"""The picture of task 1.6: blocks of three matrices; one of each is in the cache."""
from svg import BLUE, GREEN, GREY, ORANGE, Canvas

picture = Canvas(600, 290)
cell = 32
a_x, b_x, top_b, top_a = 30, 170, 40, 150


def matrix(x, y, rows, columns, name, used, colour):
    picture.cells(x, y, [[""] * columns for _ in range(rows)], cell=cell,
                  fill=lambda row, column: colour if (row, column) == used else None)
    return name


matrix(a_x, top_a, 3, 3, "a", (1, 1), BLUE)
matrix(b_x, top_b, 3, 4, "b", (1, 2), ORANGE)
matrix(b_x, top_a, 3, 4, "out", (1, 2), GREEN)
picture.text(a_x + 1.5 * cell, top_a + 3 * cell + 20, "a, in blocks of 32 x 32", 12, "middle")
picture.text(b_x + 2 * cell, top_b - 12, "b", 13, "middle", bold=True)
picture.text(b_x + 2 * cell, top_a + 3 * cell + 20, "out", 13, "middle", bold=True)
x = 350
picture.box(x, 40, 230, 96, "", GREY)
picture.text(x + 115, 60, "cache: 32 KiB", 13, "middle", bold=True)
for i, (name, colour) in enumerate([("a", BLUE), ("b", ORANGE), ("out", GREEN)]):
    picture.box(x + 16 + i * 70, 72, 58, 48, f"{name}\n4 KiB", colour, size=12)
for i, line in enumerate(["32 * 32 * 32 products", "need 3 blocks of 64 lines.", "The next step along k brings", "new blocks of a and b;", "the block of out stays."]):
    picture.text(x, 168 + i * 20, line, 13)
picture.arrow(a_x + 1.5 * cell, top_a + 1.5 * cell, a_x + 2.5 * cell, top_a + 1.5 * cell)
picture.arrow(b_x + 2.5 * cell, top_b + 1.5 * cell, b_x + 2.5 * cell, top_b + 2.5 * cell)
picture.save("1.6")
