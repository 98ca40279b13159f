"""The picture of task 5.7: what four ranks hold, with all of the state and with a part of it; and what a step does."""
from svg import BLUE, GREEN, GREY, ORANGE, PURPLE, Canvas

picture = Canvas(720, 392)
ROWS = (("weights", BLUE), ("gradients", ORANGE), ("first moment", GREEN), ("second moment", GREEN))
for column, (title, parts, total) in enumerate((("all state everywhere", 4, "16 bytes for each weight"), ("each rank has a part of it", 1, "8 + 8 / N bytes for each weight"))):
    left = 132 + 300 * column
    picture.text(left + 132, 24, title, 15, "middle", bold=True)
    for r in range(4):
        x = left + 70 * r
        picture.text(x + 28, 48, f"rank {r}", 13, "middle")
        for row, (name, colour) in enumerate(ROWS):
            if column == 0 and r == 0:
                picture.text(14, 74 + 30 * row, name, 13)
            for part in range(4):
                here = row < 2 or parts == 4 or part == r
                picture.box(x + 14 * part, 58 + 30 * row, 14, 22, "", colour if here else GREY)
    picture.text(left + 132, 200, total, 13, "middle")
picture.text(14, 240, "a step", 15, bold=True)
STEPS = (("gradients", "of n numbers", ORANGE), ("mean of part r", "n / N numbers", ORANGE), ("moments of part r", "stay at rank r", GREEN), ("weights of part r", "move", PURPLE), ("weights", "of n numbers", BLUE))
for i, (first, second, colour) in enumerate(STEPS):
    picture.box(14 + 142 * i, 276, 124, 50, f"{first}\n{second}", colour, size=12)
    if i:
        picture.arrow(14 + 142 * i - 18, 301, 14 + 142 * i - 1, 301)
picture.text(144, 264, "reduce-scatter", 13, "middle")
picture.text(570, 264, "all-gather", 13, "middle")
picture.text(14, 360, "Both calls send (N - 1) / N of n numbers, once: together as much as the all-reduce of task 5.3's step.", 13)
picture.save("5.7")
