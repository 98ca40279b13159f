"""The picture of task 7.2: a block has a row; columns have a weight and a bias."""
from svg import BLUE, GREEN, GREY, ORANGE, Canvas

picture = Canvas(660, 226)
for x, title, fill, values in ((20, "x", BLUE, [[1, 3, 5, 7], [4, 4, 8, 8]]), (420, "h = (x - mean) * rstd", GREEN, [["-1.3", "-0.4", "0.4", "1.3"], ["-1", "-1", "1", "1"]])):
    picture.text(x, 26, title, bold=True)
    picture.cells(x, 40, values, fill=lambda i, j, fill=fill: fill, cell=44)
picture.text(216, 26, "mean, rstd", bold=True)
picture.cells(216, 40, [["4", "0.447"], ["6", "0.5"]], fill=lambda i, j: ORANGE, cell=60)
picture.arrow(198, 62, 212, 66)
picture.arrow(338, 66, 416, 62)
picture.cells(420, 146, [["w0", "w1", "w2", "w3"]], fill=lambda i, j: GREY, cell=44)
picture.text(404, 172, "then * weight + bias, of the column", 13, "end")
picture.text(20, 216, "A block of threads shares a row: it sums the row, then the squared distances from the mean.", 13)
picture.save("7.2")
