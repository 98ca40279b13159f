"""Draws a row that several blocks share, and the second launch that folds their results."""
from svg import BLUE, GREEN, ORANGE, PALE, PURPLE, Canvas

CELL, LEFT = 30, 150
picture = Canvas(LEFT + 16 * CELL + 30, 300)
colours = [BLUE, ORANGE]
picture.text(10, 34, "elements of a row", 13)
for i in range(16):
    picture.box(LEFT + i * CELL, 14, CELL, 30, i, colours[i // 4 % 2], size=12)
picture.text(10, 76, "first launch:", 13, bold=True)
picture.text(10, 94, "each thread folds", 13)
picture.text(10, 111, "its elements", 13)
for block in range(2):
    for thread in range(4):
        x = LEFT + (block * 4 + thread) * CELL * 2
        i = block * 4 + thread
        picture.box(x + 4, 84, CELL * 2 - 8, 30, f"{i}, {i + 8}", colours[block], size=12)
        for e in (i, i + 8):
            picture.line(LEFT + (e + 0.5) * CELL, 44, x + CELL, 83, PALE, 1)
picture.text(10, 164, "each block folds", 13)
picture.text(10, 181, "its threads' results", 13)
for block in range(2):
    x = LEFT + block * 8 * CELL
    for thread in range(4):
        picture.line(x + (thread + 0.5) * 2 * CELL, 114, x + 4 * CELL, 155, PALE, 1)
    picture.box(x + 1.5 * CELL, 156, 5 * CELL, 30, f"block {block}: scratch[{block}]", colours[block], size=13)
    picture.arrow(x + 4 * CELL, 186, LEFT + 8 * CELL + (-20 if block == 0 else 20), 224)
picture.text(10, 232, "second launch:", 13, bold=True)
picture.text(10, 250, "one block a row", 13)
picture.box(LEFT + 5 * CELL, 226, 6 * CELL, 32, "out[row]", GREEN)
picture.text(10, 288, "16 elements, 2 parts, blocks of 4 threads. Which thread folds what is fixed, and so is each order.", 13)
picture.save("3.5")
