"""The picture of task 2.1: a small computation, with the slope of each operation at its arrows."""
from svg import BLUE, GREY, ORANGE, Canvas

picture = Canvas(680, 272)
picture.text(20, 26, "z = (w * x - t)^2 with w = 3, x = 2, t = 5", bold=True)
for x, y, text, fill in [(20, 56, "w\n3", ORANGE), (20, 136, "x\n2", GREY), (220, 176, "t\n5", GREY), (220, 90, "mul\n6", BLUE),
                         (400, 90, "sub\n1", BLUE), (580, 90, "square\n1", BLUE)]:
    picture.box(x, y, 80, 50, text, fill)
for x1, y1, x2, y2 in [(100, 81, 218, 106), (300, 115, 398, 115), (480, 115, 578, 115)]:
    picture.line(x1, y1, x2, y2, width=2.5, arrow=True)
picture.arrow(100, 161, 218, 126)
picture.arrow(300, 201, 400, 142)
picture.text(158, 84, "slope 2", 13, "middle")
picture.text(158, 168, "slope 3", 13, "middle")
picture.text(349, 106, "slope 1", 13, "middle")
picture.text(366, 190, "slope -1", 13, "start")
picture.text(529, 106, "slope 2", 13, "middle")
picture.text(620, 162, "z", 14, "middle")
picture.text(20, 258, "the slope of z by w: one factor for each arrow from w to z, 2 * 1 * 2 = 4")
picture.save("2.1")
