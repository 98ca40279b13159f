"""The picture of task 8.6: the parts of a file, and a layer of the model."""
from svg import BLUE, GREEN, GREY, ORANGE, PURPLE, Canvas

picture = Canvas(720, 380)
picture.text(20, 28, "the file", bold=True)
picture.box(20, 40, 66, 40, "8 bytes", ORANGE, size=13)
picture.box(86, 40, 190, 40, "header: N bytes of text", BLUE, size=13)
for x, width, text in ((276, 110, "norm: BF16"), (386, 190, "q_proj: I8"), (576, 124, "its scales")):
    picture.box(x, 40, width, 40, text, GREEN, size=13)
picture.text(53, 98, "N", 13, "middle")
picture.line(276, 84, 276, 124)
picture.line(276, 124, 286, 124)
picture.text(290, 128, "data: byte 0 is byte 8 + N of the file", 13, "start")
picture.arrow(165, 84, 165, 112)
picture.text(165, 128, "dtype, shape, data_offsets", 13, "middle")

picture.text(20, 172, "a layer", bold=True)


def way(y, parts, add):
    """A row of boxes from x to a sum."""
    at = 66
    for text, fill, width in parts:
        picture.arrow(at, y + 20, at + 16, y + 20)
        picture.box(at + 16, y, width, 40, text, fill, size=13)
        at += 16 + width
    picture.arrow(at, y + 20, 640, y + 20)
    picture.box(640, y + 4, 32, 32, "+", GREY, size=16)
    picture.line(46, y + 20, 66, y + 20)
    picture.line(46, y + 20, 46, y + 56)
    picture.line(46, y + 56, 656, y + 56)
    picture.arrow(656, y + 56, 656, y + 38)
    picture.text(614, y + 48, add, 12, "middle")


picture.text(28, 209, "x", 14, "middle")
way(184, [("norm1", GREEN, 62), ("q, k, v", GREEN, 72), ("RoPE of q, k", PURPLE, 100), ("cache", BLUE, 62), ("attention", PURPLE, 84), ("o", GREEN, 44)], "x itself")
way(266, [("norm2", GREEN, 62), ("gate, up", GREEN, 84), ("SwiGLU", PURPLE, 74), ("down", GREEN, 60)], "x itself")
picture.line(672, 204, 692, 204)
picture.line(692, 204, 692, 254)
picture.line(692, 254, 28, 254)
picture.line(28, 254, 28, 286)
picture.line(28, 286, 46, 286)
picture.arrow(672, 286, 712, 286)
picture.text(20, 352, "Green: numbers of the file, each read once. Blue below: what the layer keeps of each token", 13)
picture.text(20, 371, "that it has read. Violet: what has no weights.", 13)
picture.save("8.6")
