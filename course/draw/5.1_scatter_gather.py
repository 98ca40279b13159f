"""The picture of task 5.1: rows on one device, and their parts on three."""
from svg import BLUE, GREEN, GREY, ORANGE, PALE, Canvas

picture = Canvas(660, 330)
COLOURS, SIZES = [BLUE, ORANGE, GREEN], [3, 2, 2]
WHO = [i for i, size in enumerate(SIZES) for _ in range(size)]
picture.box(20, 44, 150, 268, "", "#f6f6f6", dashed=True)
picture.text(95, 32, "device 0 (home)", 14, "middle", bold=True)
for row in range(7):
    picture.box(40, 58 + 32 * row, 110, 30, f"row {row}", COLOURS[WHO[row]], size=13)
picture.text(95, 302, "x", 14, "middle")
start = 0
for i, size in enumerate(SIZES):
    y = [44, 158, 242][i]
    height = 32 * size + 6
    picture.box(400, y, 150, height, "", "#f6f6f6", dashed=True)
    picture.text(562, y + height / 2, f"device {i}", 14, bold=True)
    picture.text(562, y + height / 2 + 20, f"{size} rows", 13, colour=PALE)
    for row in range(size):
        picture.box(420, y + 4 + 32 * row, 110, 30, f"row {start + row}", COLOURS[i], size=13)
    middle = 58 + 32 * (start + size / 2)
    picture.arrow(152, middle, 398, y + height / 2)
    start += size
picture.text(275, 72, "a copy within device 0", 12, "middle")
picture.text(275, 162, "directly to device 1", 12, "middle")
picture.text(275, 236, "directly to device 2", 12, "middle")
picture.save("5.1")
