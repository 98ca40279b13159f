"""The picture of task 0.5: a transposed matrix has two runs; which sizes divide them."""
from svg import BLUE, GREEN, ORANGE, RED, Canvas

picture = Canvas(640, 250)
unit, left = 34, 150


def row(y, title, parts, size=13):
    picture.text(left - 14, y + 22, title, 13, "end", bold=True)
    x = left
    for text, width, colour in parts:
        picture.box(x, y, width * unit, 34, text, colour, size=size)
        x += width * unit


picture.text(left, 24, "dimensions from the outermost to the innermost", 12)
row(36, "x", [("4, stride 1", 4, BLUE), ("3, stride 4", 3, ORANGE)])
row(96, "(2, 2, 3)", [("2 by 2", 2, GREEN), ("2 by 1", 2, GREEN), ("3 by 4", 3, GREEN)])
picture.text(left + 7 * unit + 20, 118, "each lies in a run: a view")
row(146, "(6, 2)", [("6", 5, RED), ("2", 2, RED)])
picture.text(left + 7 * unit + 20, 168, "2 does not divide 3: a copy")
row(196, "(12)", [("12", 7, RED)])
picture.text(left + 7 * unit + 20, 218, "takes from two runs: a copy")
picture.line(left + 4 * unit, 30, left + 4 * unit, 238, dashed=True)
picture.text(left + 7 * unit + 20, 58, "4 * 3 is not 1: two runs")
picture.save("0.5")
