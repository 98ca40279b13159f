"""The picture of task 7.6: a piece of text, its targets, and how a text grows."""
from svg import BLUE, GREEN, ORANGE, Canvas

picture = Canvas(600, 232)
text = "to be or not"
picture.text(20, 28, "training: the target of each token is the next one", bold=True)
picture.cells(20, 40, [list(text)], fill=lambda i, j: BLUE if 3 <= j < 7 else None)
picture.cells(20, 78, [[each if 4 <= j < 8 else "" for j, each in enumerate(text)]], fill=lambda i, j: ORANGE if 4 <= j < 8 else None)
picture.text(440, 62, "a piece, window() = 4", 13)
picture.text(440, 100, "its targets", 13)
picture.text(20, 148, "writing: the last tokens give the next one, which is read in turn", bold=True)
picture.cells(20, 160, [list("to b")], fill=lambda i, j: BLUE)
picture.arrow(160, 177, 196, 177)
picture.cells(200, 160, [["e"]], fill=lambda i, j: GREEN)
picture.cells(270, 160, [list("o be")], fill=lambda i, j: GREEN if j == 3 else BLUE)
picture.arrow(410, 177, 446, 177)
picture.cells(450, 160, [[" "]], fill=lambda i, j: GREEN)
picture.text(20, 222, "All four targets of a piece are learned at once; of what writing gets, the last row counts.", 13)
picture.save("7.6")
