"""The picture of task 4.4: host and GPU with a wait in each step, and without."""
from svg import BLUE, GREY, ORANGE, PALE, RED, Canvas

picture = Canvas(690, 300)


def timeline(y, title, host, gpu):
    picture.text(20, y, title, bold=True)
    picture.text(20, y + 35, "host")
    picture.text(20, y + 77, "GPU")
    for (x, width, text, fill), lane in [(each, 0) for each in host] + [(each, 1) for each in gpu]:
        picture.box(x, y + 14 + 42 * lane, width, 32, text, fill, size=12)


host, gpu = [], []
for i in range(3):
    x = 70 + 186 * i
    host += [(x, 50, "queue", BLUE), (x + 50, 136, "wait for the loss", RED)]
    gpu += [(x + 30, 140, f"step {i}", ORANGE)]
timeline(30, "a loss is fetched in each step: the GPU is idle while the host queues the next one", host, gpu)
for i in range(3):
    picture.box(70 + 186 * i + (170 if i else 0) - (156 if i else 0), 0, 0, 0)
host = [(70 + 50 * i, 50, "queue", BLUE) for i in range(3)] + [(220, 300, "wait for all losses, at the end of the epoch", RED)]
gpu = [(100 + 140 * i, 140, f"step {i}", ORANGE) for i in range(3)]
timeline(168, "losses stay on the device: the host is ahead, and the GPU is busy", host, gpu)
picture.arrow(70, 276, 660, 276)
picture.text(660, 294, "time", 12, "end", PALE)
picture.save("4.4")
