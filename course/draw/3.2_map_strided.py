"""Draws a grid-stride loop: two blocks of four threads and twenty elements."""
from svg import BLUE, GREY, ORANGE, PALE, Canvas

CELL, LEFT = 44, 120
picture = Canvas(LEFT + 8 * CELL + 200, 262)
for thread in range(8):
    x = LEFT + thread * CELL
    colour = ORANGE if thread >= 4 else BLUE
    picture.text(x + CELL / 2, 46, f"t {thread % 4}", 12, "middle")
    for turn in range(3):
        i = turn * 8 + thread
        inside = i < 20
        picture.box(x, 56 + turn * 58, CELL, 34, i if inside else "", colour if inside else GREY, dashed=not inside)
        if turn < 2 and i + 8 < 20:
            picture.arrow(x + CELL / 2, 90 + turn * 58, x + CELL / 2, 112 + turn * 58)
picture.text(LEFT + 2 * CELL, 24, "block 0", 13, "middle")
picture.text(LEFT + 6 * CELL, 24, "block 1", 13, "middle")
for turn in range(3):
    picture.text(10, 78 + turn * 58, f"turn {turn + 1}", 13)
x = LEFT + 8 * CELL + 16
picture.text(x, 102, "i += 8: the threads", 13, colour=PALE)
picture.text(x, 119, "of both blocks", 13, colour=PALE)
picture.text(x, 186, "20 and more:", 13, colour=PALE)
picture.text(x, 203, "the loop ends", 13, colour=PALE)
picture.text(10, 246, "A loop over 20 elements by 2 blocks of 4 threads. In each turn they take neighbours.", 13)
picture.save("3.2")
