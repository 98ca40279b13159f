"""The picture of task 4.2: strides of a block, and a tree."""
from svg import BLUE, GREEN, GREY, ORANGE, PURPLE, Canvas

picture = Canvas(690, 330)
COLOURS = [BLUE, ORANGE, GREEN, PURPLE]
picture.text(20, 28, "one block, drawn with 4 threads in place of 256, and n = 11", bold=True)
picture.text(20, 68, "y, target")
for i in range(11):
    picture.box(110 + 40 * i, 46, 40, 34, i, COLOURS[i % 4])
picture.text(20, 112, "gradient")
for i in range(11):
    picture.box(110 + 40 * i, 90, 40, 34, i, COLOURS[i % 4])
picture.text(566, 68, "loaded once", 13)
picture.text(566, 112, "stored once", 13)
picture.text(20, 172, "sums", 14)
X = 110
for row, (y, left) in enumerate([(150, 4), (212, 2), (274, 1)]):
    for t in range(4):
        picture.box(X + 74 * t, y, 50, 34, f"{t}" if t < left else "", COLOURS[t] if t < left else GREY)
    if row:
        for t in range(left):
            picture.arrow(X + 74 * t + 25, y - 28, X + 74 * t + 25, y - 2)
            picture.arrow(X + 74 * (t + left) + 25, y - 28, X + 74 * t + 46, y - 2)
for y, text in [(172, "each thread's sum, in shared memory"), (204, "barrier"), (234, "half of the threads add the other half"), (266, "barrier"),
                (296, "thread 0 stores the loss")]:
    picture.text(412, y, text, 13, bold=text == "barrier")
picture.save("4.2")
