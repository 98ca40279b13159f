"""Hidden tests of task 5.1."""
from judge.testing import hidden


def parts_of(rows, width, devices):
    return [(rows // devices + (i < rows % devices)) * width for i in range(devices)]


@hidden("5.1", of="scatter remainder", test="random scatter", title="random sizes", hint="Try 29 rows of 3 numbers on 8 devices.")
def _(t):
    for _ in range(12):
        rows, width, devices = t.random.randint(0, 40), t.random.randint(1, 5), t.random.randint(1, 9)
        x, home = t.floats(rows * width), t.random.randrange(devices)
        reply = t.run(call="scatter", x=x, rows=rows, width=width, devices=devices, home=home)
        t.equal(reply["sizes"], parts_of(rows, width, devices), "numbers of each part")
        t.equal(reply["x"], x, "the parts")


@hidden("5.1", of="gather remainder", test="random gather", title="random sizes", hint="Try 29 rows of 3 numbers on 8 devices.")
def _(t):
    for _ in range(12):
        rows, width, devices = t.random.randint(0, 40), t.random.randint(1, 5), t.random.randint(1, 9)
        x, home = t.floats(rows * width), t.random.randrange(devices)
        reply = t.run(call="gather", x=x, rows=rows, width=width, devices=devices, home=home, sizes=parts_of(rows, width, devices))
        t.equal(reply["x"], x, "out")


@hidden("5.1", of="scatter remainder", test="huge arrays", title="more numbers than an int can count", hint="Rows, widths and places are long.")
def _(t):
    for rows, width, devices in [(2 ** 20 + 3, 4099, 4), (7, 2 ** 31, 3)]:
        reply = t.run(call="scatter", x=[], rows=rows, width=width, devices=devices, home=1, dry=1)
        t.equal(reply["sizes"], parts_of(rows, width, devices), "numbers of each part")
        t.equal(reply["between"], [4 * (rows * width - parts_of(rows, width, devices)[1])], "bytes between devices")
