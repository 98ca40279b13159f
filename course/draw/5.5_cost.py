"""The picture of task 5.5: the steps of a ring of four ranks, each a latency and the time of a part."""
from svg import BLUE, GREY, ORANGE, PALE, Canvas

picture = Canvas(690, 190)
picture.text(20, 28, "a ring of 4 ranks: 2 * (4 - 1) = 6 steps, the same for all ranks", bold=True)
for step in range(6):
    x = 20 + 108 * step
    picture.box(x, 66, 30, 44, "", GREY)
    picture.box(x + 30, 66, 74, 44, "bytes / 4\n/ rate", BLUE if step < 3 else ORANGE, size=12)
    picture.text(x + 52, 58, f"step {step}", 12, "middle", PALE)
picture.text(20, 134, "latency", 13)
picture.line(35, 120, 35, 112)
for x, text in [(20, "3 steps that add"), (344, "3 steps that hand the sums on")]:
    picture.line(x, 150, x + 320, 150)
    picture.text(x + 160, 170, text, 13, "middle")
picture.save("5.5")
