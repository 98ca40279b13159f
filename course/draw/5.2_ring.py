"""The picture of task 5.2: the first half of a ring of three ranks."""
from svg import BLUE, GREEN, GREY, ORANGE, Canvas

picture = Canvas(690, 310)
STATES = [("at first", ["a0 a1 a2", "b0 b1 b2", "c0 c1 c2"], ["a0", "b1", "c2"]),
          ("after step 0", ["a0 a1 ca2", "ab0 b1 b2", "c0 bc1 c2"], ["ca2", "ab0", "bc1"]),
          ("after step 1", ["a0 abc1 ca2", "ab0 b1 abc2", "abc0 bc1 c2"], ["abc1", "abc2", "abc0"])]
COLOURS = [BLUE, ORANGE, GREEN]
for r in range(3):
    picture.text(142 + 192 * r + 72, 30, f"rank {r}", 14, "middle", bold=True)
for s, (title, ranks, sent) in enumerate(STATES):
    y = 48 + 88 * s
    picture.text(20, y + 23, title)
    for r, parts in enumerate(ranks):
        for p, text in enumerate(parts.split()):
            picture.box(142 + 192 * r + 48 * p, y, 48, 36, text, COLOURS[p] if text in sent else GREY, size=13)
for s in range(2):
    y = 48 + 88 * s + 36
    for r in range(3):
        p = (r - s) % 3
        x = 142 + 192 * r + 48 * p + 24
        to = 142 + 192 * ((r + 1) % 3) + 48 * p + 24
        picture.arrow(x, y + 2, to + (-6 if to > x else 6), y + 50)
picture.text(20, 280, "Coloured parts are sent next, each to the right neighbour; that of rank 2 is rank 0.", 13)
picture.text(20, 300, "After step 1 they are whole sums, which go around in two more steps.", 13)
picture.save("5.2")
