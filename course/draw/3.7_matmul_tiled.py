"""Draws the tiles of a and b from which a block computes a tile of c."""
from svg import BLUE, GREEN, GREY, ORANGE, PALE, Canvas

TILE = 56
picture = Canvas(690, 430)
A_X, C_X, B_Y, C_Y = 30, 260, 40, 250


def tiles(x, y, rows, columns, name, fill):
    picture.text(x, y - 8, name, 14)
    for i in range(rows):
        for j in range(columns):
            text, colour = fill(i, j)
            picture.box(x + j * TILE, y + i * TILE, TILE, TILE, text, colour, size=12)


WHITE = "#ffffff"
tiles(C_X, B_Y, 3, 4, "b (k, n)", lambda i, j: (f"step {i}", ORANGE if i == 1 else GREY) if j == 2 else ("", WHITE))
tiles(A_X, C_Y, 2, 3, "a (m, k)", lambda i, j: (f"step {j}", BLUE if j == 1 else GREY) if i == 1 else ("", WHITE))
tiles(C_X, C_Y, 2, 4, "c (m, n)", lambda i, j: ("block\n(2, 1)", GREEN) if (i, j) == (1, 2) else ("", WHITE))
picture.arrow(A_X + 3 * TILE + 4, C_Y + 1.5 * TILE, C_X + 2 * TILE - 4, C_Y + 1.5 * TILE)
picture.arrow(C_X + 2.5 * TILE, B_Y + 3 * TILE + 4, C_X + 2.5 * TILE, C_Y + TILE - 4)
x = C_X + 4 * TILE + 16
for i, text in enumerate(("In step 1 the block", "holds these two tiles", "in shared memory:", "16 x 16 numbers each,",
                          "loaded once,", "each used 16 times.")):
    picture.text(x - 4, 70 + 18 * i, text, 13)
picture.text(A_X, 394, "Each step: load both tiles, barrier, 16 products in each thread, barrier.", 13)
picture.text(A_X, 414, "What lies beyond an edge of a or b is 0 in the tile.", 13, colour=PALE)
picture.save("3.7")
