"""Hidden tests of task 5.1."""
from judge.testing import hidden, public


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


# More rows than a float counts, more numbers than an int counts, a width and rows that no int holds.
HUGE = [(2 ** 26 + 5, 2, 3), (2 ** 20 + 3, 4099, 4), (7, 2 ** 31, 3), (2 ** 33 + 7, 1, 3)]


@hidden("5.1", of="scatter remainder", test="huge arrays", title="more numbers than an int can count", hint="Rows, widths and places are long.")
def _(t):
    for sizes in HUGE:
        public("5.1").without_numbers(t, "scatter", sizes, parts_of(*sizes), home=1)


@hidden("5.1", of="gather remainder", test="huge parts", title="more numbers than an int can count", hint="Rows, widths and places are long.")
def _(t):
    for sizes in HUGE:
        public("5.1").without_numbers(t, "gather", sizes, parts_of(*sizes), home=1)


@hidden("5.1", of="scatter", test="other even rows", title="as many rows for each device, of random sizes", hint="Part i begins where part i - 1 ends.")
def _(t):
    for _ in range(4):
        devices, each, width = t.random.randint(1, 4), t.random.randint(1, 9), t.random.randint(1, 9)
        public("5.1").scattered(t, [((each * devices, width, devices), [each * width] * devices)])


@hidden("5.1", of="gather", test="other even parts", title="parts of the same size, of random sizes", hint="The parts lie in out one after the other.")
def _(t):
    for _ in range(4):
        devices, each, width = t.random.randint(1, 4), t.random.randint(1, 9), t.random.randint(1, 9)
        public("5.1").gathered(t, [((each * devices, width, devices), [each * width] * devices)])


@hidden("5.1", of="few rows", test="other few rows", title="fewer rows than devices, of random widths", hint="A device without rows gets an empty part, and no copy is made for it.")
def _(t):
    for rows, devices in [(1, 2), (1, 4), (2, 4), (3, 4), (0, 3), (7, 2)]:
        width = t.random.randint(1, 9) if rows < devices else 0
        for call in ("scatter", "gather"):
            x, reply = public("5.1").ask(t, call, (rows, width, devices), parts_of(rows, width, devices))
            t.equal(reply["x"], x, "the numbers")
            t.at_most(reply["empty"][0], 0, f"empty copies of {call}")


@hidden("5.1", of="bytes", test="bytes of other sizes", title="each number is copied once, of random sizes", hint="Copy from `home` to device i, or back.")
def _(t):
    for call in ("scatter", "gather"):
        for rows in (t.random.randint(5, 20), 40003):
            width, devices = t.random.randint(1, 9), t.random.randint(2, 4)
            parts, home = parts_of(rows, width, devices), t.random.randrange(devices)
            x, reply = public("5.1").ask(t, call, (rows, width, devices), parts, home)
            t.at_most(reply["between"][0], 4 * (len(x) - parts[home]), f"bytes between devices in {call}")
            t.at_most(reply["copies"][0], devices, f"copies of {call}")


@hidden("5.1", of="scatter remainder", test="many rows", title="70,001 rows", hint="Nothing limits the number of rows.")
def _(t):
    public("5.1").scattered(t, [((70001, 1, 4), [17501, 17500, 17500, 17500])])
    public("5.1").gathered(t, [((70001, 1, 4), [17501, 17500, 17500, 17500])])


MANY = [((3501, 2, 1100), [8] * 201 + [6] * 899)]


@hidden("5.1", of="scatter remainder", test="scatter to many", title="1,100 devices", hint="Nothing limits the number of devices.")
def _(t):
    public("5.1").scattered(t, MANY)


@hidden("5.1", of="gather remainder", test="gather from many", title="1,100 devices", hint="Nothing limits the number of devices.")
def _(t):
    public("5.1").gathered(t, MANY)
