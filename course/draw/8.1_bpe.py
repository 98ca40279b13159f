"""The picture of task 8.1: three merges, one after the other."""
from svg import BLUE, GREEN, ORANGE, PALE, Canvas

CELL = 34
picture = Canvas(640, 236)
rows = [("bytes", list("aaabdaaabac"), {}), ("256 = a a", ["aa", "a", "b", "d", "aa", "a", "b", "a", "c"], {"aa": BLUE}),
        ("257 = a b", ["aa", "ab", "d", "aa", "ab", "a", "c"], {"aa": BLUE, "ab": ORANGE}),
        ("258 = 256 257", ["aaab", "d", "aaab", "a", "c"], {"aaab": GREEN})]
for i, (name, tokens, colours) in enumerate(rows):
    y, x = 16 + 50 * i, 150
    picture.text(20, y + 23, name, 14, bold=i > 0)
    for each in tokens:
        picture.box(x, y, CELL * len(each), CELL, " ".join(each), colours.get(each, "#ffffff"), size=13)
        x += CELL * len(each)
    picture.text(540, y + 23, f"{len(tokens)} tokens", 13, colour=PALE)
picture.text(20, 226, "Each merge takes the pair that stands at most places; of equals, the smaller left token.", 13)
picture.save("8.1")
