"""The picture of task 0.3: two lists of sizes, aligned at their ends."""
from svg import BLUE, GREEN, GREY, ORANGE, PALE, Canvas

picture = Canvas(520, 225)
x, cell = 120, 46
rows = [("a", ["1", "3", "1"], 50), ("b", ["5", "3", "4"], 50 + cell)]
for name, sizes, y in rows:
    picture.text(x - 16, y + cell / 2 + 5, name, 15, "end", bold=True)
    picture.cells(x, y, [sizes], cell=cell, size=16,
                  fill=lambda row, column, name=name: GREY if name == "a" and column == 0 else (BLUE if name == "a" else ORANGE))
picture.text(x + cell / 2, 40, "filled up", 12, "middle", PALE)
picture.text(x + 2 * cell, 40, "a is (3, 1)", 12, "middle")
y = 50 + 2 * cell + 18
picture.text(x - 16, y + cell / 2 + 5, "result", 15, "end", bold=True)
picture.cells(x, y, [["5", "3", "4"]], fill=lambda row, column: GREEN, cell=cell, size=16)
for i, text in enumerate(["agree: keep it", "one is 1: take the other one", "else: they do not fit"]):
    picture.text(x + 3 * cell + 40, 80 + i * 30, text)
picture.save("0.3")
