"""The picture of task 6.9: the roof of an H200, and where kernels stand below it."""
import math

from svg import BLUE, GREEN, INK, ORANGE, PALE, Canvas

PEAK, BANDWIDTH = 62.7, 4.11  # TFLOP/s, TB/s
LEFT, RIGHT, BOTTOM = 90, 640, 330
picture = Canvas(700, 400)


def at(intensity, tera):
    """Where a point stands: both axes are logarithmic, a factor of 2 is 50 pixels wide and 24 high."""
    return LEFT + 50 * (math.log2(intensity) + 6), BOTTOM - 24 * (math.log2(tera) + 5)


ridge = PEAK / BANDWIDTH
picture.line(LEFT, BOTTOM, RIGHT, BOTTOM, arrow=True)
picture.line(LEFT, BOTTOM, LEFT, 30, arrow=True)
picture.text(RIGHT, BOTTOM + 40, "operations for each byte", 13, "end")
picture.text(16, 24, "10^12 operations a second", 13)
for power in range(-6, 6):
    x = at(2.0 ** power, 1)[0]
    picture.line(x, BOTTOM, x, BOTTOM + 4)
    picture.text(x, BOTTOM + 18, f"1/{2 ** -power}" if power < 0 else 2 ** power, 11, "middle")
for power in range(-4, 7, 2):
    y = at(1, 2.0 ** power)[1]
    picture.line(LEFT - 4, y, LEFT, y)
    picture.text(LEFT - 8, y + 4, f"1/{2 ** -power}" if power < 0 else 2 ** power, 11, "end")
picture.line(*at(1 / 64, BANDWIDTH / 64), *at(ridge, PEAK), INK, 3)
picture.line(*at(ridge, PEAK), *at(40, PEAK), INK, 3)
x, y = at(ridge, PEAK)
picture.line(x, y, x, BOTTOM, PALE, dashed=True)
picture.text(x - 8, BOTTOM - 10, "bound by memory", 12, "end", PALE)
picture.text(x + 8, BOTTOM - 10, "by arithmetic", 12, "start", PALE)
picture.text(640, y - 8, "62.7", 12, "middle")
picture.text(x + 4, BOTTOM - 30, "15.3", 12, "start", PALE)
points = [(1 / 32, "sums of rows, alone", ORANGE), (1 / 6, "axpy", ORANGE), (1 / 4, "sums of rows together, two axpys", GREEN)]
points += [(tile / 4, f"product, tiles of {tile}", BLUE) for tile in (8, 16, 32, 64)]
for intensity, name, fill in points:
    x, y = at(intensity, min(PEAK, BANDWIDTH * intensity))
    picture.box(x - 5, y - 5, 10, 10, "", fill)
    above = name.startswith("product")
    picture.text(x + (-12 if above else 12), y + (-4 if above else 14), name, 12, "end" if above else "start")
picture.text(16, 390, "An H200: 4.11 TB/s of copies, 62.7 TFLOP/s of float32 products, both measured.", 12)
picture.save("6.9")
