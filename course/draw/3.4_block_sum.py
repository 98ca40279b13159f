"""Draws the sum of eight numbers by a tree, in place."""
from svg import BLUE, GREEN, GREY, PALE, Canvas

CELL, LEFT, STEP = 48, 120, 70
picture = Canvas(LEFT + 8 * CELL + 150, 310)
values = [5, 1, 4, 2, 0, 7, 3, 6]
for t in range(8):
    picture.text(LEFT + (t + 0.5) * CELL, 22, f"t {t}", 12, "middle", PALE)
half, row = 8, 0
while half >= 1:
    y = 32 + row * STEP
    for i in range(8):
        fill = GREEN if half == 1 and i == 0 else BLUE if i < half else GREY
        picture.box(LEFT + i * CELL, y, CELL, 32, values[i] if i < half else "", fill)
    if half > 1:
        half //= 2
        for i in range(half):
            values[i] += values[i + half]
            x = LEFT + (i + 0.5) * CELL
            picture.arrow(x, y + 32, x, y + STEP - 2)
            picture.arrow(LEFT + (i + half + 0.5) * CELL, y + 32, x + 8, y + STEP - 2)
        picture.line(LEFT - 6, y + 40, LEFT + 8 * CELL + 6, y + 40, PALE, dashed=True)
        picture.text(LEFT + 8 * CELL + 12, y + 45, "__syncthreads()", 12, colour=PALE)
    else:
        half = 0
    picture.text(10, y + 21, "loaded" if row == 0 else f"half = {(4, 2, 1)[row - 1]}", 13)
    row += 1
picture.text(10, 300, "Eight words of shared memory, changed in place. Grey words are read no more.", 13)
picture.save("3.4")
