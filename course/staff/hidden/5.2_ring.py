"""Hidden tests of task 5.2."""
import struct

from judge.testing import hidden, public


@hidden("5.2", of="remainder", test="random sizes", title="random sizes", hint="Try 8 ranks and 100 numbers.")
def _(t):
    for _ in range(15):
        ranks, n = t.random.randint(2, 12), t.random.randint(0, 120)
        data, order = t.quarters(ranks * n), list(range(ranks))
        t.random.shuffle(order)
        found = t.run(ranks=ranks, data=data, order=order)["data"]
        t.equal(found, [sum(data[i::n]) for i in range(n)] * ranks, "data of all ranks")


@hidden("5.2", of="bytes", test="bytes of random sizes", title="bytes of all ranks together", hint="Try 5 ranks and 13 numbers.")
def _(t):
    for _ in range(6):
        ranks, n = t.random.randint(2, 9), t.random.randint(1, 50)
        reply = t.run(ranks=ranks, data=t.quarters(ranks * n), order=list(range(ranks)))
        t.equal(sum(reply["sent"]), 2 * (ranks - 1) * n * 4, "bytes")


@hidden("5.2", of="messages", test="messages of few numbers", title="2 (N - 1) messages, also where parts are empty",
        hint="Empty parts are sent like others.")
def _(t):
    for ranks, n in [(3, 1), (5, 2), (9, 4), (4, 0)]:
        reply = t.run(ranks=ranks, data=t.quarters(ranks * n) if n else [0.0] * 0, order=list(range(ranks)))
        t.equal(reply["messages"], [2 * (ranks - 1)] * ranks, "messages of each rank")


@hidden("5.2", of="more ranks", test="many numbers", title="9 ranks, 15,000 numbers", hint="Nothing limits the numbers of a part.")
def _(t):
    ranks, n = 9, 15007
    data = t.quarters(ranks * n)
    t.equal(t.run(ranks=ranks, data=data, order=list(range(ranks)))["data"][:n], [sum(data[i::n]) for i in range(n)], "data of rank 0")


@hidden("5.2", of="remainder", test="more numbers than an int counts", title="more numbers than an int counts", hint="n is a long.")
def _(t):
    ranks, n = 256, 2**31 + 2**24 + 1000  # a part has 8.5 million numbers
    whole, more = divmod(n, ranks)
    begin = [part * whole + min(part, more) for part in range(ranks + 1)]
    # Rank 255 sends the parts 255, 254, 253, and is stopped. The first and the last number of each say which it is.
    parts = [255, 254, 253]
    places = [place for each in parts for place in (begin[each], begin[each + 1] - 1)]
    marks = [float(mark) for mark in range(1, len(places) + 1)]
    reply = t.run(ranks=ranks, huge=n, places=places, marks=marks)
    if reply["full"] == [1]:
        return  # it wants a copy of all numbers, for which there is no memory
    t.equal(reply["sent"], [begin[each + 1] - begin[each] for each in parts], "how many numbers rank 255 sends")
    t.equal(reply["received"], [begin[each] - begin[each - 1] for each in parts], "how many numbers rank 255 receives")
    t.equal(reply["ends"], marks, "the first and the last number of each message of rank 255")


@hidden("5.2", of="remainder", test="many ranks", title="33 to 130 ranks", hint="Nothing limits the number of ranks.")
def _(t):
    public("5.2").sums(t, [(33, 40), (65, 65), (130, 301)])


@hidden("5.2", of="two ranks", test="NaN of others", title="NaN and infinity at one of several ranks", hint="Add every number that comes, whatever it is.")
def _(t):
    for ranks in (3, 5):
        public("5.2").specials(t, ranks)


@hidden("5.2", of="two ranks", test="two ranks, other sizes", title="two ranks and random even numbers", hint="Each sends one half and gets the other.")
def _(t):
    public("5.2").sums(t, [(2, 2 * t.random.randint(1, 300)) for _ in range(4)])


@hidden("5.2", of="few numbers", test="few numbers of others", title="random numbers, fewer than ranks", hint="Some parts are empty: they are sent and received like others.")
def _(t):
    for ranks in (2, 4, 7, 11):
        public("5.2").sums(t, [(ranks, t.random.randint(0, ranks - 1))])


@hidden("5.2", of="alone", test="alone with others", title="a ring of one rank, of random sizes", hint="One rank has the sum already.")
def _(t):
    for n in (0, 1, t.random.randint(2, 900)):
        data = t.quarters(n)
        reply = public("5.2").all_reduce(t, 1, data)
        t.equal(reply["data"], data, "data")
        t.equal(reply["messages"], [0], "messages")


@hidden("5.2", of="order of the sums", test="order of other sums", title="the sum of part p begins at rank p, of six ranks", hint="In the first step rank r sends part r.")
def _(t):
    ranks = 6
    by_rank = [1e8, 1.0, -1e8, 1.0, 1e8, -1e8]
    t.random.shuffle(by_rank)
    expected = []
    for part in range(ranks):
        total = 0.0
        for step in range(ranks):
            total = struct.unpack("f", struct.pack("f", total + by_rank[(part + step) % ranks]))[0]
        expected.append(total)
    data = [value for value in by_rank for _ in range(ranks)]
    t.equal(public("5.2").all_reduce(t, ranks, data)["data"], expected * ranks, "data of all ranks")
    for n in (11, 3 * ranks + t.random.randint(1, ranks - 1)):
        sums = [value for part, value in enumerate(expected) for _ in range(n // ranks + (part < n % ranks))]
        t.equal(public("5.2").all_reduce(t, ranks, [value for value in by_rank for _ in range(n)])["data"], sums * ranks, "data of all ranks")


@hidden("5.2", of="same bits", test="same bits of others", title="the same bits at all of seven ranks, whoever is fast", hint="A sum is made in one place and copied.")
def _(t):
    ranks, n = 7, 50
    data, seen = t.floats(ranks * n), []
    for _ in range(3):
        order = t.random.sample(range(ranks), ranks)
        found = public("5.2").all_reduce(t, ranks, data, order)["data"]
        seen.append(found[:n])
        t.equal(found, seen[0] * ranks, "data of all ranks")
        found = public("5.2").all_reduce(t, ranks, data, order, turns=1)["data"]
        t.equal(found, seen[0] * ranks, "data of all ranks, where a rank that has received gives way to the next one")
