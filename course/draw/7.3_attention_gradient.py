"""The picture of task 7.3: rows and columns of the weights serve different gradients."""
from svg import BLUE, GREEN, GREY, ORANGE, Canvas

picture = Canvas(680, 290)
cell, n = 44, 5
picture.text(40, 28, "weights, and the slopes of scores", bold=True)
for i in range(n):
    picture.text(32, 70 + cell * i, f"i = {i}", 12, "end")
    for j in range(n):
        fill = GREY if j > i else ORANGE if i == 3 and j == 1 else BLUE if i == 3 else GREEN if j == 1 else "#ffffff"
        picture.box(40 + cell * j, 44 + cell * i, cell, cell, "0" if j > i else "", fill)
for y, fill, text in ((70, BLUE, "Row i belongs to one query: its softmax, the mean"), (134, GREEN, "Column j belongs to one key: dk[j] and dv[j] sum"),
                      (198, GREY, "Masked: rows do not see later rows. Nothing")):
    picture.box(290, y - 14, 20, 20, fill=fill)
    picture.text(318, y, text, 13)
for y, text in ((90, "of its slopes, and dq[i]."), (154, "over the rows i >= j."), (218, "of this is loaded.")):
    picture.text(318, y, text, 13)
picture.save("7.3")
