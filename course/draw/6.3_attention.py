"""Draws a block of queries that goes along the tiles of keys and values; the matrix of scores is never whole."""
from svg import BLUE, GREEN, GREY, INK, ORANGE, PALE, Canvas

TILE = 52
picture = Canvas(690, 432)
S_X, S_Y = 150, 166


def column(x, y, name, mark, colour):
    picture.text(x, y - 8, name)
    for i in range(4):
        picture.box(x, y + i * TILE, 44, TILE, "", colour if i == mark else "#ffffff")


column(50, S_Y, "q (n, d)", 2, BLUE)
column(S_X + 4 * TILE + 60, S_Y, "out (n, d)", 2, GREEN)
for y, name in ((50, "k"), (98, "v")):
    picture.text(S_X - 12, y + 24, f"{name} (n, d), turned", 13, "end")
    for j in range(4):
        picture.box(S_X + j * TILE, y, TILE, 40, "", ORANGE if j == 1 else "#ffffff")
for i in range(4):
    for j in range(4):
        here = i == 2 and j == 1
        picture.box(S_X + j * TILE, S_Y + i * TILE, TILE, TILE, "scores" if here else "masked" if j > i else "",
                    ORANGE if here else GREY if j > i else "#ffffff", INK if here else PALE, 12, dashed=not here)
picture.arrow(98, S_Y + 2.5 * TILE, S_X - 4, S_Y + 2.5 * TILE)
picture.arrow(S_X + 4 * TILE + 4, S_Y + 2.5 * TILE, S_X + 4 * TILE + 56, S_Y + 2.5 * TILE)
x = S_X + 4 * TILE + 130
for i, text in enumerate(("A block keeps for each", "of its queries:", "- the maximum score,", "- the total of exp(),", "- d sums of values.")):
    picture.text(x, S_Y + 30 + 20 * i, text, 13)
picture.text(50, 398, "dashed: scores that are not in memory now. One tile of them at a time lives on the chip.", 13)
picture.text(50, 418, "grey: with causal, tiles that no query of the block may see; they are not even loaded.", 13)
picture.save("6.3")
