"""Hidden tests of task 8.5."""
import math

from judge.testing import hidden, public


@hidden("8.5", of="quantize", test="random numbers", title="random groups of whole numbers", hint="The largest number of a group becomes 127, and the others the nearest whole number.")
def _(t):
    for scale in (1.0, 0.5, 4.0):
        whole = public("8.5").bytes_for(t, 96)
        whole[5], whole[40], whole[95] = 127, -127, 127
        found = public("8.5").quantize(t, [scale * each + scale * t.random.choice([-0.25, 0.25]) * (abs(each) < 127) for each in whole])
        t.close(found["scales"], [scale] * 3, "scales")
        t.equal(found["q"], whole, "q")


@hidden("8.5", of="error", test="errors of others", title="errors of random numbers, tiny and large", hint="Round to the nearest whole number.")
def _(t):
    for rows, columns, size in ((2, 96, 1e-4), (1, 1024, 5e6), (300, 32, 1.0), (2, 64, 1e-30), (3, 32, 2e-37), (2, 32, 1e38)):
        w = t.floats(rows * columns, -size, size)
        public("8.5").is_near(t, w, public("8.5").quantize(t, w, rows), rows)


@hidden("8.5", of="zeros", test="zeros among others", title="groups of zeros among others", hint="Where the scale is 0, all of the group is 0.")
def _(t):
    zero = [t.random.random() < 0.5 for _ in range(20)]
    found = public("8.5").quantize(t, [0.0 if each else 3.0 for each in zero for _ in range(32)], 5)
    t.equal(found["q"], [0 if each else 127 for each in zero for _ in range(32)], "q")
    t.close(found["scales"], [0.0 if each else 3 / 127 for each in zero], "scales")


@hidden("8.5", of="groups", test="many groups", title="2,500 groups", hint="Each group has a scale of its own.")
def _(t):
    scales = [t.random.randint(1, 64) / 8 for _ in range(2500)]
    for rows in (1, 50, 2500):
        found = public("8.5").quantize(t, [each * factor for each in scales for factor in (-127.0, *[2.0] * 31)], rows)
        t.close(found["scales"], scales, "scales")
        t.equal(found["q"], [-127, *[2] * 31] * 2500, "q")


@hidden("8.5", of="product", test="random products", title="products of random bytes", hint="Bytes have a sign. Each group of 32 columns has its scale.")
def _(t):
    for rows, columns in ((1, 64), (5, 32), (3, 320)):
        q, scales, x = public("8.5").bytes_for(t, rows * columns), t.floats(rows * columns // 32), t.floats(columns)
        t.close(public("8.5").matvec(t, q, scales, x)["y"], public("8.5").product(q, scales, x), "y", 1e-3)


@hidden("8.5", of="sizes", test="other sizes", title="up to 5,000 rows, and 20,000 columns", hint="Nothing limits the rows or the columns.")
def _(t):
    for rows, columns in ((5003, 32), (2, 4000), (33, 1120), (1, 20000)):
        q, scales, x = public("8.5").bytes_for(t, rows * columns), t.quarters(rows * columns // 32, -1, 1), t.quarters(columns, -1, 1)
        t.close(public("8.5").matvec(t, q, scales, x)["y"], public("8.5").product(q, scales, x), "y", 1e-4)


@hidden("8.5", of="launches", test="launches of other sizes", title="launches of more rows", hint="One launch each.")
def _(t):
    if not t.on_gpu:
        t.at_most(len(public("8.5").quantize(t, t.floats(6400), 100).launches), 1, "launches of quantize")
        t.at_most(len(public("8.5").matvec(t, public("8.5").bytes_for(t, 9600), t.quarters(300), t.quarters(32)).launches), 1, "launches of matvec_int8")


@hidden("8.5", of="quantize once", test="quantize once, other sizes", title="bytes that quantize moves for other sizes", hint="Each number is loaded once.")
def _(t):
    public("8.5").quantize_moves(t, 4, 512)


@hidden("8.5", of="bytes", test="bytes of other sizes", title="bytes that a product moves for other sizes", hint="The rows of a block share x.")
def _(t):
    for rows, columns in ((64, 256), (16, 2048)):
        public("8.5").matvec_moves(t, rows, columns)


@hidden("8.5", of="product", test="not finite", title="0 times infinity is NaN, in its own row alone", hint="Leave no product out: 0 times infinity is NaN.")
def _(t):
    x = [math.inf] + t.quarters(31)
    t.equal(public("8.5").matvec(t, [0] + [1] * 31 + [1] * 32, [1.0, 0.5], x)["y"], [math.nan, math.inf], "y")


@hidden("8.5", of="sizes", test="more rows", title="70,000 rows without columns", hint="A grid has at most 65,535 blocks along y and z.")
def _(t):
    t.begins(seconds=0.3, may_end=True, q=[], scales=[], x=[], rows=70000, columns=0)
