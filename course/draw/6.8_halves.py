"""The picture of task 6.8: the bits of a float and a half, and the fragments that a warp multiplies in a step."""
from svg import BLUE, GREEN, GREY, ORANGE, PURPLE, Canvas

picture = Canvas(700, 400)
picture.text(20, 26, "A number in memory", bold=True)
for y, name, exponent, fraction in ((40, "float32", 8, 23), (84, "float16", 5, 10)):
    picture.text(20, y + 21, name, 13)
    picture.box(90, y, 16, 32, "", GREY)
    picture.box(106, y, 16 * exponent, 32, f"exponent: {exponent}", ORANGE, size=12)
    picture.box(106 + 16 * exponent, y, 16 * fraction, 32, f"fraction: {fraction} bits", BLUE, size=12)
picture.text(362, 105, "greatest 65504, least 0.00000006; 2049 is 2048", 13)

SIDE = 56
picture.text(20, 160, "A step of a warp: 4 products of 4 fragments", bold=True)
left, top = 130, 262
for i in range(2):
    picture.text(20, top + 34 + i * SIDE, f"rows {16 * i} to {16 * i + 15}", 12)
    picture.box(left + i * SIDE + 90, top - SIDE - 20, SIDE, SIDE, f"b{i}", GREEN)
    picture.box(left, top + i * SIDE, SIDE, SIDE, f"a{i}", BLUE)
    for j in range(2):
        picture.box(left + 90 + j * SIDE, top + i * SIDE, SIDE, SIDE, f"c\n+ a{i} b{j}", PURPLE, size=12)
picture.text(380, 210, "fragments of 16 x 16", 13, bold=True)
for number, (fill, text) in enumerate(((BLUE, "of a: 2 loads of 512 bytes, halves"), (GREEN, "of b: 2 loads of 512 bytes, halves"),
                                       (PURPLE, "of c: 4 accumulators, floats, kept"))):
    picture.box(380, 226 + 34 * number, 22, 22, "", fill)
    picture.text(412, 242 + 34 * number, text, 13)
picture.text(380, 350, "4 x 4096 products for 2048 bytes;", 13)
picture.text(380, 370, "one fragment of c would need 1024", 13)
picture.text(380, 390, "bytes for 4096.", 13)
picture.save("6.8")
