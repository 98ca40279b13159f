"""Tests of task 6.1. Most inputs are zero but for a few pixels: each leaves its weight at known places of the output."""
from judge.testing import task

T = task("6.1", "A convolution with a halo", 25, "6_extra/6.1_conv2d.cu", exports=["course::gpu::conv2d"], extra=True)


class Sizes:
    def __init__(self, channels, height, width, outputs, window_h, window_w, padding):
        self.inputs = dict(channels=channels, height=height, width=width, outputs=outputs, window_h=window_h,
                           window_w=window_w, padding=padding)
        self.__dict__.update(self.inputs)
        self.out_h, self.out_w = height + 2 * padding - window_h + 1, width + 2 * padding - window_w + 1
        self.weights = outputs * channels * window_h * window_w


def run(t, s, x, weight):
    return t.run(x=x, weight=weight, **s.inputs)


def same_turned(t, s):
    """Weights of windows that are the same when they are turned by 180 degrees: only one test is about orientation."""
    area = s.window_h * s.window_w
    halves = [t.quarters(area) for _ in range(s.weights // area)]
    return [window[min(i, area - 1 - i)] for window in halves for i in range(area)]


def pixels(t, s, places, make_weights=same_turned):
    """Convolves a picture that is 0 but for whole numbers at these places, (channel, row, column), and compares."""
    weight = make_weights(t, s)
    x = [0.0] * (s.channels * s.height * s.width)
    expected = [0.0] * (s.outputs * s.out_h * s.out_w)
    for number, (c, row, column) in enumerate(places):
        value = number % 7 + 1.0
        x[(c * s.height + row) * s.width + column] = value
        for o in range(s.outputs):
            for w in range(s.window_h * s.window_w):
                # The weight at (w // window_w, w % window_w) of the window meets this pixel here:
                i, j = row + s.padding - w // s.window_w, column + s.padding - w % s.window_w
                if 0 <= i < s.out_h and 0 <= j < s.out_w:
                    expected[(o * s.out_h + i) * s.out_w + j] += \
                        value * weight[(o * s.channels + c) * s.window_h * s.window_w + w]
    found = run(t, s, x, weight)["out"]
    for at, (a, b) in enumerate(zip(found, expected)):
        if a != b:
            o, i, j = at // (s.out_h * s.out_w), at // s.out_w % s.out_h, at % s.out_w
            t.fail(f"x is 0 but for {len(places)} pixels, the first at {list(places[0])}:\n"
                   f"out[{o}, {i}, {j}]: found {a:g}, expected {b:g}")


def some(t, s, count):
    """So many different places."""
    places = [(c, i, j) for c in range(s.channels) for i in range(s.height) for j in range(s.width)]
    return t.random.sample(places, count)


@T.test(3, "one weight", "windows of 1 x 1: each pixel is multiplied", hint="Begin with one block and no halo.")
def _(t):
    for h, w in [(1, 1), (4, 5)]:
        s = Sizes(1, h, w, 1, 1, 1, 0)
        pixels(t, s, some(t, s, h * w))


@T.test(4, "orientation", "one pixel meets each weight of the window once",
        hint="The window is not flipped: the weight in the upper left corner meets the pixel at the upper left.")
def _(t):
    for window in [(1, 3), (3, 1), (3, 3), (2, 5)]:
        pixels(t, Sizes(1, 8, 9, 1, *window, 0), [(0, 4, 4)], lambda t, s: t.quarters(s.weights))


@T.test(4, "padding", "zeros around the picture",
        hint="Row i of the output begins at row i - padding of the input; what lies outside is 0, and is not read.")
def _(t):
    for h, w, window, padding in [(1, 1, (3, 3), 1), (5, 4, (3, 3), 1), (4, 6, (5, 3), 2), (3, 3, (1, 1), 2)]:
        s = Sizes(1, h, w, 1, *window, padding)
        pixels(t, s, some(t, s, h * w))


@T.test(3, "channels", "several channels in and out",
        hint="An output is a sum over all channels of the input; each pair of channels has its own window.")
def _(t):
    for channels, outputs in [(2, 1), (1, 2), (3, 4)]:
        s = Sizes(channels, 6, 7, outputs, 3, 3, 0)
        pixels(t, s, some(t, s, 12))
    s = Sizes(200, 1, 1, 1, 1, 1, 0)  # what is kept of all channels at once has no room for any number of them
    pixels(t, s, some(t, s, 200))


@T.test(4, "halo", "pictures that need several blocks",
        hint="The outputs at the border of a block need pixels beyond it: a tile has window - 1 more rows and columns.")
def _(t):
    for h, w, window in [(18, 18, (3, 3)), (20, 37, (3, 3)), (35, 34, (5, 2)), (40, 40, (7, 7))]:
        s = Sizes(1, h, w, 1, *window, 0)
        pixels(t, s, some(t, s, h * w // 3))


def loaded(t, s):
    """How many numbers are loaded for each output and each channel of the input."""
    reply = run(t, s, t.quarters(s.channels * s.height * s.width), t.quarters(s.weights))
    return reply.total("global_load_bytes") / (4 * s.outputs * s.channels * s.out_h * s.out_w)


def loads(t, s, pixels_each, weights_each):
    found = loaded(t, s)
    if not t.on_gpu:
        t.at_most(found, pixels_each + weights_each, "numbers loaded from global memory for each output and channel")


def pixel_loads(t, s, pixels_each):
    """Pixels alone: a picture of a few pixels amid zeros has as many outputs, and needs as many loads of weights."""
    around = (min(s.height, s.width) - 1) // 2
    few = Sizes(s.channels, s.height - 2 * around, s.width - 2 * around, s.outputs, s.window_h, s.window_w, around)
    weights = loaded(t, few)
    found = loaded(t, s) - weights
    if not t.on_gpu:
        t.at_most(found, pixels_each, f"numbers loaded from global memory for each output and channel, more than with {few.height} x {few.width} pixels and padding {around},")


# A block of 16 x 16 outputs needs 18 x 18 pixels of each channel for a window of 3 x 3, 1.27 for each output; one of 32 x 8 needs 1.33.
# With a window of 5 x 5 these are 1.56 and 1.69.
BIG, WIDE = (Sizes(3, 34, 34, 4, 3, 3, 0), 4 / 3), (Sizes(2, 36, 36, 1, 5, 5, 0), 7 / 4)


@T.test(4, "tiles", "each block loads a pixel once: at most 4/3 pixels for each output and channel",
        hint="The threads of a block load the tile with its halo into shared memory together, and compute from there.")
def _(t):
    pixel_loads(t, *BIG)


@T.test(3, "weights", "each block loads a weight once: at most 4/3 pixels for each output and channel, 9 weights for 256 outputs; with a window of 5 x 5 at most 7/4 and 25",
        hint="All threads of a block use the same weights: put them into shared memory too.")
def _(t):
    for s, pixels_each in (BIG, WIDE):
        loads(t, s, pixels_each, s.window_h * s.window_w / 256)
