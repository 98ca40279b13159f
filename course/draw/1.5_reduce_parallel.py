"""The picture of task 1.5: parts of fixed size, shared out among two threads and among four."""
from svg import BLUE, GREEN, ORANGE, PURPLE, Canvas

picture = Canvas(640, 260)
left, width = 120, 112
widths = [width, width, width, width * 0.9]


def row(y, title, colours):
    picture.text(left - 14, y + 22, title, 13, "end", bold=True)
    x = left
    for i, part in enumerate(widths):
        picture.box(x, y, part, 34, f"part {i}: {256 if i < 3 else 232}", colours[i], size=12)
        x += part


row(30, "2 threads", [BLUE, BLUE, ORANGE, ORANGE])
row(80, "4 threads", [BLUE, ORANGE, GREEN, PURPLE])
picture.text(left, 20, "1000 elements; a colour is a thread", 12)
x = left
for i, part in enumerate(widths):
    picture.arrow(x + part / 2, 116, x + part / 2, 148)
    picture.box(x + part / 2 - 22, 150, 44, 30, f"r{i}", size=13)
    x += part
picture.text(left - 14, 170, "parts", 13, "end", bold=True)
picture.text(left, 216, "op(op(op(op(start, r0), r1), r2), r3): in order, after all threads have ended", 13)
picture.text(left, 238, "The cuts do not depend on the number of threads, so neither do the bits.", 13)
picture.save("1.5")
