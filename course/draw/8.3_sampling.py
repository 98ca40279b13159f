"""The picture of task 8.3: bars of six tokens, what stays of them, and the line that next() hits."""
from svg import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, Canvas

picture = Canvas(690, 262)
shares = [40, 25, 15, 10, 6, 4]
colours = [BLUE, ORANGE, GREEN, PURPLE, RED, GREY]
for x, title, kept in ((20, "softmax(logits / T)", 6), (250, "top k = 4", 4), (480, "top p = 0.8", 3)):
    picture.text(x, 26, title, bold=True)
    total = sum(shares[:kept])
    for i, share in enumerate(shares):
        height = 120 * share / total if i < kept else 0
        if height:
            picture.box(x + 30 * i, 164 - height, 26, height, "", colours[i])
        picture.text(x + 30 * i + 13, 180, f"{share / total:.2f}" if height else "0", 11, "middle")
picture.text(20, 212, "one number", bold=True)
x = 130
for i, share in enumerate(shares[:3]):
    width = 400 * share / 80
    picture.box(x, 196, width, 24, i, colours[i], size=13)
    x += width
picture.text(130, 240, "0", 12, "middle")
picture.text(530, 240, "1", 12, "middle")
picture.arrow(390, 250, 390, 222)
picture.text(400, 252, "next() = 0.65: token 1", 13)
picture.save("8.3")
