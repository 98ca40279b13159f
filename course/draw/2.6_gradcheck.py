"""The picture of task 2.6: a one-sided and a central difference beside the true slope."""
from svg import PALE, Canvas

BLUE, RED, GREEN = "#1f77b4", "#c00000", "#2e7d32"
picture = Canvas(730, 300)


def value(x):
    return x ** 3


def place(x, y):
    """Pixels of a point: x from 0 to 1.6, y from 0 to 3.6."""
    return 40 + x * 240, 270 - y * 68


def stroke(x1, y1, x2, y2, colour, width=2, dashed=False):
    picture.line(*place(x1, y1), *place(x2, y2), colour, width, dashed=dashed)


stroke(0, 0, 1.62, 0, PALE)
stroke(0, 0, 0, 3.6, PALE)
steps = [i / 40 for i in range(62)]
for a, b in zip(steps, steps[1:]):
    stroke(a, value(a), b, value(b), "#222222", 2.5)
X, H = 1.0, 0.4
for x, name in ((X - H, "x - h"), (X, "x"), (X + H, "x + h")):
    stroke(x, 0, x, value(x), PALE, 1, dashed=True)
    picture.text(place(x, 0)[0], 290, name, 13, "middle")
    left, top = place(x, value(x))
    picture.box(left - 4, top - 4, 8, 8, fill="#222222")
for slope, through, colour in ((3, 1, BLUE), ((value(X + H) - value(X)) / H, value(X), RED)):
    stroke(X - 0.22, through - 0.22 * slope, X + 0.5, through + 0.5 * slope, colour, dashed=colour == BLUE)
central = (value(X + H) - value(X - H)) / (2 * H)
middle = value(X - H)
stroke(X - H - 0.06, middle - 0.06 * central, X + H + 0.12, middle + (2 * H + 0.12) * central, GREEN)
for y, colour, text in ((80, BLUE, "the slope of x^3 at x = 1 is 3 (dashed)"),
                        (120, GREEN, "central, through x - h and x + h: 3.16"),
                        (160, RED, "one-sided, through x and x + h: 4.36")):
    picture.line(440 - 20, y - 5, 440 + 8, y - 5, colour, 3)
    picture.text(456, y, text, 13)
picture.text(420, 206, "h = 0.4 here, so that it can be seen", 13)
picture.save("2.6")
