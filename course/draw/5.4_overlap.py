"""The picture of task 5.4: backward and the wire, with overlap and without."""
from svg import BLUE, GREEN, ORANGE, PALE, Canvas

picture = Canvas(690, 300)
COLOURS = [BLUE, BLUE, ORANGE, ORANGE, GREEN]
SCALE, X = 5.6, 110


def lanes(y, title, wire, end):
    picture.text(20, y, title, bold=True)
    picture.text(20, y + 35, "backward")
    picture.text(20, y + 75, "wire")
    for p in range(5):
        picture.box(X + 10 * p * SCALE, y + 14, 10 * SCALE, 32, p, COLOURS[p])
    for bucket, start in enumerate(wire):
        picture.box(X + start * SCALE, y + 54, 15 * SCALE, 32, f"bucket {bucket}", COLOURS[2 * bucket], size=13)
    picture.line(X + end * SCALE, y + 10, X + end * SCALE, y + 92, dashed=True)
    picture.text(X + end * SCALE, y + 106, end, 13, "middle")


lanes(30, "buckets are sent when they are complete", [20, 40, 55], 70)
lanes(168, "buckets are sent after backward", [50, 65, 80], 95)
picture.text(20, 290, "The numbers in the upper lane are parameters, in the order in which their gradients come.", 13, colour=PALE)
picture.save("5.4")
