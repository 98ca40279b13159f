"""The picture of task 2.3: a graph, an order of it that is right, and one that is not."""
from svg import BLUE, GREEN, ORANGE, Canvas

picture = Canvas(680, 276)
picture.text(20, 26, "b = exp(a),  c = a + b,  d = b * c", bold=True)
WHERE = {"d": (140, 46), "b": (50, 128), "c": (230, 128), "a": (140, 210)}
FILLS = {"d": ORANGE, "b": BLUE, "c": BLUE, "a": GREEN}
for name, (x, y) in WHERE.items():
    picture.box(x, y, 46, 36, name, FILLS[name])
picture.arrow(146, 82, 88, 126)
picture.arrow(180, 82, 240, 126)
picture.arrow(230, 146, 98, 146)
picture.arrow(80, 164, 140, 214)
picture.arrow(244, 164, 188, 214)
picture.text(196, 68, "root", 13)
picture.text(196, 234, "leaf", 13)
picture.text(20, 266, "an arrow leads from a node to its input", 13)

ORDERS = [("right: each arrow leads to the right", "dcba", 80), ("wrong: c stands behind its input b", "dbca", 206)]
for title, names, y in ORDERS:
    picture.text(340, y - 22, title, bold=True)
    for i, name in enumerate(names):
        picture.box(340 + 76 * i, y, 46, 36, name, FILLS[name])
    at = {name: 340 + 76 * i for i, name in enumerate(names)}
    if names == "dcba":
        for i in range(3):
            picture.arrow(386 + 76 * i, y + 18, 414 + 76 * i, y + 18)
        picture.line(363, y + 36, 363, y + 48)
        picture.line(363, y + 48, 511, y + 48)
        picture.arrow(511, y + 48, 511, y + 38)
        picture.line(444, y + 36, 444, y + 58)
        picture.line(444, y + 58, 591, y + 58)
        picture.arrow(591, y + 58, 591, y + 38)
    else:
        picture.arrow(386, y + 18, 414, y + 18)
        picture.line(490, y + 18, 466, y + 18, "#c00000", 2, arrow=True)
        picture.arrow(538, y + 18, 566, y + 18)
        picture.line(363, y + 36, 363, y + 48)
        picture.line(363, y + 48, 511, y + 48)
        picture.arrow(511, y + 48, 511, y + 38)
        picture.line(434, y + 36, 434, y + 58)
        picture.line(434, y + 58, 591, y + 58)
        picture.arrow(591, y + 58, 591, y + 38)
picture.save("2.3")
