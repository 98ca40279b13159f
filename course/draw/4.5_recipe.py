"""The picture of task 4.5: the learning rate over the steps."""
import math

from svg import BLUE, GREY, ORANGE, PALE, Canvas

picture = Canvas(640, 220)
x, y, wide, high, warmup, steps = 70, 170, 520, 130, 10, 65
picture.text(20, 26, "learning rate", bold=True)
picture.line(x, y, x + wide + 20, y, PALE, arrow=True)
picture.line(x, y, x, y - high - 10, PALE, arrow=True)
for step in range(steps):
    part = (step + 1) / warmup if step < warmup else 0.1 + 0.9 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
    picture.box(x + 8 * step + 1, round(y - high * part, 1), 6, round(high * part, 1), "", ORANGE if step < warmup else BLUE, GREY)
picture.text(62, y - high + 5, "lr", 13, "end")
picture.text(62, y - 0.1 * high + 5, "least", 13, "end")
picture.text(x + 40, 190, "warm-up", 13, "middle")
picture.text(x + 300, 190, "half a wave of the cosine", 13, "middle")
picture.text(x + wide, 208, "steps", 13, "middle")
picture.save("4.5")
