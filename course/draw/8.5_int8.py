"""The picture of task 8.5: a group of numbers, its scale, and its bytes."""
from svg import BLUE, GREY, ORANGE, Canvas

picture = Canvas(660, 216)
picture.text(20, 28, "a group of w: 32 numbers of 4 bytes", bold=True)
picture.cells(20, 40, [["0.31", "-0.92", "1.27", "0.05", "...", "-0.4"]], fill=lambda i, j: GREY, cell=62)
picture.text(420, 76, "largest |w| = 1.27", 13)
picture.arrow(200, 106, 200, 136)
picture.text(210, 126, "divide by the scale, round", 13)
picture.cells(20, 142, [["31", "-92", "127", "5", "...", "-40"]], fill=lambda i, j: BLUE, cell=34)
picture.text(20, 200, "q: 32 bytes", 13)
picture.box(420, 142, 96, 34, "0.01", ORANGE, size=13)
picture.text(420, 200, "scale: 4 bytes", 13)
picture.arrow(468, 84, 468, 138)
picture.save("8.5")
