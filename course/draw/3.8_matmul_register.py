"""Draws the 4 x 4 elements of c that one thread computes, and the 8 numbers that it loads for them."""
from svg import BLUE, GREEN, GREY, ORANGE, PALE, Canvas

CELL, N = 15, 16  # a tile of 16 x 16, drawn for 4 x 4 threads
picture = Canvas(640, 400)
C_X, C_Y, A_X, B_Y = 150, 110, 60, 50


def chosen(i):
    return i % 4 == 1


for i in range(N):
    for j in range(N):
        colour = GREEN if chosen(i) and chosen(j) else "#ffffff"
        picture.box(C_X + j * CELL, C_Y + i * CELL, CELL, CELL, "", colour, PALE)
for i in range(N):
    picture.box(A_X, C_Y + i * CELL, CELL + 10, CELL, "", BLUE if chosen(i) else "#ffffff", PALE)
    picture.box(C_X + i * CELL, B_Y, CELL, CELL + 10, "", ORANGE if chosen(i) else "#ffffff", PALE)
picture.text(A_X - 30, C_Y - 10, "a_tile[..][p]", 13)
picture.text(C_X, B_Y - 10, "b_tile[p][..]", 13)
picture.text(C_X + N * CELL + 20, C_Y + 20, "the block's tile of c", 13)
x = C_X + N * CELL + 20
for i, text in enumerate(("A thread loads", "4 numbers of a and", "4 numbers of b", "into registers, and", "does 4 x 4 = 16 products.")):
    picture.text(x, C_Y + 60 + 18 * i, text, 13)
picture.text(x, C_Y + 168, "8 loads / 16 products", 13, bold=True)
picture.text(x, C_Y + 186, "= 1/2 load a product", 13, bold=True)
picture.text(30, 384, "Drawn with 4 x 4 threads: here thread (1, 1). Its outputs lie 4 apart; in the task 16 apart.", 13)
picture.save("3.8")
