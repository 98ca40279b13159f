"""The picture of task 6.5: blocks of queries go along the keys, blocks of keys along the queries."""
from svg import BLUE, GREEN, GREY, INK, ORANGE, PALE, Canvas

TILE = 42
picture = Canvas(690, 300)
for x, title, wide, own, along in ((20, "dq: a block of queries", True, "q, dout", "k, v"), (370, "dk and dv: a block of keys", False, "k, v", "q, dout")):
    picture.text(x, 26, title, bold=True)
    for i in range(4):
        for j in range(4):
            masked = j > i
            here = (i == 2) if wide else (j == 1)
            colour = GREY if masked else ORANGE if here else "#ffffff"
            picture.box(x + 70 + TILE * j, 60 + TILE * i, TILE, TILE, "", colour, INK if here and not masked else PALE, dashed=not here or masked)
    if wide:
        picture.box(x, 60 + TILE * 2, 60, TILE, own, BLUE, size=13)
        picture.arrow(x + 74, 60 + TILE * 2.5, x + 68 + TILE * 3, 60 + TILE * 2.5)
        picture.text(x + 70 + TILE * 2, 50, along, 13, "middle")
        picture.box(x + 76 + TILE * 4, 60 + TILE * 2, 44, TILE, "dq", GREEN, size=13)
    else:
        picture.box(x + 70 + TILE, 32, TILE, 24, own, BLUE, size=11)
        picture.arrow(x + 70 + TILE * 1.5, 64 + TILE, x + 70 + TILE * 1.5, 56 + TILE * 4)
        picture.text(x + 60, 60 + TILE * 2, along, 13, "end")
        picture.box(x + 50 + TILE, 64 + TILE * 4, TILE + 40, 26, "dk, dv", GREEN, size=13)
picture.text(20, 290, "orange: weights that are computed anew, a tile at a time. grey: with causal, tiles that are not needed.", 13)
picture.save("6.5")
