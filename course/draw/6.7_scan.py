"""The picture of task 6.7: a tree that adds up pairs on the way up, and fills the gaps on the way down."""
from svg import BLUE, GREEN, GREY, ORANGE, PALE, Canvas

CELL, LEFT, STEP = 52, 130, 62
picture = Canvas(LEFT + 8 * CELL + 20, 400)
values, changed = [5, 1, 4, 2, 0, 7, 3, 6], []
levels = [("up", 1), ("up", 2), ("up", 4), ("down", 2), ("down", 1)]
for row in range(len(levels) + 1):
    y = 20 + row * STEP
    last = row == len(levels)
    label = "numbers" if row == 0 else f"{levels[row - 1][0]}, step {levels[row - 1][1]}"
    picture.text(10, y + 21, label, 13)
    for i in range(8):
        fill = ORANGE if i in changed else GREEN if last else BLUE if row == 0 else GREY
        picture.box(LEFT + i * CELL, y, CELL, 32, values[i], fill)
    if last:
        break
    way, step = levels[row]
    first = 2 * step - 1 if way == "up" else 3 * step - 1
    changed = list(range(first, 8, 2 * step))
    for i in changed:
        values[i] += values[i - step]
        picture.arrow(LEFT + (i - step + 0.5) * CELL, y + 32, LEFT + (i + 0.3) * CELL, y + STEP - 2)
        picture.line(LEFT + (i + 0.5) * CELL, y + 32, LEFT + (i + 0.5) * CELL, y + STEP, PALE)
picture.text(10, 386, "Orange: what a level adds to. Eleven additions for eight numbers; grey ones stay.", 13)
picture.save("6.7")
