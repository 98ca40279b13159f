"""Draws what a warp touches in one step of a product: threads along a row of c, and along a column."""
from svg import BLUE, GREEN, ORANGE, PALE, Canvas

CELL, SIZE = 20, 6
picture = Canvas(660, 400)


def matrix(x, y, name, filled, colour):
    picture.text(x, y - 6, name, 13)
    picture.cells(x, y, [[""] * SIZE for _ in range(SIZE)], lambda i, j: colour if (i, j) in filled else None, CELL)


for left, title, a, b, c, texts in (
        (20, "threadIdx.x along a row of c", {(2, 3)}, {(3, j) for j in range(SIZE)}, {(2, j) for j in range(SIZE)},
         ("a: one element for all threads", "b: neighbours, few sectors", "5 sectors for 32 threads")),
        (350, "threadIdx.x along a column of c", {(i, 3) for i in range(SIZE)}, {(3, 2)}, {(i, 2) for i in range(SIZE)},
         ("a: a sector for each thread", "b: one element for all threads", "33 sectors for 32 threads"))):
    picture.text(left, 22, title, 14, bold=True)
    matrix(left + 150, 56, "b (k, n)", b, ORANGE)
    matrix(left, 204, "a (m, k)", a, BLUE)
    matrix(left + 150, 204, "c (m, n)", c, GREEN)
    picture.text(left, 70, "step p = 3", 13, colour=PALE)
    for i, text in enumerate(texts):
        picture.text(left, 350 + 17 * i, text, 13, bold=i == 2)
picture.line(335, 10, 335, 390, PALE, 1, dashed=True)
picture.save("3.6")
