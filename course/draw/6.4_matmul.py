"""Draws what a block and a thread of a fast matrix product make, and what they read for it."""
from svg import BLUE, GREEN, GREY, ORANGE, PALE, Canvas

picture = Canvas(690, 400)
X, Y, SIDE = 110, 120, 192
picture.text(X, Y - 70, "8 rows of b: a step")
picture.box(X, Y - 60, SIDE, 40, "8 x 128", GREY)
picture.text(20, Y - 8, "8 columns of a")
picture.box(40, Y, 40, SIDE, "128\nx 8", GREY)
picture.box(X, Y, SIDE, SIDE, "")
picture.text(X, Y + SIDE + 22, "128 x 128 outputs of a block")
PIECE = 12
for i in (0, 96):
    for j in (0, 96):
        picture.box(X + 36 + j, Y + 24 + i, PIECE, PIECE, "", GREEN)
picture.text(X, Y + SIDE + 42, "green: those of one thread", 13, colour=PALE)
RX, RY, CELL = 460, 140, 22
picture.text(RX - 80, 40, "A thread, for one term of k: 8 + 8 numbers")
picture.text(RX - 80, 60, "by 4 loads of 16 bytes, for 64 products")
picture.cells(RX, RY - 50, [["b"] * 8], lambda i, j: ORANGE if j < 4 else BLUE, CELL, 11)
picture.cells(RX - 50, RY, [["a"]] * 8, lambda i, j: ORANGE if i < 4 else BLUE, CELL, 11)
picture.cells(RX, RY, [[""] * 8] * 8, lambda i, j: GREEN, CELL)
picture.text(RX - 50, RY + 8 * CELL + 26, "orange and blue: a float4 each", 13)
picture.text(RX - 50, RY + 8 * CELL + 44, "green: sums that stay in registers", 13)
picture.save("6.4")
