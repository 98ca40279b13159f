"""The picture of task 6.6: the banks of a tile, with rows of four numbers and of five."""
from svg import BLUE, GREEN, GREY, ORANGE, PURPLE, Canvas

BANKS = [BLUE, ORANGE, GREEN, PURPLE]
picture = Canvas(640, 236)
for x, title, width in ((20, "rows of 4 numbers", 4), (330, "rows of 5, of which 4 are used", 5)):
    picture.text(x, 26, title, bold=True)
    for i in range(4):
        for j in range(width):
            used = j < 4
            picture.box(x + 38 * j, 40 + 34 * i, 38, 34, f"bank {(width * i + j) % 4}" if used else "", BANKS[(width * i + j) % 4] if used else GREY, size=10)
picture.text(20, 200, "A column lies in one bank: four turns.", 13)
picture.text(330, 200, "A column lies in four banks: one turn.", 13)
picture.text(20, 224, "Here a memory of 4 banks; a GPU has 32, and a tile has rows of 33.", 13)
picture.save("6.6")
