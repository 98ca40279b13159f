"""The picture of task 8.4: a pair that turns with its place, and heads that share keys and values."""
import math

from svg import BLUE, GREEN, GREY, INK, ORANGE, PALE, Canvas

picture = Canvas(720, 236)
picture.text(20, 26, "RoPE: a pair turns with its place", bold=True)
x, y, far = 130, 136, 84
picture.line(x - far, y, x + far, y, PALE)
picture.line(x, y + far, x, y - far, PALE)
for place in range(4):
    angle = 0.5 + 0.6 * place
    picture.arrow(x, y, round(x + far * math.cos(angle), 1), round(y - far * math.sin(angle), 1))
    picture.text(round(x + (far + 12) * math.cos(angle), 1), round(y - (far + 12) * math.sin(angle) + 4, 1), place, 13, "middle")
picture.text(290, 26, "grouped queries: heads that share keys and values", bold=True)
for head in range(8):
    picture.box(290 + 50 * head, 50, 44, 34, f"q {head}", BLUE if head < 4 else ORANGE, INK, 13)
    group = 290 + 200 * (head // 4) + 97
    picture.line(312 + 50 * head, 84, group, 122, GREY)
for group in range(2):
    picture.box(290 + 200 * group, 122, 194, 44, f"k {group}, v {group}", GREEN, INK, 13)
picture.text(290, 196, "A block loads k and v of a group once,", 13)
picture.text(290, 214, "for the four heads that use them.", 13)
picture.save("8.4")
