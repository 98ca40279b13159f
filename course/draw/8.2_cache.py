"""The picture of task 8.2: the rows of a prompt, then one row for each new token, and the cache that grows."""
from svg import BLUE, GREEN, GREY, ORANGE, Canvas

picture = Canvas(680, 256)
for x, title, cached, new in ((20, "prefill", 0, 3), (250, "decode", 3, 1), (480, "decode", 4, 1)):
    picture.text(x, 28, title, bold=True)
    picture.text(x, 54, "rows through the layer", 13)
    picture.cells(x, 64, [[cached + i for i in range(new)]], fill=lambda i, j: ORANGE)
    picture.cells(x, 126, [[i for i in range(cached + new)]], fill=lambda i, j: BLUE if j < cached else ORANGE)
    picture.text(x, 180, "keys and values in its cache", 13)
    picture.arrow(x + 17, 100, x + 17 + 34 * cached, 122) if cached else picture.arrow(x + 50, 100, x + 50, 122)
    picture.text(x, 206, f"writes token {cached + new}", 13)
    picture.box(x + 96, 190, 34, 24, cached + new, GREEN, size=13)
picture.line(230, 20, 230, 216, GREY)
picture.line(460, 20, 460, 216, GREY)
picture.text(20, 242, "A token goes through the layers once. Those that follow need its keys and values alone.", 13)
picture.save("8.2")
