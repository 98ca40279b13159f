"""Draws threads and the elements that they compute, with an array that is shorter than the grid."""
from svg import BLUE, GREEN, GREY, ORANGE, PALE, Canvas

N, BLOCK, CELL, LEFT = 10, 4, 44, 90
COLOURS = [BLUE, ORANGE, GREEN]
picture = Canvas(LEFT + 12 * CELL + 50, 236)
for block in range(3):
    x = LEFT + block * BLOCK * CELL
    picture.text(x + 2 * CELL, 24, f"blockIdx.x = {block}", 13, "middle")
    for thread in range(BLOCK):
        i = block * BLOCK + thread
        at = x + thread * CELL
        picture.box(at + 2, 36, CELL - 4, 34, f"t {thread}", GREY if i >= N else COLOURS[block], size=13, dashed=i >= N)
        if i < N:
            picture.arrow(at + CELL / 2, 70, at + CELL / 2, 104)
            picture.box(at, 106, CELL, 34, f"x[{i}]", COLOURS[block], size=12)
            picture.arrow(at + CELL / 2, 140, at + CELL / 2, 174)
            picture.box(at, 176, CELL, 34, f"out[{i}]", COLOURS[block], size=12)
for y, text in ((58, "threads"), (128, "loads"), (198, "stores")):
    picture.text(10, y, text, 14)
picture.text(LEFT + 11 * CELL + 20, 116, "i >= n:", 13, "middle", PALE)
picture.text(LEFT + 11 * CELL + 20, 134, "nothing to do", 13, "middle", PALE)
picture.text(LEFT, 230, "blocks of 4 threads, n = 10:  i = blockIdx.x * 4 + threadIdx.x", 13)
picture.save("3.1")
