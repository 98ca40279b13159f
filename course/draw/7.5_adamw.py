"""The picture of task 7.5: what a step reads and writes for one number."""
from svg import BLUE, GREEN, GREY, ORANGE, Canvas

picture = Canvas(660, 220)
for x, y, text, fill in ((20, 30, "gradient", GREY), (190, 20, "first\n0.9 of before, 0.1 new", BLUE), (190, 90, "second\n0.999 of before,\n0.001 of the square", ORANGE),
                         (440, 54, "lr * first / root of second", GREEN)):
    picture.box(x, y, 120 if x < 100 else 190, 54 if y != 90 else 70, text, fill, size=13)
picture.arrow(142, 52, 188, 46)
picture.arrow(142, 66, 188, 116)
picture.arrow(382, 48, 436, 74)
picture.arrow(382, 122, 436, 94)
picture.box(440, 150, 190, 40, "weight", BLUE)
picture.arrow(535, 110, 535, 146)
picture.text(425, 164, "shrinks by lr * weight_decay of itself,", 13, "end")
picture.text(425, 182, "past both moments", 13, "end")
picture.save("7.5")
