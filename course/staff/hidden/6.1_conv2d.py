"""Hidden tests of task 6.1."""
import math

from judge.testing import hidden, public


def convolved(t, channels, height, width, outputs, window_h, window_w, padding):
    x, weight = t.quarters(channels * height * width), t.quarters(outputs * channels * window_h * window_w)
    out_h, out_w = height + 2 * padding - window_h + 1, width + 2 * padding - window_w + 1
    found = t.run(x=x, weight=weight, channels=channels, height=height, width=width, outputs=outputs, window_h=window_h,
                  window_w=window_w, padding=padding)["out"]
    expected = []
    for o in range(outputs):
        for i in range(out_h):
            for j in range(out_w):
                expected.append(sum(
                    x[(c * height + i + di - padding) * width + j + dj - padding] *
                    weight[((o * channels + c) * window_h + di) * window_w + dj]
                    for c in range(channels) for di in range(window_h) for dj in range(window_w)
                    if 0 <= i + di - padding < height and 0 <= j + dj - padding < width))
    t.equal(found, expected, "out")


@hidden("6.1", of="channels", test="all at once", title="full pictures, several channels, padding",
        hint="Compare with a loop over all indices on the CPU, for random whole numbers.")
def _(t):
    for sizes in [(2, 5, 6, 3, 3, 3, 1), (3, 9, 4, 2, 1, 5, 2), (2, 20, 18, 2, 3, 3, 1)]:
        convolved(t, *sizes)


@hidden("6.1", of="orientation", test="windows that are not square", title="full pictures and windows of other shapes",
        hint="The height of the window belongs to rows, the width to columns.")
def _(t):
    for sizes in [(1, 7, 8, 1, 2, 4, 0), (1, 8, 7, 1, 5, 1, 0), (1, 9, 9, 1, 7, 6, 0)]:
        convolved(t, *sizes)


@hidden("6.1", of="halo", test="larger pictures", title="a picture of 70 x 90, in one launch of each kernel", hint="Nothing limits the picture.")
def _(t):
    x, weight = t.quarters(70 * 91), t.quarters(9)
    found = t.run(x=x, weight=weight, channels=1, height=70, width=91, outputs=1, window_h=3, window_w=3, padding=0)["out"]
    for _ in range(300):
        i, j = t.random.randrange(68), t.random.randrange(89)
        expected = sum(x[(i + di) * 91 + j + dj] * weight[3 * di + dj] for di in range(3) for dj in range(3))
        t.equal(found[i * 89 + j], expected, f"out[0, {i}, {j}]")


@hidden("6.1", of="one weight", test="one weight of larger pictures", title="windows of 1 x 1, random sizes", hint="With a window of 1 x 1 each output is one product a channel.")
def _(t):
    for _ in range(3):
        convolved(t, 1, t.random.randint(2, 40), t.random.randint(2, 40), 1, 1, 1, 0)


@hidden("6.1", of="one weight", test="not finite", title="0 times infinity is NaN", hint="Leave no product out: 0 times infinity is NaN.")
def _(t):
    for weight, expected in [([0.0], [0.0, math.nan, 0.0]), ([0.0, 1.0], [math.inf, math.nan])]:
        found = t.run(x=[1.0, math.inf, 2.0], weight=weight, channels=1, height=1, width=3, outputs=1, window_h=1, window_w=len(weight), padding=0)["out"]
        t.equal(found, expected, "out")


@hidden("6.1", of="padding", test="wide padding", title="random sizes, and a padding as wide as the window", hint="Outputs whose window lies outside of the picture are 0.")
def _(t):
    for height, width, window, padding in [(1, 1, 7, 7), (3, 20, 2, 2), (17, 2, 4, 3), (16, 32, 3, 3)]:
        convolved(t, 1, height, width, 1, window, window, padding)


@hidden("6.1", of="channels", test="many channels", title="many channels and outputs", hint="Nothing limits the channels or the outputs.")
def _(t):
    for channels, outputs in [(9, 1), (1, 17), (67, 3), (2, 70)]:
        convolved(t, channels, 3, 4, outputs, 2, 2, 0)
    convolved(t, 1030, 1, 1, 1, 1, 1, 0)
    convolved(t, 2, 2, 2, 1030, 1, 1, 0)
    for window in ((1, 3), (3, 1)):
        convolved(t, 1, *(1030 if each == 3 else 1 for each in window), 1, *window, 0)


def larger(t):
    """Outputs of 48 x 64 by windows of several sizes, and the pixels for each that blocks of 32 x 8 outputs need."""
    for channels, outputs, window_h, window_w, pixels_each in ((2, 5, 3, 3, 4 / 3), (1, 2, 2, 7, 5 / 3), (2, 1, 7, 7, 9 / 4)):
        yield public("6.1").Sizes(channels, 48 + window_h - 1, 64 + window_w - 1, outputs, window_h, window_w, 0), pixels_each


@hidden("6.1", of="tiles", test="tiles of a larger picture", title="each pixel once, of 48 x 64 outputs and windows of up to 7 x 7", hint="Each block loads its tile once.")
def _(t):
    for s, pixels_each in larger(t):
        if s.window_h > 2:
            public("6.1").pixel_loads(t, s, pixels_each)


@hidden("6.1", of="weights", test="weights of a larger picture", title="each weight once for 256 outputs, of 48 x 64 outputs and windows of up to 7 x 7", hint="Each block loads a weight once, whatever the window.")
def _(t):
    for s, pixels_each in larger(t):
        public("6.1").loads(t, s, pixels_each, s.window_h * s.window_w / 256)
