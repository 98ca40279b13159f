"""Hidden tests of task 6.1."""
import math

from judge.testing import hidden


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
    for height, width, window, padding in [(1, 1, 7, 7), (3, 20, 2, 2), (17, 2, 4, 3)]:
        convolved(t, 1, height, width, 1, window, window, padding)


@hidden("6.1", of="channels", test="many channels", title="many channels and outputs", hint="Nothing limits the channels or the outputs.")
def _(t):
    for channels, outputs in [(9, 1), (1, 17), (67, 3), (2, 70)]:
        convolved(t, channels, 3, 4, outputs, 2, 2, 0)


def loads_at_most(t, limit):
    """The numbers that a larger picture loads; limit(pairs of channels, outputs of each)."""
    channels, outputs, height, width, window = 2, 5, 50, 66, 3
    x, weight = t.quarters(channels * height * width), t.quarters(outputs * channels * window * window)
    reply = t.run(x=x, weight=weight, channels=channels, height=height, width=width, outputs=outputs, window_h=window, window_w=window, padding=0)
    if not t.on_gpu:
        t.at_most(sum(each.global_load_bytes for each in reply.launches) / 4, limit(channels * outputs, (height - window + 1) * (width - window + 1)),
                  "numbers loaded from global memory")


@hidden("6.1", of="tiles", test="tiles of a larger picture", title="at most 4/3 pixels and 9 weights for each output and channel, of 48 x 64 outputs", hint="Each block loads its tile once.")
def _(t):
    loads_at_most(t, lambda pairs, size: pairs * size * (4 / 3 + 9))


@hidden("6.1", of="weights", test="weights of a larger picture", title="9 weights for 256 outputs, of 48 x 64 outputs", hint="Each block loads a weight once.")
def _(t):
    loads_at_most(t, lambda pairs, size: pairs * size * (4 / 3 + 9 / 256))
