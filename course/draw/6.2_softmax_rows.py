"""Draws the maximum and the sum as they change from element to element."""
from svg import BLUE, GREEN, GREY, ORANGE, Canvas

picture = Canvas(690, 250)
X, WIDTH, HEIGHT = 150, 120, 36
ROWS = [("x[i]", ["1", "3", "2", "5"], lambda j: GREY),
        ("maximum so far", ["1", "3", "3", "5"], lambda j: ORANGE if j in (1, 3) else BLUE),
        ("old sum times", ["", "exp(1 - 3)", "1", "exp(3 - 5)"], lambda j: ORANGE if j in (1, 3) else None),
        ("plus", ["1", "1", "exp(2 - 3)", "1"], lambda j: None),
        ("sum so far", ["1", "1.135", "1.503", "1.203"], lambda j: GREEN)]
for i, (name, texts, fill) in enumerate(ROWS):
    y = 20 + i * HEIGHT
    picture.text(X - 12, y + 23, name, 14, "end")
    for j, text in enumerate(texts):
        picture.box(X + j * WIDTH, y, WIDTH, HEIGHT, text, fill(j) or "#ffffff")
for j in range(3):
    picture.arrow(X + j * WIDTH + 96, 20 + 4 * HEIGHT + 40, X + (j + 1) * WIDTH + 24, 20 + 4 * HEIGHT + 40)
picture.text(X, 240, "orange: a new maximum, and the sum so far moves to its scale", 13)
picture.save("6.2")
