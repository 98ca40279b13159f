"""The picture of task 7.4: GELU and its slope."""
import math

from svg import BLUE, ORANGE, PALE, Canvas

picture = Canvas(560, 280)
X, Y, UNIT = 260, 200, 60


def curve(function, colour):
    points = [(-4 + step / 10, function(-4 + step / 10)) for step in range(69)]
    for (x1, y1), (x2, y2) in zip(points, points[1:]):
        picture.line(X + UNIT * x1, round(Y - UNIT * y1, 1), X + UNIT * x2, round(Y - UNIT * y2, 1), colour, 3)


picture.line(20, Y, 540, Y, PALE)
picture.line(X, 20, X, 250, PALE)
curve(lambda u: u * (1 + math.erf(u / math.sqrt(2))) / 2, BLUE)
curve(lambda u: (1 + math.erf(u / math.sqrt(2))) / 2 + u * math.exp(-u * u / 2) / math.sqrt(2 * math.pi), ORANGE)
picture.text(X + 70, 60, "gelu(u)", 14, "end")
picture.text(X + 160, 130, "its slope", 14)
for u in (-3, -2, -1, 1, 2, 3):
    picture.text(X + UNIT * u, Y + 18, u, 12, "middle")
picture.text(20, 272, "Far to the left both are 0; far to the right gelu(u) is u. The slope is above 1 for a while.", 13)
picture.save("7.4")
