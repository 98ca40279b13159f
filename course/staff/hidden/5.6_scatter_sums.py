"""Hidden tests of task 5.6."""
import struct

from judge.testing import hidden, public


@hidden("5.6", of="sums", test="sums of others", title="nine ranks and many numbers", hint="The sum of part p begins at rank p + 1.")
def _(t):
    for ranks, n in ((6, 12), (9, 5004), (2, 2502), (2, 2 * t.random.randint(1, 300))):
        public("5.6").sums(t, ranks, n)


@hidden("5.6", of="gather", test="gather of others", title="nine ranks and many numbers", hint="A rank's own part goes to its place in out first.")
def _(t):
    for ranks, n in ((6, 12), (9, 5004), (2, 2502), (2, 2 * t.random.randint(1, 300))):
        public("5.6").gathered(t, ranks, n)


@hidden("5.6", of="any sizes", test="random sizes", title="random sizes", hint="Try 8 ranks and 100 numbers.")
def _(t):
    for _ in range(10):
        ranks, n = t.random.randint(1, 12), t.random.randint(0, 120)
        public("5.6").sums(t, ranks, n)
        public("5.6").gathered(t, ranks, n)


@hidden("5.6", of="any sizes", test="many ranks", title="33 to 130 ranks", hint="Nothing limits the number of ranks.")
def _(t):
    for ranks, n in ((33, 40), (65, 65), (130, 301)):
        public("5.6").sums(t, ranks, n)
        public("5.6").gathered(t, ranks, n)


@hidden("5.6", of="sums", test="NaN of others", title="NaN and infinity at one of several ranks", hint="Add every number that comes, whatever it is.")
def _(t):
    for ranks in (3, 5):
        public("5.6").special_sums(t, ranks)


@hidden("5.6", of="kept", test="kept of others", title="data of other sizes stay as they are", hint="What is summed on the way stands in memory of your own.")
def _(t):
    for ranks, n in ((2, 60), (5, 72)):
        data, parts = t.floats(ranks * n), t.floats(n)
        t.equal(public("5.6").run(t, ranks, n, data=data)["kept"], data, "data")
        t.equal(public("5.6").run(t, ranks, n, parts=parts)["kept"], parts, "part")


@hidden("5.6", of="bytes", test="bytes of random sizes", title="bytes of all ranks together, and messages where parts are empty", hint="Empty parts are sent like others.")
def _(t):
    for ranks, n in ((5, 13), (9, 4), (3, 0), (t.random.randint(2, 9), t.random.randint(1, 50))):
        for reply in (public("5.6").sums(t, ranks, n), public("5.6").gathered(t, ranks, n)):
            t.equal(sum(reply["sent"]), (ranks - 1) * n * 4, "bytes")
            t.equal(reply["messages"], [ranks - 1] * ranks, "messages of each rank")


@hidden("5.6", of="order of the sums", test="order of other sums", title="sums of six ranks", hint="In the first step rank r sends part r - 1 of its own data.")
def _(t):
    ranks, expected = 6, []
    by_rank = [1e8, 1.0, -1e8, 1.0, 1e8, -1e8]
    t.random.shuffle(by_rank)
    for part in range(ranks):
        total = 0.0
        for step in range(1, ranks + 1):
            total = struct.unpack("f", struct.pack("f", total + by_rank[(part + step) % ranks]))[0]
        expected.append(total)
    t.equal(public("5.6").run(t, ranks, ranks, data=[value for value in by_rank for _ in range(ranks)])["out"], expected, "out of rank 0, of rank 1, and so on")


@hidden("5.6", of="any order", test="other orders", title="whoever is fast of seven ranks", hint="Send before you wait.")
def _(t):
    for _ in range(3):
        order = t.random.sample(range(7), 7)
        for turns in ({}, {"turns": 1}):
            public("5.6").sums(t, 7, 50, order, **turns)
            public("5.6").gathered(t, 7, 50, order, **turns)


@hidden("5.6", of="any sizes", test="more numbers than an int counts", title="more numbers than an int counts", hint="n is a long, and so are places.")
def _(t):
    ranks, n = 256, 2**31 + 2**24 + 1000  # a part has 8.5 million numbers
    whole, more = divmod(n, ranks)
    begin = [part * whole + min(part, more) for part in range(ranks + 1)]
    length = [whole + (part < more) for part in range(ranks)]
    # Rank 255 takes three steps, and is stopped. The first and the last number of a part say which it is.
    parts = [254, 253, 252]
    places = [place for each in parts for place in (begin[each], begin[each + 1] - 1)]
    marks = [float(mark) for mark in range(1, len(places) + 1)]
    for gathers, reply, sent, ends in (
            (0, t.run(ranks=ranks, huge=n, gathers=0, places=places, marks=marks), parts, marks),
            (1, t.run(ranks=ranks, huge=n, gathers=1, places=[0, length[255] - 1], marks=[7.0, 8.0]), [255, 254, 253], [7.0, 8.0, 0.0, 0.0, 0.0, 0.0])):
        if reply["full"] == [1]:
            continue  # it wants a copy of all numbers, for which there is no memory
        name = ("reduce_scatter", "all_gather")[gathers]
        t.equal(reply["sent"], [length[each] for each in sent], f"how many numbers rank 255 sends in {name}")
        t.equal(reply["received"], [length[each - 1] for each in sent], f"how many numbers rank 255 receives in {name}")
        t.equal(reply["ends"], ends, f"the first and the last number of each message of rank 255 in {name}")
