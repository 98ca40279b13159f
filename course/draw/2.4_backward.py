"""The picture of task 2.4: gradients flow from the root to the leaf, and add up where a result was used twice."""
from svg import BLUE, GREEN, ORANGE, Canvas

picture = Canvas(680, 300)
for left, title in ((20, "forward: values"), (360, "backward: gradients")):
    picture.text(left, 26, title, bold=True)
    back = left > 100
    labels = ({"d": "d\n1", "b": "b\n10", "c": "c\n6", "a": "a\n30 + 30 = 60"} if back else
              {"d": "d = b * c\n60", "b": "b = 3 a\n6", "c": "c = 5 a\n10", "a": "a\n2"})
    for name, x, y, fill in (("d", 95, 44, ORANGE), ("b", 0, 134, BLUE), ("c", 190, 134, BLUE), ("a", 95, 224, GREEN)):
        wide = 20 if back and name == "a" else 0
        picture.box(left + x - wide / 2, y, 100 + wide, 50, labels[name], fill)
    for x1, y1, x2, y2 in ((120, 94, 60, 132), (170, 94, 230, 132), (60, 184, 120, 222), (230, 184, 170, 222)):
        if back:
            picture.arrow(left + x1, y1, left + x2, y2)
        else:
            picture.arrow(left + x2, y2, left + x1, y1)
    if back:
        picture.text(left + 76, 112, "1 * 10", 13, "end")
        picture.text(left + 214, 112, "1 * 6", 13)
        picture.text(left + 76, 212, "10 * 3", 13, "end")
        picture.text(left + 214, 212, "6 * 5", 13)
picture.line(338, 40, 338, 276, dashed=True)
picture.save("2.4")
